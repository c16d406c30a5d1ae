#include "matrices.hpp"

#include <heatpp/core/factories.hpp>
#include <heatpp/linalg/products/product.hpp>
#include <heatpp/linalg/solvers/eigensolvers.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>

#include <cmath>

namespace la = ht::linalg;
using la::Which;

namespace {

at::Tensor turned(const at::Tensor& x) { return x.conj().resolve_conj().transpose(0, 1); }

/// Returns a Hermitian matrix with these eigenvalues and random vectors.
at::Tensor with_values(const at::Tensor& values, bool complex = false) {
  const auto n = values.numel();
  const auto root = complex ? at::complex(scattered({n, n}), scattered({n, n}).t() * 2) : scattered({n, n});
  const auto q = std::get<0>(at::linalg_qr(root));
  const auto a = at::mm(q * values, turned(q));
  return (a + turned(a)) / 2;
}

/// Returns the wanted eigenvalues, increasing, by LAPACK.
at::Tensor wanted(const at::Tensor& a, std::int64_t k, Which which) {
  const auto values = at::linalg_eigvalsh(a);
  const auto key = which == Which::largest             ? values
                   : which == Which::smallest          ? -values
                   : which == Which::largest_magnitude ? values.abs()
                                                       : -values.abs();
  return std::get<0>(values.index_select(0, key.argsort(-1, true).narrow(0, 0, k)).sort());
}

/// Checks that pairs are orthonormal eigenvectors of `a`, and that the result says so.
void check_pairs(const la::Eigenpairs& found, const at::Tensor& a, double tolerance) {
  const auto v = gathered(found.vectors).to(at::promote_types(a.scalar_type(), at::kDouble)),
             values = gathered(found.values);
  const auto wide = a.to(v.scalar_type());
  CHECK(found.converged);
  CHECK((at::mm(wide, v) - v * values).abs().max().item<double>() <= tolerance);
  CHECK((at::mm(turned(v), v) - at::eye(v.size(1), v.options())).abs().max().item<double>() <= tolerance);
  CHECK(gathered(found.residuals).max().item<double>() <= tolerance);
  CHECK_FALSE(found.values.split());
}

}  // namespace

TEST_CASE("eigenvalues at the ends are LAPACK's, on any cut", "[linalg][eigsh]") {
  const auto root = scattered({40, 40});
  const auto a = root + root.t();
  for (const auto which : {Which::largest, Which::smallest, Which::largest_magnitude})
    for (const std::int64_t k : {1, 5})
      for_each_layout(a, [&](const ht::DNDarray& x) {
        const auto found = la::eigsh(x, k, {.which = which, .basis = 15});
        CHECK(close(found.values, wanted(a, k, which), 1e-12));
        check_pairs(found, a, 1e-11);
        CHECK(found.vectors.split() == (x.split() ? std::optional(0) : std::nullopt));
        if (x.split() == 0) CHECK(found.vectors.layout() == x.layout().with({40, k}, 0));
      });
}

TEST_CASE("all values, one, and those next to a number", "[linalg][eigsh]") {
  const auto root = scattered({9, 9});
  const auto a = root + root.t();
  const auto values = at::linalg_eigvalsh(a);
  const auto near = std::get<0>(values.index_select(0, (values - 0.3).abs().argsort().narrow(0, 0, 3)).sort());
  for_each_layout(a, [&](const ht::DNDarray& x) {
    for (const auto which : {Which::largest, Which::smallest_magnitude}) {
      const auto found = la::eigsh(x, 9, {.which = which});
      CHECK(close(found.values, values, 1e-12));
      check_pairs(found, a, 1e-12);
      CHECK(found.iterations == 9);
    }
    CHECK(close(la::eigsh(x, 2, {.which = Which::smallest_magnitude}).values, wanted(a, 2, Which::smallest_magnitude),
                1e-11));
    const auto next = la::eigsh(x, 3, {.sigma = 0.3});
    CHECK(close(next.values, near, 1e-9));
    check_pairs(next, a, 1e-8);
    const auto inverse = ht::DNDarray(distribute(at::linalg_inv(a - 0.3 * at::eye(9, at::kDouble)), x.layout()));
    check_pairs(la::eigsh(x, 3, {.sigma = 0.3, .inverse = inverse}), a, 1e-10);
  });
  const auto alone = ht::array({{-2.0}}, {.dtype = ht::float64, .split = 0});
  CHECK(close(la::eigsh(alone, 1).values, at::full({1}, -2.0, at::kDouble)));
}

