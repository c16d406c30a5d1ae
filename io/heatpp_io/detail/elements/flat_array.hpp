#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp_io/detail/elements/numpy_type.hpp>
#include <heatpp_io/detail/elements/selection.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>

namespace heatpp::io::detail {

/// An array that lies in one run of bytes.
struct FlatArray {
  StoredType type;
  Shape shape;
  bool fortran = false;     ///< the first axis is the fastest
  std::int64_t offset = 0;  ///< of its first element in the file
};

/// Reads `box` of an array into `out`, a tensor of its extents, converting as `astype` does. Runs that are short or
/// close to each other are read together with what is between them, in pieces of a few MiB; elements that need no
/// conversion go into `out` directly. Throws IoError, and ValueError for numbers that int64 cannot hold.
struct FlatFile {
  ByteReader& bytes;
  const FlatArray& array;
  const std::string& path;  ///< named in errors
  const char* op;
};
void read_flat(const FlatFile& file, const Selection& box, const at::Tensor& out);

}  // namespace heatpp::io::detail
