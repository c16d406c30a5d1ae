#pragma once

#include <heatpp_io/numpy/npz.hpp>

namespace heatpp::io {

/// How save_vtkhdf stores arrays.
struct SaveVtkhdfOptions {
  std::string name = {};                          ///< name of a single array; empty: "data"
  int axes = 0;                                   ///< axes of the grid, at most 3; 0: the fewest of any array
  std::vector<double> spacing = {};               ///< distance of points, one for each axis of the grid; empty: 1
  std::vector<double> origin = {};                ///< place of the first point, one for each axis of the grid; empty: 0
  std::optional<DNDarray> points = std::nullopt;  ///< positions (n, 1 to 3): a cloud of points, not a grid
  std::optional<double> time = std::nullopt;      ///< time of a step; nullopt: none, with append the step number
  bool append = false;                            ///< add a time step to the file, or make the first one
  std::optional<int> compression = std::nullopt;  ///< gzip level, 0 to 9
};

/// Writes arrays to a VTKHDF file, which ParaView (from 6.0) and VTK (from 9.4) open: ImageData, or a cloud of points
/// as PolyData. The format is version 2.0 of https://docs.vtk.org/en/latest/vtk_file_formats/vtkhdf_file_format.
///
/// Grid: all arrays have the extents of the grid, (z, y, x), (y, x) or (x). One more axis holds the components of
/// vectors. Two axes are a plane z = 0. `spacing` and `origin` are in the order of the array's axes, z first. Cloud:
/// arrays have n rows, one for each row of `points`: (n), or (n, components). Each point is a vertex.
///
/// Time steps: each call with `append` adds one. Grids keep their extents; clouds may have another number of points in
/// each step. The arrays have the names and dtypes of the first step. VTK reads a grid with only one step only without
/// an axis for time, so the second step of a grid rewrites the file; later ones extend it in place.
///
/// Whole numbers, float32 and float64 are stored unchanged, bool as uint8. HDF5's readers find the arrays as
/// "VTKHDF/PointData/<name>". Any layout. A new file gets its name when it is complete, as in save_hdf5. Collective.
/// Throws on all ranks: IoError as save_hdf5 and append_rows; ValueError for shapes, names and options that do not fit
/// each other or the file, and for a time that is not after the last one; TypeError for other dtypes; CommError for
/// arrays on different communicators.
void save_vtkhdf(const std::vector<NamedArray>& arrays, const std::filesystem::path& path,
                 const SaveVtkhdfOptions& options = {});
/// Writes one array with the name `options.name`.
void save_vtkhdf(const DNDarray& x, const std::filesystem::path& path, const SaveVtkhdfOptions& options = {});

}  // namespace heatpp::io
