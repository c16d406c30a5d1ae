#include "../core/grids.hpp"
#include "matrices.hpp"

#include <heatpp/core/factories.hpp>
#include <heatpp/linalg/products/detail/grid_plan.hpp>
#include <heatpp/linalg/products/einsum.hpp>
#include <heatpp/linalg/products/product.hpp>

#include <cmath>

namespace {

/// Returns every grid and every cut of a shape.
std::vector<ht::Layout> every_cut(const ht::Shape& shape) {
  auto layouts = every_grid(shape);
  const auto cuts = every_layout(shape);
  layouts.insert(layouts.end(), cuts.begin(), cuts.end());
  return layouts;
}

/// Runs f(a, b) for pairs of layouts of which one is a grid: all of them, or every seventh.
template <class F>
void for_each_grid_pair(const at::Tensor& a, const at::Tensor& b, F f, bool all = true) {
  std::size_t pair = 0;
  for (const auto& left : every_cut(shape_of(a)))
    for (const auto& right : every_cut(shape_of(b)))
      if ((left.is_grid() || right.is_grid()) && (all || pair++ % 7 == 0)) f(distribute(a, left), distribute(b, right));
}

/// Returns the number of words that a rank has to get at least for a product of these extents on many ranks, if it has
/// memory for them: the faces of a cube of indices (Kwasniewski et al., Red-blue pebbling revisited, SC 2019, theorem
/// 2).
double least_words(double m, double n, double k, int ranks) { return 3 * std::cbrt(std::pow(m * n * k / ranks, 2)); }

/// Returns the faces of the block of indices of a rank on the plan's grid.
double faces(const ht::detail::GridPlan& plan, double m, double n, double k) {
  using Kind = ht::detail::RankDimension::Kind;
  if (plan.swapped) std::swap(m, n);
  const double rows = plan.ranks_along(Kind::rows), columns = plan.ranks_along(Kind::columns),
               depth = plan.ranks_along(Kind::depth);
  return m * k / rows / depth + k * n / depth / columns + m * n / rows / columns;
}

ht::detail::GridPlan plan_of(std::int64_t m, std::int64_t n, std::int64_t k, const Along& a, const Along& b) {
  const auto ranks = a[0] * a[1];
  return ht::detail::make_grid_plan({ht::Layout::on_grid({m, k}, ht::Grid(a), ranks), {0, 1}},
                                    {ht::Layout::on_grid({k, n}, ht::Grid(b), ranks), {1, 2}}, {0, 2});
}

/// Returns the elements that ranks get, counted block by block: those of the operands' blocks that a rank needs and
/// does not hold under the plan's layouts, those that were moved there, and the sums of others.
double counted(const ht::detail::GridPlan& plan) {
  using Kind = ht::detail::RankDimension::Kind;
  const auto size = [](const ht::Layout& layout, int rank) {
    return static_cast<double>(ht::size_of(layout.local_shape(rank)));
  };
  double elements = 0;
  for (int rank = 0; rank < plan.a.ranks(); ++rank)
    for (int other = 0; other < plan.a.ranks(); ++other) {
      if (other == rank) continue;
      const auto alike = [&](Kind kind) { return plan.place_along(kind, rank) == plan.place_along(kind, other); };
      const bool rows = alike(Kind::rows), depth = alike(Kind::depth), columns = alike(Kind::columns);
      if (rows && depth) elements += size(plan.a, other);
      if (columns && depth) elements += size(plan.b, other);
      if (rows && columns) elements += size(plan.result, rank);
    }
  return elements + plan.moved;
}

}  // namespace

TEST_CASE("matmul of arrays on grids equals LibTorch's", "[linalg][grid]") {
  const std::vector<std::array<std::int64_t, 3>> sizes{{5, 3, 4}, {6, 7, 5}, {1, 7, 2},
                                                       {6, 1, 6}, {4, 0, 3}, {0, 2, 3}};
  for (const auto [m, k, n] : sizes) {
    const auto a = numbers({m, k}), b = numbers({k, n}) + 1;
    for_each_grid_pair(
        a, b, [&](const auto& x, const auto& y) { CHECK(same(ht::matmul(x, y), at::matmul(a, b))); }, m == 5);
  }
}

TEST_CASE("matmul of stacks and vectors on grids", "[linalg][grid]") {
  const auto check = [](const at::Tensor& a, const at::Tensor& b) {
    for_each_grid_pair(
        a, b, [&](const auto& x, const auto& y) { CHECK(same(ht::matmul(x, y), at::matmul(a, b))); }, false);
  };
  check(numbers({3, 5, 2}, at::kDouble), numbers({3, 2, 4}, at::kDouble));
  check(numbers({2, 3, 4}), numbers({4, 3}));
  check(numbers({2, 4}), numbers({3, 4, 2}));
  check(numbers({5, 3}), numbers({3}));
  check(numbers({5}), numbers({5, 3}));
}

TEST_CASE("tensordot and einsum of arrays on grids", "[linalg][grid]") {
  const auto a = numbers({2, 3, 4}), b = numbers({4, 3, 2}) + 2;
  for_each_grid_pair(
      a, b,
      [&](const auto& x, const auto& y) {
        CHECK(same(ht::tensordot(x, y, {{2, 1}, {0, 1}}), at::tensordot(a, b, {2, 1}, {0, 1})));
        CHECK(same(ht::tensordot(x, y, {{0, 1, 2}, {2, 1, 0}}), at::tensordot(a, b, {0, 1, 2}, {2, 1, 0})));
        CHECK(same(ht::tensordot(x, y, 1), at::tensordot(a, b, {2}, {0})));
        CHECK(same(ht::einsum("ijk,kjl->jli", {x, y}), at::einsum("ijk,kjl->jli", {a, b})));
        CHECK(same(ht::einsum("ijk,kli->jl", {x, y}), at::einsum("ijk,kli->jl", {a, b})));
      },
      false);
}

