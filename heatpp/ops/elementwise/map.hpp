#pragma once

#include <heatpp/ops/elementwise/detail/map_plan.hpp>
#include <heatpp/ops/elementwise/detail/map_total.hpp>

namespace heatpp {

/// Makes an array of f's values at the elements of the operands: `ht::map([](float a, float b) { return a * a + b; },
/// x, y)`. Operands are arrays and numbers, broadcast and brought together as by the elementwise functions: equal
/// layouts cost no communication. The types of f's parameters are the dtypes in which it sees the elements, and its
/// result type is the dtype of the new array. `ht::map<float>(f, x, y)` makes all parameters float, which generic
/// lambdas need; blocks of other dtypes are converted in the cache. One pass over memory without temporaries. The loop
/// is compiled into the caller, as vector code if its flags allow: g++ vectorizes std::sqrt only with -fno-math-errno,
/// and conditions only with -fno-trapping-math. f may run on several threads and must not throw. Throws ValueError for
/// shapes that do not broadcast and for arrays on a GPU, which cannot run f, CommError for different communicators, on
/// all ranks.
template <class T = void, class F, class... Operands>
[[nodiscard]] DNDarray map(F f, const Operands&... operands) {
  using Call = detail::CallOf<T, F, sizeof...(Operands)>;
  const auto plan = detail::plan_map("map", {Operand(operands)...}, Call::In::dtypes);
  const auto result = detail::map_result(plan, dtype_of<typename Call::Result>());
  auto* const out = static_cast<typename Call::Result*>(detail::data_of(result));
  detail::in_parallel(plan.size, [&](std::int64_t begin, std::int64_t end) {
    detail::for_each_piece(typename Call::In(), plan, begin, end,
                           [&](std::int64_t first, std::int64_t count, const auto*... in) {
                             detail::map_piece(f, count, out + first, in...);
                           });
  });
  return result;
}

/// Reduces f's values over all elements to their sum, product, minimum or maximum, on every rank, without storing them:
/// `ht::map_reduce<ht::ReduceOp::sum>([](float a) { return a * a; }, x)`. Totals of floating numbers are double, those
/// of whole numbers int64. Collective: one allreduce of a number if the operands are split. Throws as `map`, and
/// ValueError for an extremum of an empty array.
template <ReduceOp Op, class T = void, class F, class... Operands>
[[nodiscard]] auto map_reduce(F f, const Operands&... operands) {
  static_assert(Op != ReduceOp::mean, "map_reduce has no mean: divide the sum by x.size()");
  using Call = detail::CallOf<T, F, sizeof...(Operands)>;
  using Result = typename Call::Result;
  using Total = detail::Total<Result, Op>;
  const auto plan = detail::plan_map("map_reduce", {Operand(operands)...}, Call::In::dtypes);
  if (Total::extremum) detail::check_not_empty("map_reduce", plan);
  const auto total = detail::total_of<Total>(plan.size, [&](std::int64_t begin, std::int64_t end, auto add) {
    Result values[detail::map_piece_size];
    detail::for_each_piece(typename Call::In(), plan, begin, end,
                           [&](std::int64_t, std::int64_t count, const auto*... in) {
                             detail::map_piece(f, count, values, in...);
                             add(values, count);
                           });
  });
  return detail::across_ranks(plan, total, Op);
}

}  // namespace heatpp
