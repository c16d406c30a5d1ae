#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <heatpp/core/dndarray.hpp>

namespace heatpp::io::detail {

/// What each rank writes: its block, or its share of the rows of an array that all hold. On the CPU, contiguous; an
/// array without axes is one row on rank 0.
struct Blocks {
  Layout layout;
  at::Tensor mine;
};
[[nodiscard]] Blocks blocks_of(const DNDarray& x);

/// The layout along axis 0 that is closest to one and cuts no chunk of so many rows, where its first row is row `first`
/// of what is stored in these.
[[nodiscard]] Layout between_chunks(const Layout& layout, std::int64_t chunk, std::int64_t first = 0);

/// Calls `write` on each rank with runs of whole rows, first ... first + rows.size(0), contiguous, that together are
/// the array. Blocks that are split along axis 0 are given as they are, in one call; others are put together to rows by
/// an exchange in small windows, in which runs begin at multiples of `unit`. Collective. What `write` throws is thrown
/// on all ranks.
using WriteRows = std::function<void(std::int64_t first, const at::Tensor& rows)>;
void each_rows(const Layout& layout, const at::Tensor& block, const Communicator& comm, const WriteRows& write,
               std::int64_t unit = 1);

}  // namespace heatpp::io::detail
