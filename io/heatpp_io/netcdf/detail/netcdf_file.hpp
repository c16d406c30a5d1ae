#pragma once

#include <heatpp_io/detail/elements/dataset_info.hpp>
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

/// What elements of a type of netCDF's are, and the reverse; nullopt for texts and types that users define, and for
/// dtypes that netCDF has not.
[[nodiscard]] std::optional<ElementType> netcdf_element(int stored);
[[nodiscard]] std::optional<int> netcdf_type(Dtype dtype);

/// The parts of "a/b/c".
[[nodiscard]] std::vector<std::string> name_parts(const std::string& name);

}  // namespace heatpp::io::detail
