#pragma once

#include <filesystem>
#include <heatpp_io/hdf5/save_hdf5.hpp>

namespace heatpp::io {

/// Adds `x` behind the rows of a stored array, which grows along its first axis: what a simulation puts out from time
/// to time, as in append_rows(expand_dims(field, 0), "run.zarr"). The first call makes the array, with `.chunks`,
/// `.compression`, `.dimension_names` and `.attributes`; later ones go on as the array was made, whatever these say.
/// Formats: .zarr (format 2), and .h5 and .hdf5 for arrays that append_rows or save with `.grows` has made, or others
/// with chunks and a first axis without an end; on several ranks only where HDF5 makes these at once and does not fill
/// them (allocation time early, fill time never).
///
/// Who reads the array meanwhile finds all of what a call adds, or nothing of it: chunks of a Zarr store appear one by
/// one, and the new extents after all of them, so that a store is whole even after a crash. HDF5 changes its file in
/// place, behind a lock for which readers wait some seconds, as calls wait for readers; after a crash within a call the
/// file may be unreadable. With chunks of as many rows as a call adds none are written twice.
///
/// Collective. Throws on all ranks: ValueError for an array without axes, or another dtype or other extents than the
/// stored array's; IoError for what is there and cannot be extended or stores another type, which is only read as this
/// dtype, and for a full disk. The array has its rows of before then.
void append_rows(const DNDarray& x, const std::filesystem::path& path, const SaveOptions& options = {});

}  // namespace heatpp::io
