#pragma once

#include <heatpp/core/layout.hpp>
#include <heatpp_io/hdf5/detail/dataset.hpp>
#include <heatpp_io/hdf5/detail/write.hpp>

namespace heatpp::io::detail {

/// Makes the dataset of `job` for an array under `layout`, in a file opened with `access`. Throws IoError.
[[nodiscard]] Dataset create_dataset(const WriteJob& job, const Layout& layout, Dtype dtype, const Handle& access);

/// What the dataset needs in the file at most: compression may fail to make chunks smaller, and they want an index.
[[nodiscard]] std::int64_t bytes_needed(const Dataset& dataset);

/// Closes what is open. Throws IoError where HDF5 could not write all of it.
void close_dataset(Dataset& dataset, const WriteJob& job);

/// Extents of chunks of about 1 MiB that do not cross the ranks' blocks.
[[nodiscard]] Shape fitting_chunks(const Layout& layout, std::int64_t itemsize);

}  // namespace heatpp::io::detail
