#include "functions.hpp"

#include <heatpp/core/selection.hpp>
#include <heatpp/linalg/matrices/norm.hpp>
#include <heatpp/ops/calculus/calculus.hpp>
#include <heatpp/ops/calculus/scan.hpp>
#include <heatpp/ops/creation/diagonal.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/elementwise/in_place.hpp>
#include <heatpp/ops/elementwise/map.hpp>
#include <heatpp/ops/elementwise/operators.hpp>
#include <heatpp/ops/indexing/part.hpp>
#include <heatpp/ops/indexing/trim.hpp>
#include <heatpp/ops/joining/repeat.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/padding/pad.hpp>
#include <heatpp/ops/reductions/arg.hpp>
#include <heatpp/ops/reductions/describe.hpp>
#include <heatpp/ops/reductions/moments.hpp>
#include <heatpp/ops/reductions/nan.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/selection/piecewise.hpp>
#include <heatpp/ops/selection/selection.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/sorting/search.hpp>
#include <heatpp/ops/statistics/histogram.hpp>
#include <heatpp/ops/statistics/order.hpp>
#include <heatpp/random/random.hpp>

namespace {

using ht::DNDarray;
using ht::slice;
using X = const DNDarray&;

DNDarray number(double value) { return ht::full({}, value); }
DNDarray with_nan(X x) { return ht::where(x > 6, static_cast<double>(NAN), x); }
ht::Arrays values(const ht::Description& d) { return {d.mean, d.std, d.min, d.max}; }
ht::Arrays values(const ht::Moments& m) { return {m.mean, m.var, m.skew, m.kurtosis}; }
template <class F>
DNDarray changed(X x, F f) {
  auto y = ht::copy(x);
  f(y);
  return y;
}

void add_elementwise(std::vector<Function>& all) {
  all.push_back({"sin", [](X x) -> ht::Arrays { return {ht::sin(x), ht::exp(x / 10), ht::abs(x), -x, ht::floor(x)}; }});
  all.push_back({"numbers", [](X x) -> ht::Arrays {
                   return {x + 1, 2 - x, x * 3, x / 4, ht::power(ht::abs(x), 0.5)};
                 }});
  all.push_back({"operators", [](X x) -> ht::Arrays { return {x + x, x - ht::sin(x), x * x, x / (x * x + 1)}; }});
  all.push_back({"comparisons", [](X x) -> ht::Arrays { return {x > 0, ht::eq(x, x), ht::logical_not(x < 1)}; }});
  all.push_back({"where", [](X x) -> ht::Arrays { return {ht::where(x > 0, x, -x), ht::clip(x, -1.0, 2.0)}; }});
  all.push_back({"broadcast", [](X x) -> ht::Arrays {
                   return {x - ht::mean(x, 0), x * ht::sum(x, {0, 1}), x + ht::max(x, {.axis = 1, .keepdims = true})};
                 }});
  all.push_back({"one row", [](X x) -> ht::Arrays {
                   return {x + ht::arange(4), ht::reshape(ht::arange(5), {5, 1, 1}) * x};
                 }});
  all.push_back({"round", [](X x) -> ht::Arrays {
                   return {ht::round(x, 1), ht::nan_to_num(with_nan(x)), ht::isnan(with_nan(x))};
                 }});
  all.push_back({"isclose", [](X x) -> ht::Arrays { return {ht::isclose(x, x + 1e-12), ht::modf(x).first}; }});
  all.push_back({"astype", [](X x) -> ht::Arrays {
                   return {x.astype(ht::int64), x.astype(ht::float32), ht::copy(x)};
                 }});
  all.push_back(
      {"map", [](X x) -> ht::Arrays { return {ht::map([](double a, double b) { return a * b + 1; }, x, x)}; }});
  all.push_back({"map_reduce", [](X x) -> ht::Arrays {
                   return {number(ht::map_reduce<ht::ReduceOp::sum>([](double a) { return a * a; }, x)),
                           number(ht::map_reduce<ht::ReduceOp::max>([](double a) { return -a; }, x))};
                 }});
  all.push_back({"in place", [](X x) -> ht::Arrays {
                   return {changed(x, [](DNDarray& y) { y += 1; }), changed(x, [&](DNDarray& y) { y *= x; }),
                           changed(x, [&](DNDarray& y) { y -= ht::mean(x, 0); })};
                 }});
  all.push_back(
      {"select", [](X x) -> ht::Arrays {
         return {ht::select({x > 5, x > 0}, {ht::KeptOperand(x), ht::KeptOperand(-x)}, 0.0), ht::zeros_like(x)};
       }});
  all.push_back({"normal", [](X x) -> ht::Arrays { return {ht::random::Generator(7).normal(x, 2.0)}; }});
  all.push_back(
      {"exponential", [](X x) -> ht::Arrays { return {ht::random::Generator(8).exponential(ht::abs(x) + 1)}; }});
  all.push_back({"searchsorted", [](X x) -> ht::Arrays { return {ht::searchsorted(ht::arange(-10, 10), x)}; }});
  all.push_back({"interp", [](X x) -> ht::Arrays {
                   return {ht::interp(x, {ht::arange(9).astype(ht::float64), ht::arange(9) * 2.0})};
                 }});
}

void add_reductions(std::vector<Function>& all) {
  for (const auto& axes : std::vector<std::vector<int>>{{0}, {1}, {2}, {0, 2}, {1, 2}, {0, 1, 2}}) {
    all.push_back({"sum", [=](X x) -> ht::Arrays {
                     return {ht::sum(x, axes), ht::sum(x, {.axis = axes, .keepdims = true})};
                   }});
    all.push_back({"prod", [=](X x) -> ht::Arrays { return {ht::prod(x / 4, axes)}; }});
    all.push_back({"extrema", [=](X x) -> ht::Arrays {
                     return {ht::min(x, axes), ht::max(x, axes), ht::ptp(x, axes)};
                   }});
    all.push_back({"truths", [=](X x) -> ht::Arrays {
                     return {ht::any(x > 8, axes), ht::all(x > -8, axes), ht::count_nonzero(x > 0, {.axis = axes})};
                   }});
    all.push_back({"moments", [=](X x) -> ht::Arrays { return values(ht::moments(x, axes)); }});
    all.push_back(
        {"mean", [=](X x) -> ht::Arrays {
           return {ht::mean(x, axes), ht::var(x, axes), ht::std(x, {.axis = axes, .ddof = 1, .keepdims = true})};
         }});
    all.push_back({"where", [=](X x) -> ht::Arrays {
                     return {ht::sum(x, {.axis = axes, .where = x > 0}), ht::mean(x, {.axis = axes, .where = x > -9}),
                             ht::max(x, {.axis = axes, .initial = 1.0, .where = x > 2})};
                   }});
    all.push_back({"nan", [=](X x) -> ht::Arrays {
                     const auto y = with_nan(x);
                     return {ht::nansum(y, axes), ht::nanmean(y, axes), ht::nanvar(y, axes), ht::nanmax(y, axes)};
                   }});
    all.push_back({"describe", [=](X x) -> ht::Arrays { return values(ht::describe(x, {.axis = axes})); }});
    all.push_back(
        {"exact", [=](X x) -> ht::Arrays {
           return {ht::sum(x, {.axis = axes, .reproducible = true}), ht::mean(x, {.axis = axes, .reproducible = true})};
         }});
    all.push_back({"percentile", [=](X x) -> ht::Arrays {
                     return {ht::percentile(x, {10.0, 70.0}, {.axis = axes}), ht::median(x, {.axis = axes})};
                   }});
    all.push_back({"norm", [=](X x) -> ht::Arrays { return {ht::linalg::vector_norm(x, {.axis = axes})}; }});
  }
  for (const int axis : {0, 1, 2, -3}) {
    all.push_back({"arg", [=](X x) -> ht::Arrays {
                     return {ht::argmax(x, axis), ht::argmin(ht::round(x / 3), {.axis = axis, .keepdims = true})};
                   }});
    all.push_back({"scan", [=](X x) -> ht::Arrays {
                     return {ht::cumsum(x, {.axis = axis}), ht::cumprod(x / 4, {.axis = axis})};
                   }});
  }
  all.push_back({"arg of all", [](X x) -> ht::Arrays {
                   return {ht::argmax(x), ht::argmin(x), ht::argmax(ht::round(x / 5))};
                 }});
  all.push_back({"two reductions", [](X x) -> ht::Arrays {
                   const auto sums = ht::sum(x, 0);
                   return {ht::sum(sums, 0), ht::mean(sums, 1), ht::max(sums),
                           ht::var(sums),    ht::argmin(sums),  ht::median(sums)};
                 }});
  all.push_back({"average", [](X x) -> ht::Arrays {
                   return {ht::average(x, {.weights = ht::abs(x)}), ht::average(x, {.axis = 1})};
                 }});
  all.push_back({"histogram", [](X x) -> ht::Arrays {
                   const auto [counts, edges] = ht::histogram(x, 7);
                   return {counts, edges, ht::histogram(x, {.bins = 3, .range = {-2, 5}, .weights = x * x}).first};
                 }});
}

void add_shapes(std::vector<Function>& all) {
  all.push_back({"transpose", [](X x) -> ht::Arrays {
                   return {ht::transpose(x), ht::moveaxis(x, 2, 0), ht::swapaxes(x, 0, 1)};
                 }});
  all.push_back(
      {"expand_dims", [](X x) -> ht::Arrays {
         return {ht::expand_dims(x, {0, 2}), ht::squeeze(ht::max(x, {.axis = 1, .keepdims = true})), ht::atleast_3d(x)};
       }});
  all.push_back({"squeeze", [](X x) -> ht::Arrays {
                   return {ht::squeeze(x(slice(2, 3))), ht::squeeze(x(ht::all_of, slice(1, 2)), 1)};
                 }});
  all.push_back({"flip", [](X x) -> ht::Arrays {
                   return {ht::flip(x), ht::flip(x, 1), ht::rot90(x), ht::rot90(x, 2, {1, 2})};
                 }});
  all.push_back({"broadcast_to", [](X x) -> ht::Arrays {
                   return {ht::broadcast_to(x, {2, 5, 3, 4}),
                           ht::broadcast_to(ht::sum(x, {.axis = 1, .keepdims = true}), {5, 3, 4}),
                           ht::broadcast_to(x(slice(4, 5)), {6, 3, 4})};
                 }});
  all.push_back({"positions", [](X x) -> ht::Arrays {
                   return {x(0), x(-1), x(2, 1), x(ht::ellipsis, 3), x(4, 2, 0), x(ht::all_of, 1)};
                 }});
  all.push_back({"slices", [](X x) -> ht::Arrays {
                   return {x(slice(1, 4)),
                           x(slice(std::nullopt, std::nullopt, 2), slice(1, 3)),
                           x(ht::ellipsis, slice(3, 0, -2)),
                           x(slice(std::nullopt, std::nullopt, -1)),
                           x(slice(3, 3)),
                           x(ht::newaxis, slice(2, 5), 0)};
                 }});
  all.push_back({"writing", [](X x) -> ht::Arrays {
                   return {changed(x, [](DNDarray& y) { y(slice(1, 4), 0) = 5; }),
                           changed(x, [](DNDarray& y) { y(1, 2, 3) = 7; }),
                           changed(x, [](DNDarray& y) { y(y > 2) = 1.5; }),
                           changed(x, [&](DNDarray& y) { y(0) = x(4); }),
                           changed(x, [&](DNDarray& y) { y(slice(0, 3)) += x(slice(2, 5)); }),
                           changed(x, [&](DNDarray& y) { y(slice(4, 1, -1)) = x(slice(0, 3)); })};
                 }});
  all.push_back({"parts", [](X x) -> ht::Arrays {
                   auto parts = ht::split(x, std::vector<std::int64_t>{2}, 0);
                   ht::Arrays result(parts.begin(), parts.end());
                   for (const auto& part : ht::unstack(x, 1)) result.push_back(part);
                   return result;
                 }});
  for (const int axis : {0, 1, 2}) {
    all.push_back({"concatenate", [=](X x) -> ht::Arrays {
                     return {ht::concatenate({x, x(ht::all_of), ht::sin(x)}, axis), ht::stack({x, -x}, axis),
                             ht::append(x, x, axis)};
                   }});
    all.push_back({"repeat", [=](X x) -> ht::Arrays { return {ht::repeat(x, 3, axis)}; }});
    all.push_back(
        {"differences", [=](X x) -> ht::Arrays {
           return {ht::diff(x, {.axis = axis}), ht::diff(x, {.n = 2, .axis = axis}), ht::gradient(x, {.axis = axis}),
                   ht::gradient(x, {.axis = axis, .spacing = 0.5, .edge_order = 2}), ht::trapezoid(x, {.axis = axis})};
         }});
    all.push_back({"initial", [=](X x) -> ht::Arrays {
                     return {ht::cumulative_sum(x, {.axis = axis, .include_initial = true})};
                   }});
  }
  all.push_back({"pad", [](X x) -> ht::Arrays {
                   return {ht::pad(x, 2), ht::pad(x, {{1, 0}, {0, 2}, {1, 1}}, {.value = 3.0})};
                 }});
  all.push_back({"triangles", [](X x) -> ht::Arrays { return {ht::tril(x), ht::triu(x, 1)}; }});
  all.push_back({"trim_zeros", [](X x) -> ht::Arrays { return {ht::trim_zeros(ht::where(x > 3, x, 0.0))}; }});
}

/// A mask over axes 0 and 1, one over axes 1 and 2, and one over each axis.
DNDarray before_last(X x) { return ht::max(x, 2) > 4; }
DNDarray behind_first(X x) { return ht::max(x, 0) > 4; }
DNDarray along(X x, int axis) {
  return ht::max(x, axis == 0 ? std::vector{1, 2} : axis == 1 ? std::vector{0, 2} : std::vector{0, 1}) > 8.7;
}

void add_masks(std::vector<Function>& all) {
  all.push_back({"masks", [](X x) -> ht::Arrays {
                   return {x(x > 0), x(x > 100), x(x > -100), ht::extract(x > 1, x), x(ht::resplit(x > 2, 1))};
                 }});
  all.push_back({"mask along an axis", [](X x) -> ht::Arrays {
                   return {x(along(x, 0)),
                           x(ht::all_of, along(x, 1)),
                           x(ht::ellipsis, along(x, 2)),
                           x(ht::array({true, false, true, true, false})),
                           x(ht::zeros({5}, {.dtype = ht::bool_})),
                           x(slice(1, 5), ht::array({true, false, true})),
                           x(along(x, 0), ht::newaxis, slice(0, 2))};
                 }});
  all.push_back({"mask over some axes", [](X x) -> ht::Arrays {
                   return {x(before_last(x)),
                           x(ht::all_of, behind_first(x)),
                           x(ht::resplit(before_last(x), 1)),
                           x(slice(1, 4), behind_first(x)),
                           x(before_last(x), slice(3, 1, -1)),
                           ht::sum(x(before_last(x)), 0),
                           x(ht::all_of, behind_first(x)) + 1};
                 }});
  all.push_back({"writing through a mask", [](X x) -> ht::Arrays {
                   return {changed(x, [&](DNDarray& y) { y(y > 0) = x(x > 0) * 2; }),
                           changed(x, [&](DNDarray& y) { y(y > 0) += x(x > 0); }),
                           changed(x, [&](DNDarray& y) { y(y > 0) = ht::resplit(x(x > 0), std::nullopt) - 1; }),
                           changed(x, [&](DNDarray& y) { y(y > 100) = x(x > 100); }),
                           changed(x, [&](DNDarray& y) { y(y > -100) = ht::round(x(x > -100)).astype(ht::int64); }),
                           changed(x, [&](DNDarray& y) { y(slice(1, 4))(y(slice(1, 4)) > 1) *= 3; })};
                 }});
  all.push_back({"writing through a mask over some axes", [](X x) -> ht::Arrays {
                   return {changed(x, [&](DNDarray& y) { y(before_last(x)) = -x(before_last(x)); }),
                           changed(x, [&](DNDarray& y) { y(ht::all_of, behind_first(x)) *= 2; }),
                           changed(x, [&](DNDarray& y) { y(along(x, 0)) = x(along(x, 0)) + 1; }),
                           changed(x, [&](DNDarray& y) { y(ht::all_of, along(x, 1)) -= x(ht::all_of, along(x, 1)); }),
                           changed(x, [&](DNDarray& y) { y(ht::ellipsis, along(x, 2)) = 4; }),
                           changed(x, [&](DNDarray& y) { y(before_last(x)) = ht::arange(4); }),
                           changed(x, [&](DNDarray& y) { y(slice(0, 3), behind_first(x)) = 5; })};
                 }});
}

}  // namespace

std::vector<Function> native_functions() {
  std::vector<Function> all;
  add_elementwise(all);
  add_reductions(all);
  add_shapes(all);
  add_masks(all);
  return all;
}
