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

/// The arrays of one time step, as a VTKHDF file has them.
struct VtkStep {
  bool cloud = false;
  std::int64_t points = 0;                 ///< of a cloud
  std::array<std::int64_t, 6> extent{};    ///< of a grid: the first and last index along x, y and z
  std::array<double, 3> spacing{1, 1, 1};  ///< of a grid, along x, y and z
  std::array<double, 3> origin{};
  std::vector<VtkArray> arrays = {};  ///< of a cloud the positions are the last one
};

/// Throws what save_vtkhdf throws for arrays and options that do not fit each other. Local.
void check_vtkhdf(const std::vector<NamedArray>& arrays, const SaveVtkhdfOptions& options);

/// The arrays as they are stored, after check_vtkhdf. Collective if an axis with one index or a position's coordinates
/// are split.
[[nodiscard]] VtkStep vtk_step(const std::vector<NamedArray>& arrays, const SaveVtkhdfOptions& options);

/// The same elements with an axis of extent 1, time, before the others. Local.
[[nodiscard]] DNDarray with_time_axis(const DNDarray& x);

}  // namespace heatpp::io::detail
