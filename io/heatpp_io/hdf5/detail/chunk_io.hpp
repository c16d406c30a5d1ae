#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp_io/hdf5/detail/dataset.hpp>

namespace heatpp::io::detail {

/// Reads `box` into `out`, a contiguous block of its extents and the dataset's dtype, from the stored bytes of
/// chunks. All threads of this rank decompress chunks, which HDF5 does one after another and more slowly;
/// uncompressed chunks do not pass HDF5's cache. Returns false if HDF5 has to read, or to report an error: for
/// filters other than shuffle and heatpp's codecs, elements that need conversion, missing, unfiltered or
/// damaged chunks, and boxes with less than half of the elements of their chunks, which may be in HDF5's
/// cache.
[[nodiscard]] bool read_chunks(const Dataset& dataset, const Selection& box, const at::Tensor& out);

}  // namespace heatpp::io::detail
