#pragma once

#include <ATen/ATen.h>

#include <heatpp/core/dndarray.hpp>

namespace heatpp {
namespace detail {
enum class Ownership : std::uint8_t;
}

struct DNDarray::Impl {
  at::Tensor local;
  Layout layout;
  Communicator comm;
  detail::Ownership ownership{};  ///< who may write to the elements
};

namespace detail {

[[nodiscard]] at::ScalarType to_torch(Dtype dtype);
/// Throws ValueError for a GPU that does not exist.
[[nodiscard]] at::Device to_torch(const Device& device);
[[nodiscard]] at::Scalar to_torch(const Scalar& scalar);
/// Throws TypeError for types of LibTorch that the library does not have.
[[nodiscard]] Dtype from_torch(at::ScalarType type);

/// Makes the array whose block on this rank is `local`, which may share the memory of other arrays. A block that does
/// not fit the layout is a bug, and throws.
[[nodiscard]] DNDarray wrap(at::Tensor local, Layout layout, const Communicator& comm);

/// Describes the elements of a contiguous tensor as a message, ordered by the current stream of its device.
[[nodiscard]] Buffer buffer_of(const at::Tensor& tensor);

/// Makes LibTorch take large CPU blocks from huge pages and keep freed blocks for reuse, because a touch of fresh 4 KiB
/// pages costs more than most operations. HEATPP_ALLOCATOR=torch in the environment leaves LibTorch as it is.
void install_allocator();

}  // namespace detail
}  // namespace heatpp