TEST_CASE("multiple and clustered eigenvalues are all found", "[linalg][eigsh]") {
  auto multiple = at::arange(60, at::kDouble) / 60;
  multiple.narrow(0, 50, 3).fill_(2.0);
  multiple.narrow(0, 53, 2).fill_(3.0);
  multiple.narrow(0, 55, 5).fill_(1.5);
  auto clustered = at::arange(60, at::kDouble) / 60;
  for (std::int64_t i = 0; i < 5; ++i) clustered[55 + i] = 2.0 + 1e-7 * static_cast<double>(i);
  for (const auto& of : {multiple, clustered})
    for (const bool complex : {false, true}) {
      const auto a = with_values(of, complex);
      for_each_layout(a, [&](const ht::DNDarray& x) {
        for (const std::int64_t k : {4, 7}) {
          const auto found = la::eigsh(x, k, {.which = Which::largest});
          CHECK(close(found.values, wanted(a, k, Which::largest), 1e-11));
          check_pairs(found, a, 1e-11);
        }
      });
    }
  for (const auto& a : {at::eye(20, at::kDouble), at::zeros({20, 20}, at::kDouble), at::ones({20, 20}, at::kDouble)})
    for_each_layout(a, [&](const ht::DNDarray& x) {
      const auto found = la::eigsh(x, 3, {.which = Which::largest});
      CHECK(close(found.values, wanted(a, 3, Which::largest), 1e-12));
      check_pairs(found, a, 1e-12);
    });
}

TEST_CASE("vectors are the same for any cut", "[linalg][eigsh]") {
  const auto root = scattered({30, 30});
  const auto a = root + root.t();
  const auto whole = la::eigsh(distribute(a, ht::Layout({30, 30}, std::nullopt, ht::world().size())), 4);
  for_each_layout(
      a, [&](const ht::DNDarray& x) { CHECK(close(la::eigsh(x, 4).vectors, gathered(whole.vectors), 1e-10)); });
}

TEST_CASE("float32, hosts' functions, starts and limits", "[linalg][eigsh][host]") {
  const auto root = scattered({30, 30});
  const auto a = root + root.t();
  const auto start = scattered({30});
  for_each_layout(a, [&](const ht::DNDarray& x) {
    const auto narrow = la::eigsh(x.astype(ht::float32), 3);
    CHECK(narrow.values.dtype() == ht::float32);
    CHECK(narrow.vectors.dtype() == ht::float32);
    CHECK(narrow.converged);
    CHECK(close(narrow.values.astype(ht::float64), wanted(a, 3, Which::largest_magnitude), 1e-5));
    const la::LinearOperator of_host({30, 30}, [&](const ht::DNDarray& v) { return ht::matmul(x, v); });
    check_pairs(la::eigsh(of_host, 3), a, 1e-11);
    const auto limited = la::eigsh(x, 5, {.max_iterations = 7});
    CHECK(limited.iterations == 7);
    CHECK_FALSE(limited.converged);
    CHECK(limited.values.size() == 5);
    CHECK(la::eigsh(x, 5, {.max_iterations = 3}).values.size() == 3);
  });
  for (const auto& cut : every_layout({30})) {
    const auto x = distribute(a, ht::Layout({30, 30}, 0, ht::world().size()));
    const auto found = la::eigsh(x, 3, {.v0 = distribute(start, cut)});
    check_pairs(found, a, 1e-11);
    CHECK(found.vectors.layout() == cut.with({30, 3}, cut.split()));
    CHECK_THROWS_AS(la::eigsh(x, 3, {.v0 = distribute(start * 0, cut)}), ht::ValueError);
  }
  const auto x = distribute(a, ht::Layout({30, 30}, 0, ht::world().size()));
  CHECK_THROWS_AS(la::eigsh(x, 0), ht::ValueError);
  CHECK_THROWS_AS(la::eigsh(x, 31), ht::ValueError);
  CHECK_THROWS_AS(la::eigsh(x, 3, {.v0 = ht::ones({29})}), ht::ValueError);
  CHECK_THROWS_AS(la::eigsh(x, 3, {.tol = -1}), ht::ValueError);
  CHECK_THROWS_AS(la::eigsh(x, 3, {.basis = 4}), ht::ValueError);
  CHECK_THROWS_AS(la::eigsh(x, 3, {.inverse = x}), ht::ValueError);
  CHECK_THROWS_AS(la::eigsh(ht::ones({3, 4}), 1), ht::ValueError);
  CHECK_THROWS_AS(la::eigsh(ht::ones({3, 4, 4}), 1), ht::ValueError);
  auto broken = a.clone();
  broken[20][20] = NAN;
  for_each_layout(broken, [&](const ht::DNDarray& y) {
    CHECK_THROWS_AS(la::eigsh(y, 3), ht::ValueError);
    CHECK_THROWS_AS(la::svds(y, 3), ht::ValueError);
    CHECK_THROWS_AS(
        la::lobpcg(y, distribute(scattered({30, 2}), y.layout().split() == 0
                                                         ? y.layout().with({30, 2}, 0)
                                                         : ht::Layout({30, 2}, std::nullopt, ht::world().size()))),
        ht::ValueError);
  });
}

