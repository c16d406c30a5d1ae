#pragma once

#include <heatpp/interop/xtensor.hpp>
#include <heatpp/ops/elementwise/map.hpp>

namespace heatpp::detail {

/// Whether the elements of an expression are in the memory order of a block of `shape`.
template <class Expression>
[[nodiscard]] bool is_linear(const Expression& expression, const Shape& shape) {
  std::vector<std::ptrdiff_t> strides(shape.size());
  xt::compute_strides(shape, xt::layout_type::row_major, strides);
  return expression.has_linear_assign(strides);
}

/// Returns the total of n elements; `first` points to the first one.
template <class Total, class T, class Iterator>
[[nodiscard]] auto total_from(Iterator first, std::int64_t n) {
  return total_of<Total>(n, [&](std::int64_t begin, std::int64_t end, auto add) {
    T values[map_piece_size];
    auto element = first + begin;
    for (auto i = begin; i < end; i += map_piece_size) {
      const auto count = std::min(map_piece_size, end - i);
      for (std::int64_t j = 0; j < count; ++j, ++element) values[j] = *element;
      add(values, count);
    }
  });
}

}  // namespace heatpp::detail

namespace heatpp {

/// Reduces an xtensor expression over local blocks of arrays with the layout of `x` to its sum, product, minimum or
/// maximum, on every rank: in one pass, and without storing the expression if its arrays are stored alike. Totals as
/// those of map_reduce. Collective: two allreduces of a number if `x` is split. Throws ValueError as assign, on all
/// ranks, and for an extremum of an empty array.
template <ReduceOp Op, class Expression>
[[nodiscard]] auto reduce_expression(const Expression& expression, const DNDarray& x) {
  constexpr const char* op = "reduce_expression";
  using T = typename Expression::value_type;
  using Total = detail::Total<T, Op>;
  const auto shape = x.lshape();
  const detail::MapPlan plan{x.layout(), x.comm(), {}, size_of(shape), {}, nullptr};
  if (Total::extremum) detail::check_not_empty(op, plan);
  auto total = Total::neutral();
  const auto compute = [&] {
    detail::check_expression(op, expression, shape);
    if (plan.size == 0) return;
    if (detail::is_linear(expression, shape)) {
      total = detail::total_from<Total, T>(xt::linear_begin(expression), plan.size);
    } else {
      const auto values = from_expression(expression, x);
      total = detail::total_from<Total, T>(values.template local<T>().data(), plan.size);
    }
  };
  if (x.layout().is_cut()) all_or_none(x.comm(), compute);
  else compute();
  return detail::across_ranks(plan, total, Op);
}

}  // namespace heatpp
