#pragma once

#include <heatpp/core/detail/cuts/group_along.hpp>
#include <heatpp/core/detail/simd.hpp>
#include <heatpp/ops/elementwise/detail/map_plan.hpp>
#include <limits>
#include <mutex>

namespace heatpp::detail {

template <class T>
inline constexpr bool is_complex_type = false;
template <class T>
inline constexpr bool is_complex_type<std::complex<T>> = true;

/// The type in which totals of T are collected.
template <class T>
using TotalOf = std::conditional_t<is_complex_type<T>, std::complex<double>,
                                   std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>>;

/// A total of values of T. Pieces are reduced in `lanes` running totals each, which become vector registers. The totals
/// of ranges are merged in their order, for any number of threads.
template <class T, ReduceOp Op>
class Total {
 public:
  using Value = TotalOf<T>;
  static constexpr bool extremum = Op == ReduceOp::min || Op == ReduceOp::max;
  static_assert(!extremum || !is_complex_type<T>, "complex numbers have no order");

  [[nodiscard]] static Value neutral() {
    using Limits = std::numeric_limits<Value>;
    if constexpr (Op == ReduceOp::sum) return Value(0);
    else if constexpr (Op == ReduceOp::prod) return Value(1);
    else if constexpr (std::is_floating_point_v<T>)
      return Op == ReduceOp::min ? Limits::infinity() : -Limits::infinity();
    else return Op == ReduceOp::min ? Limits::max() : Limits::lowest();
  }
  template <class L>
  [[nodiscard]] static L merged(L a, L b) {
    if constexpr (Op == ReduceOp::sum) return a + b;
    else if constexpr (Op == ReduceOp::prod) return a * b;
    else if constexpr (Op == ReduceOp::min) return b < a || b != b ? b : a;
    else return b > a || b != b ? b : a;
  }

  [[nodiscard]] HEATPP_SIMD static Value of_piece(const T* values, std::int64_t count) {
    using Lane = std::conditional_t<extremum && std::is_floating_point_v<T>, T, Value>;
    constexpr std::int64_t lanes = 16;
    Lane total[lanes];
    std::fill_n(total, lanes, static_cast<Lane>(neutral()));
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
      for (std::int64_t l = 0; l < lanes; ++l) total[l] = merged(total[l], static_cast<Lane>(values[i + l]));
    for (; i < count; ++i) total[i % lanes] = merged(total[i % lanes], static_cast<Lane>(values[i]));
    auto result = neutral();
    for (const auto& lane : total) result = merged(result, static_cast<Value>(lane));
    return result;
  }

  void add_range(std::int64_t first, const Value& value) {
    const std::lock_guard lock(mutex_);
    ranges_.emplace_back(first, value);
  }
  [[nodiscard]] Value value() {
    std::ranges::sort(ranges_, {}, &std::pair<std::int64_t, Value>::first);
    auto result = neutral();
    for (const auto& [first, range] : ranges_) result = merged(result, range);
    return result;
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<std::int64_t, Value>> ranges_;
};

/// Returns the total of n elements. walk(begin, end, add) calls add(values, count) for the pieces of a range; each of
/// several threads takes one range.
template <class Total, class Walk>
[[nodiscard]] auto total_of(std::int64_t n, Walk walk) {
  Total total;
  in_parallel(n, [&](std::int64_t begin, std::int64_t end) {
    auto of_range = Total::neutral();
    walk(begin, end, [&](const auto* values, std::int64_t count) {
      of_range = Total::merged(of_range, Total::of_piece(values, count));
    });
    total.add_range(begin, of_range);
  });
  return total.value();
}

/// Throws ValueError for a plan without elements.
void check_not_empty(const char* op, const MapPlan& plan);
/// Returns the total over all ranks of a plan.
template <class Value>
[[nodiscard]] Value across_ranks(const MapPlan& plan, Value value, ReduceOp op) {
  if (plan.layout.is_cut()) group_of_blocks(plan.layout, plan.comm).allreduce(std::span(&value, 1), op);
  return value;
}

}  // namespace heatpp::detail
