#pragma once

#include <c10/core/ScalarType.h>

#include <heatpp_io/detail/elements/decoding.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heatpp::io::detail {

/// An open netCDF file, closed with the object.
class NetcdfFile {
 public:
  explicit NetcdfFile(int id) : id_(id) {}
  NetcdfFile(NetcdfFile&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  ~NetcdfFile() { static_cast<void>(close()); }
  [[nodiscard]] int id() const { return id_; }
  /// netCDF's status.
  int close();

 private:
  int id_;
};

/// Throws IoError where netCDF's `status` says that what was done to "path" failed.
void check_netcdf(int status, const std::string& path, const char* op);

/// A variable, and the group it is in.
struct NetcdfVariable {
  int group = -1, id = -1;
};

/// The dimensions of a variable, and how long they are. Throw as check_netcdf.
[[nodiscard]] std::vector<int> dimensions_of(const NetcdfVariable& variable, const std::string& path, const char* op);
[[nodiscard]] Shape shape_of(const NetcdfVariable& variable, const std::string& path, const char* op);

/// Whether a variable's bytes stand for bool, as xarray says it.
[[nodiscard]] bool is_flag(const NetcdfVariable& variable);

/// How numbers of a type of netCDF's lie in a file, and in memory as netCDF hands them out.
struct NetcdfNumbers {
  StoredNumbers stored;
  c10::ScalarType in_memory = c10::ScalarType::Float;
};
/// Those of a type that a variable of `group` has: numbers, enumerations, and records of two floats r and i (or real
/// and imag, or re and im), which are complex numbers. nullopt for texts and other types that users define.
[[nodiscard]] std::optional<NetcdfNumbers> netcdf_numbers(int group, int type);
/// Whether a type is one of netCDF's own numbers.
[[nodiscard]] bool is_netcdf_number(int type);
/// nullopt for dtypes that netCDF has not.
[[nodiscard]] std::optional<int> netcdf_type(Dtype dtype);

/// The parts of "a/b/c".
[[nodiscard]] std::vector<std::string> name_parts(const std::string& name);

}  // namespace heatpp::io::detail
