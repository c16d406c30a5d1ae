#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/netcdf/detail/netcdf_file.hpp>

#include <netcdf.h>

#include <algorithm>
#include <array>

namespace heatpp::io::detail {
namespace {

struct Known {
  int stored;
  ElementType element;
};
/// Those that are written come first.
constexpr std::array known{Known{NC_BYTE, {int8}},         Known{NC_UBYTE, {uint8}},  Known{NC_SHORT, {int16}},
                           Known{NC_INT, {int32}},         Known{NC_INT64, {int64}},  Known{NC_FLOAT, {float32}},
                           Known{NC_DOUBLE, {float64}},    Known{NC_USHORT, {int32}}, Known{NC_UINT, {int64}},
                           Known{NC_UINT64, {int64, true}}};

}  // namespace

int NetcdfFile::close() {
  const auto id = std::exchange(id_, -1);
  return id < 0 ? NC_NOERR : nc_close(id);
}

void check_netcdf(int status, const std::string& path, const char* op) {
  if (status != NC_NOERR)
    heatpp::detail::raise<IoError>(op,
                                   "got \"{}\", for which netCDF says \"{}\"; expected a complete netCDF file, or "
                                   "room where one is written",
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

bool is_flag(const NetcdfVariable& variable) {
  const auto& [group, id] = variable;
  std::size_t length = 0;
  std::array<char, 5> text{};
  return nc_inq_attlen(group, id, "dtype", &length) == NC_NOERR && length == 4 &&
         nc_get_att_text(group, id, "dtype", text.data()) == NC_NOERR && std::string_view(text.data()) == "bool";
}

std::optional<ElementType> netcdf_element(int stored) {
  const auto* found = std::ranges::find(known, stored, &Known::stored);
  return found == known.end() ? std::nullopt : std::optional(found->element);
}

std::optional<int> netcdf_type(Dtype dtype) {
  if (dtype == bool_) return NC_BYTE;
  const auto* found = std::ranges::find(known, ElementType{dtype}, &Known::element);
  return found == known.end() ? std::nullopt : std::optional(found->stored);
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
