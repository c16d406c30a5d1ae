#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp_io/detail/elements/pieces.hpp>
#include <heatpp_io/detail/files/first_error.hpp>
#include <heatpp_io/hdf5/detail/dataset.hpp>

namespace heatpp::io::detail {

/// Returns the pieces in which a box is read into elements of `dtype`: large ones if HDF5 writes into the result
/// itself, small ones if elements have to be converted.
[[nodiscard]] std::vector<Piece> read_plan(const Dataset& dataset, const Selection& box, Dtype dtype);

/// How a box is transferred.
struct BoxCall {
  const char* op;  ///< named in errors, as is the file
  const std::string& path;
  hid_t transfer = H5P_DEFAULT;
  std::size_t calls = 0;  ///< minimum of calls, extra ones without elements; equal on all ranks if collective
};
/// Reads `box` into `out`, a contiguous block of its extents, and converts to its dtype as `astype`. Throws IoError,
/// after all transfers.
void read_box(const Dataset& dataset, const Selection& box, const at::Tensor& out, const BoxCall& call);

/// Returns the pieces in which a box is written.
[[nodiscard]] std::vector<Piece> write_plan(const DatasetInfo& info, const Selection& box);

/// Writes the contiguous block `in` to `box`. Otherwise works as read_box.
void write_box(const Dataset& dataset, const Selection& box, const at::Tensor& in, const BoxCall& call);

}  // namespace heatpp::io::detail