TEST_CASE("singular values of tall, wide and singular operators", "[linalg][svds]") {
  const auto complex = at::complex(scattered({30, 12}), scattered({12, 30}).t() * 3);
  auto low = at::mm(scattered({30, 2}), scattered({2, 12}));
  for (const auto& a : {scattered({30, 12}), scattered({12, 30}), scattered({9, 9}), complex, low})
    for_each_layout(a, [&](const ht::DNDarray& x) {
      const std::int64_t k = 4;
      const auto found = la::svds(x, k);
      const auto u = gathered(found.u), vh = gathered(found.vh);
      CHECK(found.converged);
      CHECK(close(found.s, at::linalg_svdvals(a).narrow(0, 0, k).contiguous(), 1e-12));
      CHECK(near_to(at::mm(turned(u), u), at::eye(k, u.options()), 0, 1e-12));
      CHECK(near_to(at::mm(vh, turned(vh)), at::eye(k, u.options()), 0, 1e-12));
      CHECK(near_to(at::mm(a, turned(vh)), u * gathered(found.s), 0, 1e-10));
      CHECK(gathered(found.residuals).max().item<double>() < 1e-10);
      CHECK(found.u.split() == (x.split() ? std::optional(0) : std::nullopt));
      CHECK(found.vh.split() == (x.split() ? std::optional(1) : std::nullopt));
      if (x.split() == 0) CHECK(found.u.layout() == x.layout().with({a.size(0), k}, 0));
    });
  const auto a = scattered({30, 6});
  for_each_layout(a, [&](const ht::DNDarray& x) {
    CHECK(close(la::svds(x, 2, {.smallest = true}).s, at::linalg_svdvals(a).narrow(0, 4, 2).contiguous(), 1e-10));
    CHECK_THROWS_AS(la::svds(x, 7), ht::ValueError);
    CHECK_THROWS_AS(la::svds(x, 0), ht::ValueError);
  });
  const la::LinearOperator no_adjoint({3, 3}, [](const ht::DNDarray& x) { return x; });
  CHECK_THROWS_AS(la::svds(no_adjoint, 1), ht::ValueError);
}

TEST_CASE("lobpcg finds both ends, with and without preconditioner", "[linalg][lobpcg]") {
  const auto values = at::cat({at::tensor({0.1, 0.2, 0.2, 0.5}, at::kDouble), at::arange(1, 37, at::kDouble)});
  for (const bool complex : {false, true}) {
    const auto a = with_values(values, complex);
    const auto start = scattered({40, 3});
    for_each_layout(a, [&](const ht::DNDarray& x) {
      const auto cut = x.split() ? ht::Layout({40, 3}, 0, ht::world().size())
                                 : ht::Layout({40, 3}, std::nullopt, ht::world().size());
      const auto first = distribute(start, cut);
      const auto inverse = distribute(at::linalg_inv(a + 0.3 * at::eye(40, at::kDouble)), x.layout());
      const auto found = la::lobpcg(x, first, {.preconditioner = inverse, .largest = false, .tol = 1e-11});
      CHECK(close(found.values, wanted(a, 3, Which::smallest), 1e-10));
      check_pairs(found, a, 1e-9);
      CHECK(found.iterations < 40);
      CHECK(found.vectors.layout() == cut);
      const auto largest = la::lobpcg(x, first, {.tol = 1e-10});
      CHECK(close(largest.values, wanted(a, 3, Which::largest), 1e-10));
      check_pairs(largest, a, 1e-8);
      CHECK_FALSE(la::lobpcg(x, first, {.max_iterations = 1}).converged);
    });
  }
  const auto a = ht::array({{2.0, 1.0, 0.0}, {1.0, 2.0, 0.0}, {0.0, 0.0, 4.0}}, {.dtype = ht::float64, .split = 0});
  CHECK(close(
      la::lobpcg(a, ht::array({{1.0, 0.0}, {0.0, 1.0}, {1.0, 1.0}}, {.dtype = ht::float64, .split = 0}), {.tol = 1e-12})
          .values,
      at::tensor({3.0, 4.0}, at::kDouble), 1e-10));
  CHECK_THROWS_AS(la::lobpcg(a, ht::ones({3, 2})), ht::ValueError);
  CHECK_THROWS_AS(la::lobpcg(a, ht::ones({4, 1})), ht::ValueError);
  CHECK_THROWS_AS(la::lobpcg(a, ht::ones({3})), ht::ValueError);
  CHECK_THROWS_AS(la::lobpcg(a, ht::ones({3, 4})), ht::ValueError);
}
