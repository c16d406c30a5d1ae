#include <heatpp/comm/detail/numbers/place.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/adopt.hpp>
#include <heatpp/core/detail/bounds.hpp>
#include <heatpp/core/detail/cuts/layout_of.hpp>
#include <heatpp/core/detail/ownership.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace heatpp {
namespace {

constexpr std::size_t max_axes = 64;  // axes of a block in LibTorch
constexpr std::size_t split_place = 3, first_extent = 4, max_kind = first_extent + max_axes;
constexpr auto max_elements = std::numeric_limits<std::int64_t>::max() / 16;  // so that the bytes can be counted

/// Throws ValueError unless a grid has a number of ranks for each axis, and no split is beside it.
void check_grid(const LocalOptions& options, const Shape& block, const Communicator& comm) {
  if (options.grid.empty()) return;
  if (options.grid.balanced)
    detail::raise<ValueError>("from_local", "got grid balanced; expected the ranks along each axis, as blocks lie");
  static_cast<void>(detail::layout_of("from_local", block, options, comm));
}

/// Returns the dtype, the number of axes, whether the block is read-only, the split, and the extents. Those along the
/// split are left out, and those along cut axes of a grid are the ranks there, negated. All ranks have equally many
/// numbers.
std::vector<std::int64_t> numbers_of(const detail::LocalBlock& local, const LocalOptions& options,
                                     const Communicator& comm) {
  const auto& split = options.split;
  const auto& block = local.data;
  const auto axes = static_cast<std::size_t>(block.dim());
  if (axes > max_axes)
    detail::raise<ValueError>("from_local", "got a block with {} axes; expected at most {}", axes, max_axes);
  std::vector<std::int64_t> numbers(max_kind, 0);
  numbers[0] = static_cast<std::int64_t>(block.scalar_type());
  numbers[1] = block.dim();
  numbers[2] = !local.writable || detail::may_overlap(block);
  numbers[split_place] = !split ? -1 : *split < 0 ? *split + block.dim() : *split;
  std::ranges::copy(block.sizes(), numbers.begin() + first_extent);
  check_grid(options, {block.sizes().begin(), block.sizes().end()}, comm);
  for (std::size_t axis = 0; axis < options.grid.ranks.size(); ++axis)
    if (const auto along = options.grid.ranks[axis]; along > 1) numbers[first_extent + axis] = -along;
  // A rank without this axis need not say so: all see that the numbers of axes differ.
  if (split && *split >= -block.dim() && *split < block.dim())
    numbers[static_cast<std::size_t>(*split < 0 ? *split + block.dim() : *split) + first_extent] = 0;
  return numbers;
}

std::string split_text(std::int64_t split) { return split == -1 ? "none" : std::to_string(split); }

/// Returns the split, which is `given`. Throws unless the blocks have it and differ only along it.
std::optional<int> checked_split(const detail::Bounds& numbers, std::optional<int> given) {
  if (!numbers.equal(0) || !numbers.equal(1))
    detail::raise<ValueError>("from_local",
                              "got blocks with {} to {} axes and dtypes that {}; expected blocks alike in both",
                              numbers.least[1], numbers.most[1], numbers.equal(0) ? "agree" : "differ");
  if (!numbers.equal(split_place))
    detail::raise<ValueError>("from_local", "got the split {} on some ranks and {} on others; expected the same on all",
                              split_text(numbers.least[split_place]), split_text(numbers.most[split_place]));
  const auto axes = static_cast<int>(numbers.most[1]);
  const auto split = given ? std::optional(sanitize_axis(*given, axes, "from_local")) : std::nullopt;
  for (auto i = first_extent; i < max_kind; ++i)
    if (!numbers.equal(i))
      detail::raise<ValueError>("from_local",
                                "got blocks with {} {} to {} along axis {}; expected equal ones on all ranks",
                                numbers.least[i] < 0 ? "minus the ranks of a grid, or extents," : "extents",
                                numbers.least[i], numbers.most[i], i - first_extent);
  return split;
}

/// Returns the layout of blocks on a grid, of which this rank's has `shape`. Collective: an allgather of the shapes.
Layout layout_of_grid(const Shape& shape, const Grid& grid, const Communicator& comm) {
  const auto cells = Layout::on_grid(shape, grid, comm.size());
  const std::vector<std::int64_t> mine(shape.begin(), shape.end());
  std::vector<std::int64_t> all(mine.size() * static_cast<std::size_t>(comm.size()));
  comm.allgather(mine, all, std::vector(static_cast<std::size_t>(comm.size()), std::ssize(mine)));
  std::vector<detail::Cut> cuts;
  Shape whole;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(grid.ranks[axis]), -1), offsets{0};
    for (int rank = 0; rank < comm.size(); ++rank) {
      const auto place = cells.place_along(static_cast<int>(axis), rank);
      const auto extent = all[static_cast<std::size_t>(rank) * shape.size() + axis];
      auto& count = counts[static_cast<std::size_t>(place)];
      if (count >= 0 && count != extent)
        detail::raise<ValueError>(
            "from_local", "got blocks with extents {} and {} along axis {} at place {} of grid {}; expected equal ones",
            count, extent, axis, place, to_string(grid));
      count = extent;
    }
    for (const auto count : counts) offsets.push_back(offsets.back() + count);
    whole.push_back(offsets.back());
    cuts.push_back(detail::Cut::at(std::move(offsets)));
  }
  return Layout::from_cuts(std::move(whole), std::move(cuts));
}

