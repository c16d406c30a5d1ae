#include <heatpp_io/numpy/detail/npy_header.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::int64_t longest_header = std::int64_t{1} << 20;

/// Parses a Python dictionary with these three keys.
class Literal {
 public:
  Literal(std::string_view text, const std::string& what, const char* op) : text_(text), what_(what), op_(op) {}

  void read(std::string& description, FlatArray& array) {
    std::set<std::string> keys;
    expect('{');
    while (!accept('}')) {
      const auto key = quoted();
      expect(':');
      if (key == "descr") description = type_text();
      else if (key == "fortran_order") array.fortran = truth();
      else if (key == "shape") array.shape = tuple();
      else fail(formatted("the key {:?}", key));
      keys.insert(key);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (keys.size() != 3) fail(formatted("{} keys", keys.size()));
    next();
    if (at_ < text_.size()) fail(formatted("more at {}", at_));
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    raise<IoError>(op_, "got {}, whose header has {} in {:?}; expected the keys descr, fortran_order and shape", what_,
                   why, text_.substr(0, 200));
  }
  char next() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    const bool there = next() == c;
    at_ += there ? 1 : 0;
    return there;
  }
  void expect(char c) {
    if (!accept(c)) fail(formatted("no '{}' at {}", c, at_));
  }
  std::string quoted() {
    const char quote = next();
    if (quote != '\'' && quote != '"') fail(formatted("no string at {}", at_));
    const auto first = ++at_;
    at_ = std::min(text_.find(quote, first), text_.size());
    const auto text = std::string(text_.substr(first, at_ - first));
    expect(quote);
    return text;
  }
  std::string type_text() {
    if (next() == '[' || next() == '(')
      raise<IoError>(op_,
                     "got {}, which holds records ({:?}); expected numbers, as numpy.save writes one field of them",
                     what_, text_.substr(at_, 100));
    return quoted();
  }
  bool truth() {
    next();
    for (const auto& [word, value] : {std::pair{std::string_view("True"), true}, {std::string_view("False"), false}})
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    fail(formatted("neither True nor False at {}", at_));
  }
  Shape tuple() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      std::int64_t extent = -1;
      next();
      const auto done = std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
      if (done.ec != std::errc() || extent < 0) fail(formatted("no extent at {}", at_));
      at_ = static_cast<std::size_t>(done.ptr - text_.data());
      accept('L');  // Python 2 wrote it
      shape.push_back(extent);
      if (!accept(',')) {
        expect(shape.size() > 1 ? ')' : ',');  // a number in parentheses is not a tuple
        break;
      }
    }
    return shape;
  }

  std::string_view text_;
  const std::string& what_;
  const char* op_;
  std::size_t at_ = 0;
};

/// Returns the beginning of the header's text, and its length.
std::pair<std::int64_t, std::int64_t> text_range(ByteReader& file, const std::string& what, const char* op) {
  std::array<unsigned char, 12> head{};
  const auto there = std::min<std::int64_t>(file.size(), std::ssize(head));
  file.read(0, there, head.data());
  if (there < 10 || !std::equal(magic.begin(), magic.end(), reinterpret_cast<const char*>(head.data())))
    raise<IoError>(op, "got {}, which is not in NPY format; expected a file that numpy.save wrote", what);
  const int version = head[6];
  if (version < 1 || version > 3 || head[7] != 0)
    raise<IoError>(op, "got {} in version {}.{} of the NPY format; expected 1.0, 2.0 or 3.0", what, version, head[7]);
  const std::int64_t first = version == 1 ? 10 : 12;
  std::int64_t length = head[8] | head[9] << 8;
  if (version > 1) length |= std::int64_t{head[10]} << 16 | std::int64_t{head[11]} << 24;
  if (length > std::min(file.size() - first, longest_header))
    raise<IoError>(op, "got {} with a header of {} bytes, and {} bytes in all; expected a complete file", what, length,
                   file.size());
  return {first, length};
}

std::string header_of(const std::string& type, const Shape& shape) {
  auto text = formatted("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, to_string(shape));
  constexpr std::size_t before = 10, alignment = 64;
  text.resize((before + text.size() + 1 + alignment - 1) / alignment * alignment - before - 1, ' ');
  text.push_back('\n');
  const auto length = text.size();
  return std::string(magic) + '\1' + '\0' + static_cast<char>(length & 0xff) + static_cast<char>(length >> 8) + text;
}

}  // namespace

FlatArray read_npy_header(ByteReader& file, const std::string& what, const char* op) {
  const auto [first, length] = text_range(file, what, op);
  std::string text(static_cast<std::size_t>(length), '\0'), description;
  file.read(first, length, text.data());
  FlatArray array;
  Literal(text, what, op).read(description, array);
  array.type = stored_type(description, what, op);
  array.offset = first + length;
  const auto bytes = checked_bytes(array.shape, array.type.bytes, what, op);
  if (bytes > file.size() - array.offset)
    raise<IoError>(op, "got {} with {} bytes of elements; expected {} for shape {} of {:?}", what,
                   file.size() - array.offset, bytes, to_string(array.shape), description);
  return array;
}

std::string npy_header(Dtype dtype, const Shape& shape, bool uint64) {
  return header_of(uint64 ? uint64_type : numpy_type(dtype), shape);
}
std::string npy_text(const std::string& text) { return header_of(formatted("|S{}", text.size()), {}) + text; }

}  // namespace heatpp::io::detail
