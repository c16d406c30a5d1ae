#pragma once

#include <heatpp/core/layout.hpp>
#include <heatpp_io/hdf5/detail/dataset.hpp>
#include <heatpp_io/hdf5/detail/write.hpp>

namespace heatpp::io::detail {

/// Makes the dataset of `job` for an array with `layout`, in a file that is opened with `access`. Throws IoError.
[[nodiscard]] Dataset create_dataset(const WriteJob& job, const Layout& layout, Dtype dtype, const Handle& access);

/// Returns an upper bound of the dataset's bytes: compression may not make chunks smaller, and they need an index.
[[nodiscard]] std::int64_t bytes_needed(const Dataset& dataset);

/// Closes all open objects. Throws IoError if HDF5 could not write all data.
void close_dataset(Dataset& dataset, const WriteJob& job);

/// Returns extents of chunks of about 1 MiB that do not cross the ranks' blocks.
[[nodiscard]] Shape fitting_chunks(const Layout& layout, std::int64_t itemsize);

}  // namespace heatpp::io::detail
