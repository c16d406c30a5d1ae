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

/// The layout that is closest to one and cuts no chunk of this extent along its split axis, where its first index is
/// `first` in what is stored in these.
[[nodiscard]] Layout between_chunks(const Layout& layout, std::int64_t chunk, std::int64_t first = 0);

/// Calls `write` on each rank with runs of whole rows, first ... first + rows.size(0), contiguous, that together are
/// the array. Blocks that are split along axis 0 are given as they are, in one call; others are put together to rows by
/// an exchange in small windows, in which runs begin at multiples of `unit`. Collective. What `write` throws is thrown
/// on all ranks.
using WriteRows = std::function<void(std::int64_t first, const at::Tensor& rows)>;
void each_rows(const Layout& layout, const at::Tensor& block, const Communicator& comm, const WriteRows& write,
               std::int64_t unit = 1);

/// Whether the elements of a block lie together in a file for 1 MiB or more at a time, so that putting rows together
/// would be in vain. `layout` is split.
[[nodiscard]] bool has_long_runs(const Layout& layout, std::int64_t itemsize);

/// The same as each_rows for files in which elements lie one after another: `first` counts elements. Blocks with long
/// runs are given run by run where they are.
using WriteRun = std::function<void(std::int64_t first, const at::Tensor& elements)>;
void each_run(const Layout& layout, const at::Tensor& block, const Communicator& comm, const WriteRun& write);

}  // namespace heatpp::io::detail
