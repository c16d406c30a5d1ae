#include <heatpp_io/netcdf/detail/netcdf_file.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <netcdf.h>

#include <algorithm>
#include <array>

namespace heatpp::io::detail {
namespace {

using c10::ScalarType;

struct Known {
  int type;
  NetcdfNumbers numbers;
};
/// The types that are written come first.
constexpr std::array known{Known{NC_BYTE, {{{int8}, 1}, ScalarType::Char}},
                           Known{NC_UBYTE, {{{uint8}, 1, true}, ScalarType::Byte}},
                           Known{NC_SHORT, {{{int16}, 2}, ScalarType::Short}},
                           Known{NC_INT, {{{int32}, 4}, ScalarType::Int}},
                           Known{NC_INT64, {{{int64}, 8}, ScalarType::Long}},
                           Known{NC_FLOAT, {{{float32}, 4}, ScalarType::Float}},
                           Known{NC_DOUBLE, {{{float64}, 8}, ScalarType::Double}},
                           Known{NC_USHORT, {{{int32}, 2, true}, ScalarType::UInt16}},
                           Known{NC_UINT, {{{int64}, 4, true}, ScalarType::UInt32}},
                           Known{NC_UINT64, {{{int64, true}, 8, true}, ScalarType::Long}}};

/// The name, type and place of a record's field.
struct Field {
  std::array<char, NC_MAX_NAME + 1> name{};
  int type = NC_NAT, axes = 0;
  std::size_t offset = 0;
};
Field field_of(int group, int record, int index) {
  Field field;
  nc_inq_compound_field(group, record, index, field.name.data(), &field.offset, &field.type, &field.axes, nullptr);
  return field;
}

/// Two equal floats, one after the other, that have the names of a complex number's parts.
std::optional<NetcdfNumbers> complex_of(int group, int record, std::size_t bytes) {
  const auto real = field_of(group, record, 0), imaginary = field_of(group, record, 1);
  const std::string_view first(real.name.data()), second(imaginary.name.data());
  const bool named =
      (first == "r" && second == "i") || (first == "real" && second == "imag") || (first == "re" && second == "im");
  const bool packed = real.type == imaginary.type && real.axes == 0 && imaginary.axes == 0 && real.offset == 0 &&
                      imaginary.offset == bytes / 2;
  if (!named || !packed) return std::nullopt;
  if (real.type == NC_FLOAT && bytes == 8) return NetcdfNumbers{{{complex64}, 8}, ScalarType::ComplexFloat};
  if (real.type == NC_DOUBLE && bytes == 16) return NetcdfNumbers{{{complex128}, 16}, ScalarType::ComplexDouble};
  return std::nullopt;
}

}  // namespace

int NetcdfFile::close() {
  const auto id = std::exchange(id_, -1);
  return id < 0 ? NC_NOERR : nc_close(id);
}

void check_netcdf(int status, const std::string& path, const char* op) {
  if (status != NC_NOERR)
    heatpp::detail::raise<IoError>(op,
                                   "got \"{}\", for which netCDF says \"{}\"; expected a complete netCDF file, or "
                                   "room for a new one",
                                   path, nc_strerror(status));
}

std::vector<int> dimensions_of(const NetcdfVariable& variable, const std::string& path, const char* op) {
  int count = 0;
  check_netcdf(nc_inq_varndims(variable.group, variable.id, &count), path, op);
  std::vector<int> dimensions(static_cast<std::size_t>(count));
  check_netcdf(nc_inq_vardimid(variable.group, variable.id, dimensions.data()), path, op);
  return dimensions;
}

Shape shape_of(const NetcdfVariable& variable, const std::string& path, const char* op) {
  Shape shape;
  for (const auto dimension : dimensions_of(variable, path, op)) {
    std::size_t length = 0;
    check_netcdf(nc_inq_dimlen(variable.group, dimension, &length), path, op);
    shape.push_back(static_cast<std::int64_t>(length));
  }
  return shape;
}

bool grows(int group, int dimension) {
  do {
    int count = 0;
    nc_inq_unlimdims(group, &count, nullptr);
    std::vector<int> found(static_cast<std::size_t>(count));
    nc_inq_unlimdims(group, &count, found.data());
    if (std::ranges::find(found, dimension) != found.end()) return true;
  } while (nc_inq_grp_parent(group, &group) == NC_NOERR);
  return false;
}

bool is_flag(const NetcdfVariable& variable) {
  const auto& [group, id] = variable;
  std::size_t length = 0;
  std::array<char, 5> text{};
  return nc_inq_attlen(group, id, "dtype", &length) == NC_NOERR && length == 4 &&
         nc_get_att_text(group, id, "dtype", text.data()) == NC_NOERR && std::string_view(text.data()) == "bool";
}

bool is_netcdf_number(int type) { return std::ranges::find(known, type, &Known::type) != known.end(); }

std::optional<NetcdfNumbers> netcdf_numbers(int group, int type) {
  if (const auto* found = std::ranges::find(known, type, &Known::type); found != known.end()) return found->numbers;
  int base = NC_NAT, kind = NC_NAT;
  std::size_t bytes = 0, fields = 0;
  if (nc_inq_user_type(group, type, nullptr, &bytes, &base, &fields, &kind) != NC_NOERR) return std::nullopt;
  if (kind == NC_ENUM && is_netcdf_number(base)) return netcdf_numbers(group, base);
  return kind == NC_COMPOUND && fields == 2 ? complex_of(group, type, bytes) : std::nullopt;
}

std::optional<int> netcdf_type(Dtype dtype) {
  if (dtype == bool_) return NC_BYTE;
  const auto is = [&](const Known& each) { return each.numbers.stored.element == ElementType{dtype}; };
  const auto* found = std::ranges::find_if(known, is);
  return found == known.end() ? std::nullopt : std::optional(found->type);
}

std::vector<std::string> name_parts(const std::string& name) {
  std::vector<std::string> parts{""};
  for (const char c : name) {
    if (c == '/') parts.emplace_back();
    else parts.back().push_back(c);
  }
  if (parts.size() > 1 && parts.front().empty()) parts.erase(parts.begin());
  return parts;
}

}  // namespace heatpp::io::detail
