#pragma once

#include <heatpp/comm/dtype.hpp>
#include <heatpp/comm/error.hpp>
#include <heatpp/core/shape.hpp>
#include <string>

namespace at {
class Tensor;
}

namespace heatpp::io::detail {

/// As many axes as an array in a file may have.
inline constexpr std::size_t max_ndim = 64;

/// What the elements of an array in a file are in the library.
struct ElementType {
  Dtype dtype = float32;
  bool may_overflow = false;  ///< stored as uint64, which int64 holds only below 2^63

  friend bool operator==(const ElementType&, const ElementType&) = default;
};

/// What an array in a file holds, and how it is stored.
struct DatasetInfo {
  Shape shape;
  ElementType element;
  Shape chunk = {};  ///< extents of its chunks; empty where it is not stored in chunks
  bool compressed = false;
  bool in_other_files = false;  ///< a virtual dataset, or one in subfiles: HDF5 reads neither through MPI-IO
  std::int64_t digest = 0;      ///< of what attributes say of its numbers; 0: nothing
};

/// A file that is sound has no array of the name that is asked for.
struct NoSuchArray : IoError {
  using IoError::IoError;
};

/// Bytes of an array whose shape was read from a file. Throws IoError naming `op` and `what` for negative extents, for
/// more than max_ndim axes, and where a product does not fit 63 bits.
std::int64_t checked_bytes(const Shape& shape, std::int64_t itemsize, const std::string& what, const char* op);

/// Throws ValueError where elements that were read as int64 and stored as uint64 do not fit.
[[noreturn]] void raise_overflow(const std::string& path, const char* op);

/// Copies numbers that are uint64, though they lie in memory as int64, to a tensor of their extents, converting as
/// `astype` does: exactly those below 2^63, which alone whole numbers have room for, and rounded once to floats. Throws
/// as raise_overflow for others.
void copy_uint64(const at::Tensor& values, const at::Tensor& out, const std::string& path, const char* op);

}  // namespace heatpp::io::detail
