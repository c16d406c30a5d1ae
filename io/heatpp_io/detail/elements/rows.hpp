#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <heatpp/core/dndarray.hpp>

namespace heatpp::io::detail {

/// What each rank writes: its block, or its share of the rows of a replicated array. On the CPU, contiguous. An array
/// without axes is one row on rank 0.
struct Blocks {
  Layout layout;
  at::Tensor mine;
};
[[nodiscard]] Blocks blocks_of(const DNDarray& x);
/// Works as blocks_of for formats that store boxes: an array on a grid is not recut, and ranks that hold copies of a
/// block write a share of it each.
[[nodiscard]] Blocks boxes_of(const DNDarray& given);

/// Returns the closest layout that cuts no chunk of this extent along its split axis. The first index of the array is
/// `first` in the stored array, from which chunks are counted.
[[nodiscard]] Layout between_chunks(const Layout& layout, std::int64_t chunk, std::int64_t first = 0);
/// Returns the closest layout over the same grid whose blocks cut no chunk of these extents.
[[nodiscard]] Layout between_chunks(const Layout& grid, const Shape& chunks);

/// Calls `write` on each rank with runs of whole rows, first ... first + rows.size(0), contiguous. All runs together
/// are the array. Blocks that are split along axis 0 are passed unchanged in one call; for others, exchanges in small
/// windows assemble rows, in runs that begin at multiples of `unit`. Collective. If `write` throws on one rank, all
/// ranks throw.
using WriteRows = std::function<void(std::int64_t first, const at::Tensor& rows)>;
void each_rows(const Layout& layout, const at::Tensor& block, const Communicator& comm, const WriteRows& write,
               std::int64_t unit = 1);

/// Whether the elements of a block have runs of 1 MiB or more in a file. Then assembling rows would not pay. `layout`
/// is split.
[[nodiscard]] bool has_long_runs(const Layout& layout, std::int64_t itemsize);

/// Works as each_rows for files that store elements one after another: `first` counts elements. Blocks with long runs
/// are passed run by run without an exchange.
using WriteRun = std::function<void(std::int64_t first, const at::Tensor& elements)>;
void each_run(const Layout& layout, const at::Tensor& block, const Communicator& comm, const WriteRun& write);

}  // namespace heatpp::io::detail
