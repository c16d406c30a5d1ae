#include <heatpp_io/netcdf/detail/netcdf_classic.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/elements/dataset_info.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace heatpp::io::detail {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

std::int64_t padded(std::int64_t bytes) { return bytes + (4 - bytes % 4) % 4; }

/// The places of a variable's elements: one run, or one run in each record.
struct Variable {
  std::string name;
  std::int64_t begin = 0, bytes = 0;
  bool in_records = false;
};

/// Returns the number after "CDF"; 0 if the file does not have a classic format.
int version_of(ByteReader& file) {
  std::array<char, 4> magic{};
  if (file.size() < std::ssize(magic)) return 0;
  file.read(0, std::ssize(magic), magic.data());
  const bool known = magic[3] == 1 || magic[3] == 2 || magic[3] == 5;
  return known && std::string_view(magic.data(), 3) == "CDF" ? magic[3] : 0;
}

/// Reads the header from front to back. Names and sizes follow "The NetCDF Classic Format Specification".
class Header {
 public:
  Header(ByteReader& file, const std::string& path, const char* op) : file_(file), path_(path), op_(op) {}

  std::int64_t bytes_needed() {
    if (!read()) return 0;
    const auto record = record_bytes();
    std::int64_t end = at_;
    for (const auto& v : variables_) {
      std::int64_t last = 0;
      if (v.bytes == 0 || (v.in_records && records_ == 0)) continue;
      if (__builtin_mul_overflow(v.in_records ? records_ - 1 : 0, record, &last) ||
          __builtin_add_overflow(last, v.begin, &last) || __builtin_add_overflow(last, v.bytes, &last))
        fail();
      end = std::max(end, last);
    }
    return end;
  }

  ClassicPlace place_of(const std::string& name) {
    const bool classic = read();
    const auto found = std::ranges::find(variables_, name, &Variable::name);
    if (!classic || found == variables_.end()) fail();
    return {found->begin, found->in_records ? record_bytes() : 0};
  }

 private:
  [[noreturn]] void fail() const {
    heatpp::detail::raise<IoError>(op_, "got \"{}\" with a damaged header; expected a complete netCDF file", path_);
  }
  /// Returns false for other formats.
  bool read() {
    const auto version = version_of(file_);
    if (version == 0) return false;
    at_ = 4;
    count_bytes_ = version == 5 ? 8 : 4;
    offset_bytes_ = version == 1 ? 4 : 8;
    const auto records = number(count_bytes_), being_written = count_bytes_ == 4 ? 0xffffffff : ~std::uint64_t{0};
    records_ = records == being_written ? 0 : checked(records);
    each([&] {
      skip(count());
      lengths_.push_back(count());
    });
    skip_attributes();
    each([&] { variables_.push_back(variable()); });
    return true;
  }
  std::uint64_t number(int bytes) {
    std::array<unsigned char, 8> text{};
    file_.read(at_, bytes, text.data());
    at_ += bytes;
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8 | text[static_cast<std::size_t>(i)];
    return value;
  }
  [[nodiscard]] std::int64_t checked(std::uint64_t value) const {
    if (value > std::uint64_t{largest}) fail();
    return static_cast<std::int64_t>(value);
  }
  std::int64_t count() { return checked(number(count_bytes_)); }
  void skip(std::int64_t bytes) {
    if (bytes > file_.size() || padded(bytes) > file_.size() - at_) fail();
    at_ += padded(bytes);
  }
  std::string name() {
    const auto begin = at_ + count_bytes_, length = count();
    skip(length);
    std::string text(static_cast<std::size_t>(length), '\0');
    file_.read(begin, length, text.data());
    return text;
  }
  std::int64_t type_bytes() {
    constexpr std::array<std::int64_t, 12> bytes{0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    const auto type = number(4);
    if (type < 1 || type >= bytes.size()) fail();
    return bytes[type];
  }

  /// Calls f for each element of a list.
  template <class F>
  void each(F f) {
    number(4);  // kind of the list
    for (auto left = count(); left > 0; --left) f();
  }
  void skip_attributes() {
    each([&] {
      skip(count());
      const auto bytes = type_bytes(), length = count();
      if (length > file_.size()) fail();
      skip(length * bytes);
    });
  }
  Variable variable() {
    Variable result{.name = name()};
    Shape shape;
    for (auto left = count(); left > 0; --left) {
      const auto dimension = number(count_bytes_);
      if (dimension >= lengths_.size()) fail();
      shape.push_back(lengths_[dimension]);
    }
    skip_attributes();
    const auto bytes = type_bytes();
    number(count_bytes_);  // size, which large variables do not have
    result.begin = checked(number(offset_bytes_));
    result.in_records = !shape.empty() && shape[0] == 0;
    if (result.in_records) shape[0] = 1;
    result.bytes = checked_bytes(shape, bytes, heatpp::detail::formatted("\"{}\"", path_), op_);
    return result;
  }

  /// Returns the distance of records: those of several variables are padded, those of a single one are not.
  [[nodiscard]] std::int64_t record_bytes() const {
    std::int64_t record = 0;
    const auto in_records = std::ranges::count(variables_, true, &Variable::in_records);
    for (const auto& v : variables_)
      if (v.in_records && __builtin_add_overflow(record, in_records > 1 ? padded(v.bytes) : v.bytes, &record)) fail();
    return record;
  }

  ByteReader& file_;
  const std::string& path_;
  const char* op_;
  std::int64_t at_ = 0;
  int count_bytes_ = 4, offset_bytes_ = 4;
  Shape lengths_;
  std::vector<Variable> variables_;
  std::int64_t records_ = 0;
};

}  // namespace

std::int64_t classic_bytes(ByteReader& file, const std::string& path, const char* op) {
  return Header(file, path, op).bytes_needed();
}

ClassicPlace classic_place(ByteReader& file, const std::string& name, const std::string& path, const char* op) {
  return Header(file, path, op).place_of(name);
}

int classic_version(ByteReader& file) { return version_of(file); }

}  // namespace heatpp::io::detail
