#pragma once

#include <array>
#include <heatpp_io/vtkhdf/save_vtkhdf.hpp>

namespace heatpp::io::detail {

inline constexpr auto vtkhdf_op = "save_vtkhdf";
inline constexpr auto vtkhdf_points = "VTKHDF/Points";

/// An array, and the name of its dataset in a file.
struct VtkArray {
  std::string dataset;
  DNDarray x;
};

/// The arrays of one time step in the form of a VTKHDF file.
struct VtkStep {
  bool cloud = false;
  std::int64_t points = 0;                 ///< cloud: number of points
  std::array<std::int64_t, 6> extent{};    ///< grid: the first and last index along x, y and z
  std::array<double, 3> spacing{1, 1, 1};  ///< grid: along x, y and z
  std::array<double, 3> origin{};
  std::vector<VtkArray> arrays = {};  ///< cloud: the positions are the last array
};

/// Throws as save_vtkhdf for arrays and options that do not fit each other. Local.
void check_vtkhdf(const std::vector<NamedArray>& arrays, const SaveVtkhdfOptions& options);

/// Returns the arrays in the form in which they are stored, after check_vtkhdf. Collective if an axis with one index or
/// the coordinates of positions are split.
[[nodiscard]] VtkStep vtk_step(const std::vector<NamedArray>& arrays, const SaveVtkhdfOptions& options);

/// Returns the same elements with a first axis of extent 1 for time. Local.
[[nodiscard]] DNDarray with_time_axis(const DNDarray& x);

}  // namespace heatpp::io::detail