/// Makes a tensor of the caller's memory.
at::Tensor block_at(void* data, const Shape& shape, const std::optional<Shape>& strides, Dtype dtype) {
  detail::check_strides("from_local", shape, strides);
  if (!data && size_of(shape) > 0)
    detail::raise<ValueError>("from_local", "got no memory for a block of shape {}; expected some unless it is empty",
                              to_string(shape));
  const auto options = at::TensorOptions().dtype(detail::to_torch(dtype));
  return strides ? at::from_blob(data, shape, *strides, options) : at::from_blob(data, shape, options);
}

}  // namespace

Layout detail::layout_of_blocks(Shape shape, int split, const Communicator& comm) {
  auto& extent = shape[static_cast<std::size_t>(split)];
  const auto mine = extent;
  const auto place = place_in_whole(comm, mine);
  extent = place.total;
  Layout even(shape, split, Cut::even(extent, comm.size()));
  std::array<std::int64_t, 1> alike{even.offset(comm.rank()) == place.offset && even.count(comm.rank()) == mine};
  comm.allreduce(alike, ReduceOp::min);
  if (alike[0]) return even;
  const auto counts = comm.allgather(mine);
  std::vector<std::int64_t> offsets(counts.size() + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), offsets.begin() + 1);
  shape[static_cast<std::size_t>(split)] = offsets.back();
  return {std::move(shape), split, Cut::at(std::move(offsets))};
}

DNDarray detail::adopt(const LocalOptions& options, const std::function<LocalBlock()>& make) {
  const auto comm = comm_of(options.comm);
  LocalBlock local;
  const auto numbers = bounds_or_error(comm, max_kind, [&] {
    local = make();
    // A tensor that LibTorch conjugates or negates on reading cannot be written in place.
    local.writable = local.writable && !local.data.is_conj() && !local.data.is_neg();
    local.data = local.data.resolve_conj().resolve_neg();
    return numbers_of(local, options, comm);
  });
  const auto split = checked_split(numbers, options.split);
  Shape shape(local.data.sizes().begin(), local.data.sizes().end());
  auto layout = !options.grid.empty() ? layout_of_grid(shape, options.grid, comm)
                : split               ? detail::layout_of_blocks(std::move(shape), *split, comm)
                                      : Layout(std::move(shape), std::nullopt, comm.size());
  static_cast<void>(size_of(layout.shape()));  // throws on all ranks if 63 bits do not count the elements
  auto x = written_through(wrap(as_host_memory(local.data), std::move(layout), comm));
  if (numbers.most[2] != 0) Access::impl(x)->ownership = Ownership::read_only;
  return x;
}

at::Tensor detail::adoptable(const char* op, const at::Tensor& tensor) {
  static_cast<void>(from_torch(tensor.scalar_type()));
  if (tensor.layout() != at::kStrided || !(tensor.is_cpu() || tensor.is_cuda()))
    raise<TypeError>(op, "got a tensor of {}; expected a dense one on the CPU or a GPU", tensor.toString());
  return tensor.detach();
}

void detail::check_strides(const char* op, const Shape& shape, const std::optional<Shape>& strides) {
  bool fits = size_of(shape) < max_elements && (!strides || strides->size() == shape.size());
  std::int64_t last = 0;
  for (std::size_t axis = 0; fits && strides && axis < shape.size(); ++axis) {
    const auto stride = (*strides)[axis], steps = shape[axis] - 1;
    if (steps < 1) continue;
    fits = stride >= 0 && stride <= (max_elements - last) / steps;
    if (fits) last += stride * steps;
  }
  if (!fits)
    raise<ValueError>(op,
                      "got strides {} for shape {}; expected one >= 0 for each axis, and elements whose bytes fit 63 "
                      "bits",
                      strides ? tuple_text(*strides) : "of C order", to_string(shape));
}

bool detail::may_overlap(const at::Tensor& block) {
  if (block.numel() == 0) return false;
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;
  for (std::int64_t axis = 0; axis < block.dim(); ++axis)
    if (block.size(axis) > 1) axes.emplace_back(block.stride(axis), block.size(axis));
  std::ranges::sort(axes);
  std::int64_t span = 1;  // span of the axes with smaller strides; a larger stride does not overlap with them
  for (const auto& [stride, extent] : axes) {
    if (stride < span) return true;
    span += stride * (extent - 1);
  }
  return false;
}

DNDarray from_local(const at::Tensor& block, const LocalOptions& options) {
  return detail::adopt(options, [&] { return detail::LocalBlock{detail::adoptable("from_local", block)}; });
}

DNDarray from_local(void* data, const Shape& shape, Dtype dtype, const LocalOptions& options) {
  return detail::adopt(options, [&] { return detail::LocalBlock{block_at(data, shape, std::nullopt, dtype)}; });
}

DNDarray from_local(const void* data, const Shape& shape, Dtype dtype, const LocalOptions& options) {
  return detail::adopt(options, [&] {
    return detail::LocalBlock{block_at(const_cast<void*>(data), shape, std::nullopt, dtype), false};
  });
}

DNDarray from_local(void* data, const Shape& shape, const Shape& strides, Dtype dtype, const LocalOptions& options) {
  return detail::adopt(options, [&] { return detail::LocalBlock{block_at(data, shape, strides, dtype)}; });
}

}  // namespace heatpp
