#include <heatpp/ops/indexing/trim.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ops/shape/detail/along.hpp>

#include <algorithm>

namespace heatpp {
namespace {

/// Returns for each axis the first and last index with an element other than 0, over all ranks; else {n, -1}.
std::vector<std::pair<std::int64_t, std::int64_t>> bounds_of_nonzero(const DNDarray& x) {
  const auto nonzero = (x.larray() != 0).cpu();
  std::vector<std::int64_t> ends;  // the first, and the last with its sign reversed
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const auto where =
        nonzero.movedim(axis, 0)
            .reshape({nonzero.size(axis), nonzero.numel() / std::max<std::int64_t>(1, nonzero.size(axis))})
            .any(1)
            .nonzero();
    const auto offset = x.layout().local_offset(x.comm().rank())[static_cast<std::size_t>(axis)];
    ends.push_back(where.numel() > 0 ? where.min().item<std::int64_t>() + offset
                                     : x.shape()[static_cast<std::size_t>(axis)]);
    ends.push_back(where.numel() > 0 ? -where.max().item<std::int64_t>() - offset : 1);
  }
  if (x.layout().is_cut()) x.comm().allreduce(ends, ReduceOp::min);
  std::vector<std::pair<std::int64_t, std::int64_t>> bounds;
  for (std::size_t axis = 0; 2 * axis < ends.size(); ++axis) bounds.emplace_back(ends[2 * axis], -ends[2 * axis + 1]);
  return bounds;
}

}  // namespace

DNDarray trim_zeros(const DNDarray& x, const TrimOptions& options) {
  const bool front = options.trim.find_first_of("fF") != std::string_view::npos;
  const bool back = options.trim.find_first_of("bB") != std::string_view::npos;
  if (options.trim.empty() || options.trim.size() != std::size_t{front} + std::size_t{back})
    detail::raise<ValueError>("trim_zeros", "got trim = \"{}\"; expected \"f\", \"b\" or \"fb\"", options.trim);
  const auto only = options.axis ? std::optional(sanitize_axis(*options.axis, x.ndim(), "trim_zeros")) : std::nullopt;
  const auto bounds = bounds_of_nonzero(x);
  auto result = x;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    if (only && *only != axis) continue;
    const auto [first, last] = bounds[static_cast<std::size_t>(axis)];
    const auto end = last < 0 ? 0 : back ? last + 1 : detail::extent_of(x, axis);
    result = detail::along(result, axis, slice(front ? std::min(first, end) : 0, end));
  }
  return result;
}

}  // namespace heatpp
