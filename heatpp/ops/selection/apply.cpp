#include <heatpp/ops/selection/apply.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/bounds.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/operands/detail/lines.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/shape/reshape.hpp>

#include <algorithm>

namespace heatpp {
namespace {

constexpr int max_axes = 16;  // axes of the results

DNDarray cut_beside(const DNDarray& x, int axis) {
  if (x.split() != axis) return x;
  std::optional<int> longest;
  for (int other = 0; other < x.ndim(); ++other)
    if (other != axis &&
        (!longest || x.shape()[static_cast<std::size_t>(other)] > x.shape()[static_cast<std::size_t>(*longest)]))
      longest = other;
  return resplit(x, longest);
}

std::vector<at::Tensor> results_of(const std::function<DNDarray(const DNDarray&)>& f, const at::Tensor& lines) {
  std::vector<at::Tensor> results;
  for (std::int64_t i = 0; i < lines.size(0); ++i) {
    const auto line = lines[i];
    results.push_back(f(detail::wrap(line, Layout({line.numel()}, std::nullopt, 1), self())).larray());
    const auto& first = results.front();
    if (results.back().sizes() != first.sizes() || results.back().scalar_type() != first.scalar_type() ||
        first.dim() > max_axes)
      detail::raise<ValueError>("apply_along_axis", "got results with {} and {} axes; expected one shape and dtype",
                                first.dim(), results.back().dim());
  }
  return results;
}

/// The dtype and the shape of f's results, which ranks without lines learn here.
struct Kind {
  at::ScalarType dtype;
  Shape shape;
};
Kind kind_of(const detail::Bounds& numbers) {
  if (numbers.least != numbers.most)
    detail::raise<ValueError>("apply_along_axis",
                              "got results that differ between ranks; expected one shape and dtype");
  const auto extents = numbers.most.begin() + 2;
  return {static_cast<at::ScalarType>(numbers.most[0]), Shape(extents, extents + numbers.most[1])};
}
std::vector<std::int64_t> numbers_of(const std::vector<at::Tensor>& results) {
  if (results.empty()) return {};
  const auto& first = results.front();
  std::vector<std::int64_t> numbers(max_axes + 2);
  numbers[0] = static_cast<std::int64_t>(first.scalar_type());
  numbers[1] = first.dim();
  std::ranges::copy(first.sizes(), numbers.begin() + 2);
  return numbers;
}

}  // namespace

DNDarray apply_along_axis(const std::function<DNDarray(const DNDarray&)>& f, int along, const DNDarray& array) {
  const auto axis = sanitize_axis(along, array.ndim(), "apply_along_axis");
  auto shape = array.shape();
  shape.erase(shape.begin() + axis);
  if (size_of(shape) == 0)
    detail::raise<ValueError>("apply_along_axis", "got an array of shape {} and axis {}; expected at least one line",
                              to_string(array.shape()), axis);
  const auto x = cut_beside(detail::one_cut("apply_along_axis", array), axis);
  std::vector<at::Tensor> results;
  const auto kind = kind_of(detail::bounds_or_error(x.comm(), max_axes + 2, [&] {
    return numbers_of(results = results_of(f, detail::lines_along(x.larray(), axis)));
  }));

  // The results' axes first lie behind those of the lines.
  shape.insert(shape.end(), kind.shape.begin(), kind.shape.end());
  const auto split = x.split() ? std::optional(*x.split() - (*x.split() > axis)) : std::nullopt;
  const auto layout = x.layout().with(shape, split);
  const auto block = results.empty() ? at::empty(layout.local_shape(x.comm().rank()), kind.dtype)
                                     : at::stack(results).reshape(layout.local_shape(x.comm().rank()));
  const auto result = detail::wrap(block.to(x.larray().device()), layout, x.comm());
  std::vector<int> from, to;
  for (int i = 0; i < static_cast<int>(kind.shape.size()); ++i) {
    from.push_back(x.ndim() - 1 + i);
    to.push_back(axis + i);
  }
  return moveaxis(result, from, to);
}

DNDarray apply_over_axes(const std::function<DNDarray(const DNDarray&, int)>& f, const DNDarray& x, const Axes& axes) {
  auto result = x;
  std::vector<int> chosen = axes.values();
  if (axes.all())
    for (int axis = 0; axis < x.ndim(); ++axis) chosen.push_back(axis);
  for (const auto each : chosen) {
    const auto axis = sanitize_axis(each, x.ndim(), "apply_over_axes");
    const auto reduced = f(result, axis);
    detail::check_same_comm("apply_over_axes", x.comm(), reduced.comm());
    result = reduced.ndim() == x.ndim() ? reduced : expand_dims(reduced, axis);
    if (result.ndim() != x.ndim())
      detail::raise<ValueError>("apply_over_axes",
                                "got a result of shape {} for an array of shape {}; expected one axis "
                                "less or as many",
                                to_string(reduced.shape()), to_string(x.shape()));
  }
  return result;
}

}  // namespace heatpp
