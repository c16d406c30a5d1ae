#include "functions.hpp"

#include <heatpp/core/selection.hpp>
#include <heatpp/linalg/decompositions/eigh.hpp>
#include <heatpp/linalg/decompositions/qr.hpp>
#include <heatpp/linalg/decompositions/svd.hpp>
#include <heatpp/linalg/matrices/matrix.hpp>
#include <heatpp/linalg/matrices/norm.hpp>
#include <heatpp/linalg/solvers/solve.hpp>
#include <heatpp/ops/calculus/calculus.hpp>
#include <heatpp/ops/calculus/convolve.hpp>
#include <heatpp/ops/calculus/polynomial.hpp>
#include <heatpp/ops/calculus/scan.hpp>
#include <heatpp/ops/creation/diagonal.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/elementwise/operators.hpp>
#include <heatpp/ops/indexing/nonzero.hpp>
#include <heatpp/ops/indexing/part.hpp>
#include <heatpp/ops/joining/repeat.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/padding/pad.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/selection/apply.hpp>
#include <heatpp/ops/selection/selection.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/shape/reshape.hpp>
#include <heatpp/ops/sorting/search.hpp>
#include <heatpp/ops/sorting/sets.hpp>
#include <heatpp/ops/sorting/sort.hpp>
#include <heatpp/ops/statistics/histogram.hpp>
#include <heatpp/random/random.hpp>

namespace {

using ht::DNDarray;
using ht::slice;
using X = const DNDarray&;

DNDarray whole(X x) { return ht::round(x / 3).astype(ht::int64); }
template <class F>
DNDarray changed_by(X x, F f) {
  auto y = ht::copy(x);
  f(y);
  return y;
}
ht::Arrays listed(const ht::Topk& found) { return {found.values, found.indices}; }
ht::Arrays listed(const ht::UniqueAll& found) { return {found.values, found.indices, found.inverse, found.counts}; }

void add_sorting(std::vector<Function>& all) {
  for (const int axis : {0, 1, 2}) {
    all.push_back({"sort", [=](X x) -> ht::Arrays {
                     return {ht::sort(x, axis), ht::sort(x, {.axis = axis, .descending = true})};
                   }});
    all.push_back({"argsort", [=](X x) -> ht::Arrays { return {ht::argsort(x, axis), ht::argsort(whole(x), axis)}; }});
    all.push_back({"topk", [=](X x) -> ht::Arrays { return listed(ht::topk(x, 2, {.axis = axis})); }});
    all.push_back(
        {"take_along_axis", [=](X x) -> ht::Arrays { return {ht::take_along_axis(x, ht::argsort(x, axis), axis)}; }});
    all.push_back({"apply_along_axis", [=](X x) -> ht::Arrays {
                     return {ht::apply_along_axis([](X line) { return ht::cumsum(line); }, axis, x)};
                   }});
    all.push_back({"roll", [=](X x) -> ht::Arrays { return {ht::roll(x, 2, axis)}; }});
    all.push_back({"take", [=](X x) -> ht::Arrays { return {ht::take(x, ht::array({2, 0, -1}), axis)}; }});
    all.push_back({"unfold", [=](X x) -> ht::Arrays { return {ht::unfold(x, axis, 2, 1)}; }});
  }
  all.push_back({"flat sort", [](X x) -> ht::Arrays { return {ht::sort(x, {.axis = std::nullopt})}; }});
  all.push_back({"unique", [](X x) -> ht::Arrays {
                   return {ht::unique(whole(x)), ht::unique_counts(whole(x)).counts, ht::unique(whole(x), {.axis = 1})};
                 }});
  all.push_back({"unique_all", [](X x) -> ht::Arrays { return listed(ht::unique_all(whole(x))); }});
  all.push_back(
      {"sets", [](X x) -> ht::Arrays {
         return {ht::isin(whole(x), ht::array({1, 2})), ht::union1d(x, x + 1), ht::intersect1d(whole(x), whole(-x))};
       }});
  all.push_back({"lexsort", [](X x) -> ht::Arrays { return {ht::lexsort({whole(x), whole(x * 2)}, 0)}; }});
  all.push_back({"digitize", [](X x) -> ht::Arrays { return {ht::digitize(x, ht::array({-5.0, 0.0, 5.0}))}; }});
  all.push_back({"permutation", [](X x) -> ht::Arrays {
                   ht::random::Generator generator(3);
                   return {generator.permutation(x), generator.permuted(x, 1),
                           changed_by(x, [&](DNDarray& y) { generator.shuffle(y, 1); })};
                 }});
}

void add_shapes_of_recut(std::vector<Function>& all) {
  all.push_back({"reshape", [](X x) -> ht::Arrays {
                   return {ht::reshape(x, {4, 15}), ht::flatten(x), ht::reshape(x, {5, 12}, ht::Order::F)};
                 }});
  all.push_back({"tile", [](X x) -> ht::Arrays {
                   return {ht::tile(x, {2, 1, 3}), ht::resize(x, {7, 9}), ht::roll(x, 7)};
                 }});
  all.push_back({"insert", [](X x) -> ht::Arrays {
                   return {ht::insert(x, 1, 5.0, 0), ht::delete_(x, 1, 2), ht::delete_(x, {0, 2}, 1)};
                 }});
  all.push_back({"nonzero", [](X x) -> ht::Arrays {
                   auto found = ht::nonzero(x > 0);
                   found.push_back(ht::argwhere(x > 3));
                   found.push_back(ht::flatnonzero(x > 3));
                   return found;
                 }});
  all.push_back({"positions", [](X x) -> ht::Arrays {
                   return {x({4, 0, 2}), x(ht::all_of, ht::array({{2, 0}, {1, 1}})),
                           x(ht::array({1, 2}), slice(0, 2), ht::array({3, 0}))};
                 }});
  all.push_back(
      {"writing", [](X x) -> ht::Arrays {
         return {changed_by(x,
                            [](DNDarray& y) {
                              y(ht::array({0, 3})) = 2;
                            }),
                 changed_by(x, [&](DNDarray& y) { y(y > 0) = x(x > 0) * 2; }),
                 changed_by(x,
                            [](DNDarray& y) {
                              ht::put(y, ht::array({5, 17}), ht::array({1.0, 2.0}));
                            }),
                 changed_by(
                     x, [](DNDarray& y) { ht::put_along_axis(y, ht::argmax(y, {.axis = 1, .keepdims = true}), 0, 1); }),
                 changed_by(x, [](DNDarray& y) {
                   ht::putmask(y, y > 3, ht::array({1.0, 2.0}));
                 })};
       }});
  all.push_back({"diagonal", [](X x) -> ht::Arrays {
                   return {ht::diagonal(x), ht::diagonal(x, {.offset = 1, .axis1 = 2, .axis2 = 0}), ht::trace(x)};
                 }});
  all.push_back({"scan of all", [](X x) -> ht::Arrays { return {ht::cumsum(x)}; }});
  all.push_back({"convolve", [](X x) -> ht::Arrays {
                   const auto kernel = ht::array({1.0, -2.0, 0.5});
                   return {ht::convolve(x, kernel), ht::correlate(x, kernel, {.mode = ht::ConvolveMode::same})};
                 }});
  all.push_back({"pad", [](X x) -> ht::Arrays {
                   return {ht::pad(x, 1, {.mode = ht::PadMode::edge}), ht::pad(x, 2, {.mode = ht::PadMode::wrap}),
                           ht::pad(x, 1, {.mode = ht::PadMode::mean}), ht::pad(x, 1, {.mode = ht::PadMode::reflect})};
                 }});
  all.push_back({"unwrap", [](X x) -> ht::Arrays { return {ht::unwrap(x, {.axis = 0}), ht::unwrap(x, {.axis = 2})}; }});
  all.push_back({"bincount", [](X x) -> ht::Arrays {
                   return {ht::bincount(whole(ht::abs(ht::max(x, {1, 2}))), {.minlength = 4})};
                 }});
  all.push_back({"cross", [](X x) -> ht::Arrays { return {ht::cross(x, ht::sin(x), {1, 1, 1})}; }});
  all.push_back({"svd of a stack", [](X x) -> ht::Arrays { return {ht::linalg::svdvals(x)}; }});
}

}  // namespace

