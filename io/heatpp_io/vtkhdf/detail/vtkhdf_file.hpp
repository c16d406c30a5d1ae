#pragma once

#include <heatpp_io/detail/elements/save_array.hpp>
#include <heatpp_io/vtkhdf/detail/vtkhdf_step.hpp>

namespace heatpp::io::detail {

inline constexpr auto vtkhdf_connectivity = "VTKHDF/Vertices/Connectivity";
inline constexpr auto vtkhdf_offsets = "VTKHDF/Vertices/Offsets";

/// The state of a file before a time step is added to it.
struct VtkFile {
  std::int64_t steps = 0;
  double last_time = 0;
  std::array<double, 3> spacing{1, 1, 1}, origin{};
  std::vector<std::int64_t> rows = {};  ///< rows of the dataset of each array of a step: steps, or points
};

/// Inspects the file to which `step` is added. Throws ValueError if it holds something else, IoError as open_dataset.
/// Local.
[[nodiscard]] VtkFile look_at_vtkhdf(const std::string& path, const VtkStep& step, const SaveVtkhdfOptions& options);

/// Makes a file for `step` without its arrays, and without the vertices of a cloud. Throws IoError. Local.
void write_vtkhdf_head(const SaveJob& job, const VtkStep& step);

/// The step of a file, and the row at which each of its arrays begins.
struct VtkPlace {
  std::int64_t number = 0;
  std::optional<double> time = std::nullopt;  ///< nullopt: the file has no steps
  std::vector<std::int64_t> rows = {};
};
/// Writes the numbers with which a reader finds a step whose arrays are written. The number of steps is written last.
/// Throws IoError. Local.
void write_vtkhdf_books(const SaveJob& job, const VtkStep& step, const VtkPlace& place);

}  // namespace heatpp::io::detail
