#pragma once

#include <filesystem>
#include <heatpp_io/hdf5/save_hdf5.hpp>

namespace heatpp::io {

/// Adds `x` after the rows of a stored array, which grows along its first axis. Simulations write their output in this
/// way: append_rows(expand_dims(field, 0), "run.zarr"). The first call makes the array with `.chunks`, `.compression`,
/// `.dimension_names` and `.attributes`; later calls keep the storage of the array and ignore these. Formats: .zarr
/// (format 2); .h5 and .hdf5 for arrays that append_rows or save with `.grows` made, or others with chunks and an
/// unlimited first axis. On several ranks HDF5 must allocate their chunks at once and not fill them (allocation time
/// early, fill time never).
///
/// Programs that read the array meanwhile find all rows of a call, or none: chunks of a Zarr store appear one by one,
/// and the new extents after all of them, so that a store is valid even after a crash. HDF5 changes its file in place,
/// with a lock for which readers wait some seconds, as calls wait for readers; after a crash within a call the file may
/// be unreadable. If chunks have as many rows as a call adds, none are written twice.
///
/// Collective. Throws on all ranks: ValueError for an array without axes, or with another dtype or extents than the
/// stored array; IoError for files that cannot be extended or store another type, which only reading converts to this
/// dtype, and for a full disk. The array then has the same rows as before.
void append_rows(const DNDarray& x, const std::filesystem::path& path, const SaveOptions& options = {});

}  // namespace heatpp::io