std::vector<Function> recutting_functions() {
  std::vector<Function> all;
  add_sorting(all);
  add_shapes_of_recut(all);
  return all;
}

std::vector<Function> matrix_functions() {
  using namespace ht::linalg;
  std::vector<Function> all;
  all.push_back({"det", [](X a) -> ht::Arrays { return {det(a), slogdet(a).logabsdet}; }});
  all.push_back({"inv", [](X a) -> ht::Arrays { return {inv(a)}; }});
  all.push_back({"solve", [](X a) -> ht::Arrays {
                   return {solve(a, a * 2), solve(a, ht::sum(a, 0)), solve_triangular(ht::tril(a), a)};
                 }});
  all.push_back({"cholesky", [](X a) -> ht::Arrays { return {cholesky(a), cholesky(a, {.upper = true})}; }});
  all.push_back({"qr", [](X a) -> ht::Arrays {
                   return {ht::abs(qr(a).r), ht::abs(qr(a(ht::all_of, slice(0, 2))).q)};
                 }});
  all.push_back({"values", [](X a) -> ht::Arrays { return {svdvals(a), eigvalsh(a)}; }});
  all.push_back({"norms", [](X a) -> ht::Arrays {
                   return {matrix_norm(a), matrix_norm(a, {.ord = 1}), matrix_norm(a, {.ord = 2}), vector_norm(a)};
                 }});
  all.push_back(
      {"fill_diagonal", [](X a) -> ht::Arrays {
         return {changed_by(a, [](DNDarray& y) { ht::fill_diagonal(y, 4); }), ht::diag(a), ht::diag(ht::diag(a), 1)};
       }});
  all.push_back({"histogramdd", [](X a) -> ht::Arrays {
                   return {ht::histogramdd(a(ht::all_of, slice(0, 2)), {.bins = {3}}).counts};
                 }});
  all.push_back({"polyfit", [](X a) -> ht::Arrays {
                   return {ht::polyfit(ht::arange(7).astype(ht::float64), a, 2), ht::polyval(ht::sum(a, 1), a / 50)};
                 }});
  return all;
}
