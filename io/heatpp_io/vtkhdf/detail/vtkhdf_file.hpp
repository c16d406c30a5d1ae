#pragma once

#include <heatpp_io/detail/elements/save_array.hpp>
#include <heatpp_io/vtkhdf/detail/vtkhdf_step.hpp>

namespace heatpp::io::detail {

inline constexpr auto vtkhdf_connectivity = "VTKHDF/Vertices/Connectivity";
inline constexpr auto vtkhdf_offsets = "VTKHDF/Vertices/Offsets";

/// What a file has before a time step is added to it.
struct VtkFile {
  std::int64_t steps = 0;
  double last_time = 0;
  std::array<double, 3> spacing{1, 1, 1}, origin{};
  std::vector<std::int64_t> rows = {};  ///< of the dataset of each array of a step: steps, or points
};

/// Looks into the file that `step` is to be added to. Throws ValueError where it holds something else, IoError as
/// open_dataset. Local.
[[nodiscard]] VtkFile look_at_vtkhdf(const std::string& path, const VtkStep& step, const SaveVtkhdfOptions& options);

/// Makes a file for `step` without its arrays, and without the vertices of a cloud. Throws IoError. Local.
void write_vtkhdf_head(const SaveJob& job, const VtkStep& step);

/// Which step of a file, and from which row on each of its arrays is stored.
struct VtkPlace {
  std::int64_t number = 0;
  std::optional<double> time = std::nullopt;  ///< nullopt: the file has no steps
  std::vector<std::int64_t> rows = {};
};
/// Writes the numbers by which a reader finds a step whose arrays are there; how many steps there are comes last.
/// Throws IoError. Local.
void write_vtkhdf_books(const SaveJob& job, const VtkStep& step, const VtkPlace& place);

}  // namespace heatpp::io::detail
