#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp_io/hdf5/detail/dataset.hpp>

namespace heatpp::io::detail {

/// Reads `box` into `out`, a contiguous block of its extents and the dataset's dtype, by taking chunks as they are
/// stored. Compressed ones are decompressed on all of this rank's threads, as HDF5 does with one after the other and
/// more slowly; others do not pass HDF5's cache. False where HDF5 has to read instead, and to say
/// what is wrong if anything is: other filters than shuffle and a codec of heatpp's, elements that need conversion,
/// missing, unfiltered or damaged chunks, and boxes with less than half of the elements of their chunks, which HDF5 may
/// have in its cache.
[[nodiscard]] bool read_chunks(const Dataset& dataset, const Selection& box, const at::Tensor& out);

}  // namespace heatpp::io::detail
