#pragma once

#include <heatpp/comm/dtype.hpp>
#include <heatpp/comm/error.hpp>
#include <heatpp/core/shape.hpp>
#include <heatpp_io/compression.hpp>
#include <optional>
#include <string>

namespace at {
class Tensor;
}

namespace heatpp::io::detail {

/// The largest number of axes that an array in a file may have.
inline constexpr std::size_t max_ndim = 64;

/// The dtype that the elements of an array in a file have in the library.
struct ElementType {
  Dtype dtype = float32;
  bool may_overflow = false;  ///< stored as uint64; int64 holds it only below 2^63

  friend bool operator==(const ElementType&, const ElementType&) = default;
};

/// What an array in a file contains, and how it is stored.
struct DatasetInfo {
  Shape shape;
  ElementType element;
  Shape chunk = {};  ///< extents of its chunks; empty if it is not stored in chunks
  bool compressed = false;
  std::optional<Compression> compression = std::nullopt;  ///< nearest one of the library's; nullopt: none
  bool in_other_files = false;  ///< virtual dataset or subfiles: HDF5 does not read these through MPI-IO
  std::int64_t digest = 0;      ///< hash of the attributes that decode its numbers; 0: none
  bool may_grow = false;        ///< whether rows may be added in place, so that a later look finds more of them
};

/// The file is valid but has no array of the requested name.
struct NoSuchArray : IoError {
  using IoError::IoError;
};

/// Returns the bytes of an array whose shape was read from a file. Throws IoError naming `op` and `what` for negative
/// extents, for more than max_ndim axes, and if a product does not fit in 63 bits.
std::int64_t checked_bytes(const Shape& shape, std::int64_t itemsize, const std::string& what, const char* op);

/// Throws ValueError, because elements that are stored as uint64 do not fit in int64.
[[noreturn]] void raise_overflow(const std::string& path, const char* op);

/// Copies uint64 numbers, whose bits are in an int64 tensor, to a tensor of their extents, and converts as `astype`.
/// Numbers below 2^63 become exact whole numbers; floats are rounded once. Throws as raise_overflow if whole numbers
/// have no room for a number. A tensor of LibTorch's uint64 gets all of them.
void copy_uint64(const at::Tensor& values, const at::Tensor& out, const std::string& path, const char* op);

}  // namespace heatpp::io::detail