TEST_CASE("products on grids in every dtype", "[linalg][grid]") {
  for (int i = 0; i < ht::dtype_count; ++i) {
    const auto dtype = ht::to_torch(static_cast<ht::Dtype>(i));
    const auto a = numbers({4, 5}).abs().to(dtype), b = numbers({5, 3}).abs().to(dtype);
    const auto expected = at::matmul(a.to(at::kComplexDouble), b.to(at::kComplexDouble));
    const auto real = at::isComplexType(dtype) ? expected : at::real(expected);
    const auto rights = every_grid({5, 3});
    auto right = static_cast<std::size_t>(i);  // another one for each dtype
    for (const auto& left : every_grid({4, 5}))
      CHECK(same(ht::matmul(distribute(a, left), distribute(b, rights[right++ % rights.size()])),
                 dtype == at::kBool ? real > 0 : real.to(dtype)));
  }
}

TEST_CASE("long sums on grids go in several panels", "[linalg][grid]") {
  const auto a = numbers({6, 2500}), b = numbers({2500, 5});
  for_each_grid_pair(
      a, b, [&](const auto& x, const auto& y) { CHECK(same(ht::matmul(x, y), at::matmul(a, b))); }, false);
}

TEST_CASE("products that need no sum and products on one axis, on grids", "[linalg][grid]") {
  const auto a = numbers({3, 4}), b = numbers({4, 3}), v = numbers({7});
  for_each_grid_pair(
      a, b,
      [&](const auto& x, const auto& y) {
        CHECK(same(ht::outer(x, y), at::outer(a.flatten(), b.flatten())));
        CHECK(same(ht::kron(x, y), at::kron(a, b)));
        CHECK(same(ht::tensordot(x, y, 0), at::tensordot(a, b, at::IntArrayRef{}, at::IntArrayRef{})));
      },
      false);
  for_each_grid_pair(v, v, [&](const auto& x, const auto& y) {
    CHECK(same(ht::outer(x, y), at::outer(v, v)));
    CHECK(same(ht::dot(x, y), at::dot(v, v)));
  });
}

TEST_CASE("the result of a product on grids lies on rows of a and columns of b", "[linalg][grid]") {
  const auto ranks = ht::world().size();
  if (ranks != 4) return;
  const std::int64_t n = 64;
  const auto x = ht::regrid(ht::ones({n, n}, {.dtype = ht::float64, .split = 0}), {2, 2});
  const auto before = ht::total_counters().bytes;
  const auto z = ht::matmul(x, x);
  const auto sent = ht::total_counters().bytes - before;
  CHECK(z.grid() == Along{2, 2});
  CHECK(same(z, at::full({n, n}, static_cast<double>(n), at::kDouble)));
  const auto plan = plan_of(n, n, n, {2, 2}, {2, 2});
  CHECK(plan.moved == 0);
  std::array<std::int64_t, 1> all{sent};
  ht::world().allreduce(all);
  CHECK(static_cast<double>(all[0]) == 8 * plan.sent);
  CHECK(static_cast<double>(all[0]) <= 4 * 1.2 * 8 * least_words(n, n, n, 4));
  const auto field = ht::regrid(ht::ones({4, 6, 5}, {.split = 0}), {2, 2, 1});
  const auto small = ht::ones({5, 3});
  const auto quiet = ht::total_counters().bytes;
  CHECK(ht::tensordot(field, small, 1).grid() == Along{2, 2, 1});
  CHECK(ht::total_counters().bytes == quiet);
}

TEST_CASE("products on grids send at most 1.2 x COSMA's formula", "[linalg][grid]") {
  for (const auto& [rows, columns] :
       {std::pair(2, 2), {2, 3}, {2, 4}, {3, 4}, {4, 4}, {4, 6}, {4, 8}, {8, 8}, {12, 16}, {32, 32}})
    for (const auto& [m, n, k] :
         {std::array<std::int64_t, 3>{1920, 1920, 1920}, {1920, 1920, 3840}, {960, 3840, 1920}}) {
      const auto ranks = rows * columns;
      const Along grid{rows, columns};
      const auto plan = plan_of(m, n, k, grid, grid);
      const auto words = (plan.moved + plan.sent) / ranks;
      CHECK(words <= 1.2 * least_words(static_cast<double>(m), static_cast<double>(n), static_cast<double>(k), ranks));
      CHECK(words <= 1.2 * faces(plan, static_cast<double>(m), static_cast<double>(n), static_cast<double>(k)));
      CHECK(counted(plan) == Approx(plan.moved + plan.sent));
    }
}

TEST_CASE("a depth is taken only if there is memory for the sums", "[linalg][grid]") {
  using Kind = ht::detail::RankDimension::Kind;
  CHECK(plan_of(512, 512, 512, {2, 2}, {2, 2}).ranks_along(Kind::depth) == 1);
  CHECK(plan_of(512, 512, 512, {12, 16}, {12, 16}).ranks_along(Kind::depth) > 1);
  const auto flat = plan_of(4096, 4096, 64, {8, 8}, {8, 8});
  CHECK(flat.ranks_along(Kind::depth) <= 4);
  CHECK(plan_of(64, 64, 65536, {8, 8}, {8, 8}).ranks_along(Kind::depth) > 4);
}
