#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp_io/detail/elements/numpy_type.hpp>
#include <heatpp_io/detail/elements/selection.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>

namespace heatpp::io::detail {

/// An array that is one run of bytes in a file.
struct FlatArray {
  StoredType type;
  Shape shape;
  bool fortran = false;     ///< Fortran order: the first axis is the fastest
  std::int64_t offset = 0;  ///< place of its first element in the file
};

/// Reads `box` of an array into `out`, a tensor of its extents, and converts as `astype`. Runs that are short or close
/// to each other are read together with the bytes between them, in pieces of a few MiB. Elements that need no
/// conversion are read directly into `out`. Throws IoError, and ValueError for numbers that int64 cannot hold.
struct FlatFile {
  ByteReader& bytes;
  const FlatArray& array;
  const std::string& path;  ///< the name in errors
  const char* op;
};
void read_flat(const FlatFile& file, const Selection& box, const at::Tensor& out);

}  // namespace heatpp::io::detail
