#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp_io/detail/elements/pieces.hpp>
#include <heatpp_io/detail/files/first_error.hpp>
#include <heatpp_io/hdf5/detail/dataset.hpp>

namespace heatpp::io::detail {

/// The pieces in which a box is read into elements of `dtype`: large ones where HDF5 writes into the result itself, and
/// small ones where elements are converted on their way.
[[nodiscard]] std::vector<Piece> read_plan(const Dataset& dataset, const Selection& box, Dtype dtype);

/// Who transfers a box, and how.
struct BoxCall {
  const char* op;  ///< named in errors, as is the file
  const std::string& path;
  hid_t transfer = H5P_DEFAULT;
  std::size_t calls = 0;  ///< at least so many, the surplus without elements: collective ones are equal on all ranks
};
/// Reads `box` into `out`, a contiguous block of its extents, converting to the block's dtype as `astype` does. Throws
/// IoError, after all transfers.
void read_box(const Dataset& dataset, const Selection& box, const at::Tensor& out, const BoxCall& call);

/// The pieces in which a box is written.
[[nodiscard]] std::vector<Piece> write_plan(const DatasetInfo& info, const Selection& box);

/// Writes the contiguous block `in` to `box`; the rest as for read_box.
void write_box(const Dataset& dataset, const Selection& box, const at::Tensor& in, const BoxCall& call);

}  // namespace heatpp::io::detail
