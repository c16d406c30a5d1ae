#pragma once

#include <c10/core/ScalarType.h>

#include <heatpp_io/detail/elements/decoding.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heatpp::io::detail {

/// An open netCDF file, closed at the end of its scope.
class NetcdfFile {
 public:
  explicit NetcdfFile(int id) : id_(id) {}
  NetcdfFile(NetcdfFile&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  ~NetcdfFile() { static_cast<void>(close()); }
  [[nodiscard]] int id() const { return id_; }
  /// Returns netCDF's status.
  int close();

 private:
  int id_;
};

/// Throws IoError if netCDF's `status` reports an error for the file `path`.
void check_netcdf(int status, const std::string& path, const char* op);

/// A variable and its group.
struct NetcdfVariable {
  int group = -1, id = -1;
};

/// Return the dimensions of a variable, and their lengths. Throw as check_netcdf.
[[nodiscard]] std::vector<int> dimensions_of(const NetcdfVariable& variable, const std::string& path, const char* op);
[[nodiscard]] Shape shape_of(const NetcdfVariable& variable, const std::string& path, const char* op);

/// Whether a dimension may grow; it belongs to the group, or to an enclosing one.
[[nodiscard]] bool grows(int group, int dimension);

/// Whether a variable's bytes stand for bool by the rule of xarray.
[[nodiscard]] bool is_flag(const NetcdfVariable& variable);

/// How numbers of a netCDF type are stored in a file, and their type in memory when netCDF reads them.
struct NetcdfNumbers {
  StoredNumbers stored;
  c10::ScalarType in_memory = c10::ScalarType::Float;
};
/// Returns the numbers of a type of a variable in `group`: numbers, enumerations, and records of two floats r and i (or
/// real and imag, or re and im), which are complex. Returns nullopt for texts and other user-defined types.
[[nodiscard]] std::optional<NetcdfNumbers> netcdf_numbers(int group, int type);
/// Whether a type is one of netCDF's own number types.
[[nodiscard]] bool is_netcdf_number(int type);
/// Returns nullopt for dtypes that netCDF does not have.
[[nodiscard]] std::optional<int> netcdf_type(Dtype dtype);

/// Returns the parts of "a/b/c".
[[nodiscard]] std::vector<std::string> name_parts(const std::string& name);

}  // namespace heatpp::io::detail
