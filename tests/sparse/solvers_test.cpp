#include "poisson.hpp"

#include <heatpp/comm/log.hpp>

#include <numeric>

namespace la = ht::linalg;

namespace {

/// Returns |b - a x| / |b|.
double error(const sp::DCSRMatrix& a, const la::Solved& found, const ht::DNDarray& b) {
  return (la::norm(b - sp::matmul(a, found.x)) / la::norm(b)).item<double>();
}

}  // namespace

TEST_CASE("the Poisson problem takes as many iterations of cg as elsewhere", "[sparse][solvers]") {
  for (const auto split : {std::optional<int>(0), std::optional<int>()}) {
    const auto a = poisson(30, split);
    const auto b = ht::ones({900}, {.dtype = ht::float64, .split = split});

    const auto found = la::solve_cg(a, b, {.rtol = 1e-10});

    CHECK(a.nnz() == 4380);
    CHECK(sp::matmul(a, a).nnz() == 11104);
    CHECK(found.converged);
    CHECK(found.iterations == 62);
    CHECK(ht::sum(found.x).item<double>() == Approx(32347.0152608).epsilon(1e-9));
    CHECK(ht::max(found.x).item<double>() == Approx(70.6153426910).epsilon(1e-9));
    CHECK(found.x.split() == split);
    CHECK(error(a, found, b) < 2e-10);
  }
}

TEST_CASE("all methods solve their kind of system, on any cut of matrix and right side", "[sparse][solvers][host]") {
  const auto dense = sp::to_dense(poisson(5, std::nullopt)).larray();
  const auto skew = dense + 0.3 * (at::triu(dense, 1) - at::tril(dense, -1));
  const auto indefinite = dense - 3.7 * at::eye(25, at::kDouble);
  const auto right = at::arange(1, 26, at::kDouble);
  for (const auto& layout : row_layouts({25, 25}))
    for (const auto& cut : every_layout({25})) {
      const auto symmetric = sparse_of(dense, layout), other = sparse_of(skew, layout),
                 any = sparse_of(indefinite, layout);
      const auto b = distribute(right, cut);
      CHECK(error(symmetric, la::solve_cg(symmetric, b, {.rtol = 1e-10}), b) < 1e-9);
      CHECK(error(symmetric, la::solve_cg(symmetric, b, {.rtol = 1e-10, .preconditioner = sp::jacobi(symmetric)}), b) <
            1e-9);
      CHECK(error(symmetric, la::solve_cg(symmetric, b, {.rtol = 1e-10, .preconditioner = sp::block_ilu(symmetric)}),
                  b) < 1e-9);
      CHECK(error(symmetric, la::solve_cg(symmetric, b, {.rtol = 1e-10, .preconditioner = sp::block_ic(symmetric)}),
                  b) < 1e-9);
      CHECK(error(any, la::solve_minres(any, b, {.rtol = 1e-10}), b) < 1e-9);
      CHECK(error(other, la::solve_gmres(other, b, {.rtol = 1e-10}), b) < 1e-9);
      CHECK(error(other,
                  la::solve_gmres(other, b, {.rtol = 1e-10, .preconditioner = sp::block_ilu(other), .restart = 7}),
                  b) < 1e-9);
      CHECK(error(other, la::solve_bicgstab(other, b, {.rtol = 1e-10}), b) < 1e-9);
      CHECK(error(other, la::solve_bicgstab(other, b, {.rtol = 1e-10, .preconditioner = sp::jacobi(other)}), b) < 1e-9);
      const auto found = la::solve_lsqr(other, b, {.rtol = 1e-12});
      CHECK(found.converged);
      CHECK(error(other, found, b) < 1e-9);
      CHECK(
          close(la::solve_gmres(distribute(skew, layout), b, {.rtol = 1e-12}).x, at::linalg_solve(skew, right), 1e-9));
    }
}

TEST_CASE("complex, float32 and rectangular systems", "[sparse][solvers]") {
  const auto hermitian =
      sp::to_dense(poisson(4, std::nullopt)).larray().to(at::kComplexDouble) +
      at::complex(at::zeros({16, 16}, at::kDouble),
                  at::triu(at::ones({16, 16}, at::kDouble), 1) - at::tril(at::ones({16, 16}, at::kDouble), -1)) *
          0.2;
  const auto right = at::complex(at::arange(16, at::kDouble), at::ones({16}, at::kDouble));
  const auto tall = mostly_zeros(12, 5) + at::eye(12, 5, at::kDouble);
  for (const auto& layout : row_layouts({16, 16})) {
    const auto a = sparse_of(hermitian, layout);
    const auto b = distribute(right, layout.with({16}, layout.split()));
    const auto expected = at::linalg_solve(hermitian, right);
    CHECK(close(la::solve_minres(a, b, {.rtol = 1e-13}).x, expected, 1e-9));
    CHECK(close(la::solve_gmres(a, b, {.rtol = 1e-13}).x, expected, 1e-9));
    CHECK(close(la::solve_bicgstab(a, b, {.rtol = 1e-13}).x, expected, 1e-9));
    CHECK(close(la::solve_lsqr(a, b, {.rtol = 1e-14}).x, expected, 1e-7));
    const auto narrow = sp::astype(poisson(4, layout.split()), ht::float32);
    const auto x = la::solve_cg(narrow, ht::ones({16}, {.split = layout.split()}), {.rtol = 1e-6});
    CHECK(x.x.dtype() == ht::float32);
    CHECK(x.converged);
  }
  for (const auto& layout : row_layouts({12, 5})) {
    const auto a = sparse_of(tall, layout);
    const auto b = at::arange(12, at::kDouble);
    const auto expected = std::get<0>(at::linalg_lstsq(tall, b.unsqueeze(1))).squeeze(1);
    const auto found = la::solve_lsqr(a, distribute(b, layout.with({12}, layout.split())), {.rtol = 1e-13});
    CHECK(close(found.x, expected, 1e-8));
    CHECK(found.converged);
  }
}

TEST_CASE("a singular system without solution does not converge, and its residual is that of x", "[sparse][solvers]") {
  const auto chain = at::diag(at::full({40}, 2.0, at::kDouble)) - at::diag(at::ones({39}, at::kDouble), 1) -
                     at::diag(at::ones({39}, at::kDouble), -1);
  chain[0][0] = chain[39][39] = 1;
  const auto diagonal = at::diag(at::tensor({1.0, 2.0, 3.0, 4.0, 0.0}, at::kDouble));
  struct Case {
    at::Tensor a, b;
    double least;
  };
  for (const auto& [dense, right, least] :
       {Case{at::zeros({5, 5}, at::kDouble), at::ones({5}, at::kDouble), 5},
        Case{diagonal, at::ones({5}, at::kDouble), 1}, Case{chain, at::arange(40, at::kDouble), 40 * 19.5 * 19.5}})
    for (const auto& layout : row_layouts({dense.size(0), dense.size(1)}))
      for (const auto rtol : {1e-1, 1e-2, 1e-8}) {
        const auto b = distribute(right, layout.with({right.numel()}, layout.split()));
        const auto found = la::solve_minres(sparse_of(dense, layout), b, {.rtol = rtol});
        CHECK_FALSE(found.converged);
        CHECK(found.residual == Approx(std::sqrt(least)));
        CHECK((at::mv(dense, gathered(found.x)) - right).norm().item<double>() == Approx(found.residual));
      }
}

TEST_CASE("starts, limits, callbacks and wrong systems", "[sparse][solvers]") {
  const auto a = poisson(6);
  const auto b = ht::ones({36}, {.dtype = ht::float64, .split = 0});
  const auto solution = la::solve_cg(a, b, {.rtol = 1e-12}).x;
  for (const auto solve : {la::solve_cg, la::solve_minres, la::solve_gmres, la::solve_bicgstab, la::solve_lsqr}) {
    CHECK(solve(a, b, {.x0 = solution, .rtol = 1e-8}).iterations == 0);
    CHECK(solve(a, b * 0.0, {}).iterations == 0);
    CHECK(close(solve(a, b * 0.0, {.x0 = solution}).x, at::zeros({36}, at::kDouble), 1e-6));
    const auto limited = solve(a, b, {.rtol = 1e-12, .max_iterations = 4});
    CHECK(limited.iterations == 4);
    CHECK_FALSE(limited.converged);
    std::int64_t called = 0;
    const auto in_one = solve(a, b, {.max_iterations = 1}).iterations;  // bicgstab does two at a time
    CHECK(solve(a, b, {.progress = [&](std::int64_t, double) { return ++called < 2; }}).iterations == 3 * in_one);
    CHECK(called == 2);
    CHECK_THROWS_AS(solve(a, ht::ones({35}), {}), ht::ValueError);
    CHECK_THROWS_AS(solve(a, b, {.rtol = -1}), ht::ValueError);
    CHECK_THROWS_AS(solve(a, b * NAN, {}), ht::ValueError);
    CHECK_THROWS_AS(solve(a, b, {.x0 = ht::ones({3})}), ht::ValueError);
  }
  CHECK_THROWS_AS(la::solve_cg(sp::random({3, 4}), ht::ones({3})), ht::ValueError);
  CHECK_THROWS_AS(la::solve_lsqr({{36, 36}, [&](const auto& x) { return sp::matmul(a, x); }}, b), ht::ValueError);
  CHECK_THROWS_AS(sp::jacobi(sp::triu(a, 1)), ht::ValueError);
  CHECK_THROWS_AS(sp::block_ilu(sp::triu(a, 1)), ht::ValueError);
  CHECK_THROWS_AS(sp::block_ilu(sp::random({3, 4})), ht::ValueError);
  const auto of_host = la::LinearOperator({36, 36}, [&](const auto& x) { return sp::matmul(a, x); });
  CHECK(la::solve_cg(of_host, b, {.rtol = 1e-12}).converged);
}

TEST_CASE("a host's answer on one rank holds for all ranks", "[sparse][solvers]") {
  struct HostStop {};
  const auto a = poisson(6);
  const auto b = ht::ones({36}, {.dtype = ht::float64, .split = 0});
  const bool mine = ht::world().rank() + 1 == ht::world().size();
  for (const auto solve : {la::solve_cg, la::solve_minres, la::solve_gmres, la::solve_bicgstab, la::solve_lsqr}) {
    const auto ended = solve(a, b, {.progress = [&](std::int64_t, double) { return !mine; }});
    CHECK(ended.iterations <= 4);
    const auto in_callback = [&](std::int64_t, double) -> bool { return mine ? throw HostStop() : true; };
    const la::LinearOperator host(
        {36, 36},
        [&](const auto& x) {
          if (mine) throw HostStop();
          return x;
        },
        [](const auto& x) { return x; });
    for (const auto most : {2, 100}) {
      const auto by_callback = [&] { return solve(a, b, {.max_iterations = most, .progress = in_callback}); };
      const auto by_operator = [&] { return solve(host, b, {.max_iterations = most}); };
      if (mine) {
        CHECK_THROWS_AS(by_callback(), HostStop);
        CHECK_THROWS_AS(by_operator(), HostStop);
      } else {
        CHECK_THROWS_WITH(by_callback(), Catch::Contains("std::exception"));
        CHECK_THROWS_WITH(by_operator(), Catch::Contains("std::exception"));
      }
    }
  }
  CHECK_THROWS_AS(la::solve_lsqr(a, b, {.preconditioner = sp::jacobi(a)}), ht::ValueError);
}

TEST_CASE("Cholesky's factors without fill-in are those of the block, with a shift if they break down",
          "[sparse][solvers]") {
  const auto chain = at::diag(at::full({12}, 2.5, at::kDouble)) - at::diag(at::ones({11}, at::kDouble), 1) -
                     at::diag(at::ones({11}, at::kDouble), -1);
  const auto turn = at::diag(at::ones({11}, at::kDouble), 1) - at::diag(at::ones({11}, at::kDouble), -1);
  const auto hermitian = at::complex(chain + at::eye(12, at::kDouble), turn);
  const auto full = at::mm(mostly_zeros(12, 12), mostly_zeros(12, 12).t()) + at::full({12, 12}, 7.0, at::kDouble) +
                    9000 * at::eye(12, at::kDouble);
  // These matrices have no fill-in, so the factors of a block are Cholesky's.
  for (const auto& a : {chain, hermitian, full})
    for (const auto& layout : row_layouts({12, 12})) {
      const auto first = layout.split() ? layout.offset(ht::world().rank()) : 0,
                 rows = layout.local_shape(ht::world().rank())[0];
      const auto x = at::arange(1, 13, at::kDouble).to(a.scalar_type());
      const auto y = sp::block_ic(sparse_of(a, layout)).apply(distribute(x, layout.with({12}, layout.split())));
      const auto block = a.narrow(0, first, rows).narrow(1, first, rows);
      CHECK(near_to(at::mv(block, y.larray()), x.narrow(0, first, rows), 1e-13, 1e-13));
    }
  for (const auto split : {std::optional<int>(0), std::optional<int>()}) {
    const auto a = poisson(30, split);
    const auto b = ht::ones({900}, {.dtype = ht::float64, .split = split});
    const auto by_ilu = la::solve_cg(a, b, {.rtol = 1e-10, .preconditioner = sp::block_ilu(a)});
    const auto by_ic = la::solve_cg(a, b, {.rtol = 1e-10, .preconditioner = sp::block_ic(a)});
    const auto by_jacobi = la::solve_cg(a, b, {.rtol = 1e-10, .preconditioner = sp::jacobi(a)});
    CHECK(by_ic.iterations == by_ilu.iterations);  // the same product of factors, as the matrix is symmetric
    CHECK(ht::max(by_ic.x).item<double>() == Approx(70.6153426910).epsilon(1e-9));
    CHECK(by_ic.iterations < by_jacobi.iterations);
  }
  // The matrix is positive definite, but without fill-in the last pivot is -1.8 (Kershaw, 1978).
  const auto kershaw =
      at::tensor({3., -2., 0., 2., -2., 3., -2., 0., 0., -2., 3., -2., 2., 0., -2., 3.}, at::kDouble).reshape({4, 4});
  for (const auto& layout : row_layouts({4, 4})) {
    const auto a = sparse_of(kershaw, layout);
    const auto b = distribute(at::arange(1, 5, at::kDouble), layout.with({4}, layout.split()));
    const auto found = la::solve_cg(a, b, {.rtol = 1e-12, .preconditioner = sp::block_ic(a)});
    CHECK(close(found.x, at::linalg_solve(kershaw, at::arange(1, 5, at::kDouble)), 1e-9));
    CHECK_THROWS_AS(sp::block_ic(a * -1.0), ht::ValueError);
    CHECK_THROWS_AS(sp::block_ic(sp::triu(a, 1)), ht::ValueError);
  }
  const auto last_negative = sp::diags({ht::array({1., 2., 3., 4., -5.}, {.dtype = ht::float64})}, {0}, {5, 5});
  CHECK_THROWS_WITH(sp::block_ic(last_negative), Catch::Contains("expected a diagonal above 0"));
  CHECK_THROWS_AS(sp::block_ic(sp::random({3, 4})), ht::ValueError);
}

TEST_CASE("connected components, numbered by their first vertices", "[sparse][graph]") {
  constexpr std::int64_t n = 40;
  const auto chain = at::diag(at::ones({n - 1}, at::kDouble), 1), none = at::zeros({n, n}, at::kDouble);
  auto apart = none.clone();  // a chain from the ends to the middle and back, a pair, and vertices alone
  for (std::int64_t i = 0; i + 1 < n / 2; ++i) apart[i][n - 1 - i] = apart[n - 1 - i][i + 1] = 1;
  apart.select(0, 7).zero_();
  apart.select(1, 7).zero_();
  for (const auto& graph : {chain, chain.t().contiguous(), none, apart, at::ones({n, n}, at::kDouble)}) {
    std::vector<std::int64_t> least(n);
    std::iota(least.begin(), least.end(), 0);
    for (std::int64_t round = 0; round < n; ++round)
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          if (graph[i][j].item<double>() != 0)
            least[static_cast<std::size_t>(i)] = least[static_cast<std::size_t>(j)] =
                std::min(least[static_cast<std::size_t>(i)], least[static_cast<std::size_t>(j)]);
    const auto [values, expected] = at::_unique(at::tensor(least, at::kLong), true, true);
    for (const auto& layout : row_layouts({n, n})) {
      const auto found = sp::connected_components(sparse_of(graph, layout));
      CHECK(found.count == values.numel());
      CHECK(same(found.labels, expected));
      CHECK(found.labels.layout() == layout.with({n}, layout.split()));
    }
  }
  CHECK_THROWS_AS(sp::connected_components(sp::random({3, 4})), ht::ValueError);
}

namespace {

/// Returns for each vertex the number of its strong component, by a search of all paths.
at::Tensor strong_labels(const at::Tensor& graph) {
  const auto n = graph.size(0);
  auto ways = (graph != 0).logical_or(at::eye(n, at::kBool));
  for (std::int64_t length = 1; length < n; length *= 2)
    ways = at::matmul(ways.to(at::kDouble), ways.to(at::kDouble)) > 0;
  const auto first = at::where(ways.logical_and(ways.t()), at::arange(n, at::kLong), n).amin(1);
  return std::get<1>(at::_unique(first, true, true));
}

}  // namespace

TEST_CASE("strongly connected components, numbered by their first vertices", "[sparse][graph]") {
  constexpr std::int64_t n = 40;
  const auto generator = at::detail::createCPUGenerator(9);
  const auto some = [&](double share) { return (at::rand({n, n}, generator, at::kDouble) < share).to(at::kDouble); };
  const auto ring = at::eye(n, at::kDouble).roll(1, 1), chain = at::diag(at::ones({n - 1}, at::kDouble), 1);
  auto pairs = chain.clone();  // 0 <-> 20, 1 <-> 21, ..., in a row
  for (std::int64_t i = 0; i < n / 2; ++i) pairs[i][n / 2 + i] = pairs[n / 2 + i][i] = 1;
  pairs[n / 2 - 1][n / 2] = 0;
  auto lanes = pairs.clone();
  lanes.slice(0, n / 2).slice(1, n / 2).zero_();
  for (const auto& graph :
       {at::zeros({n, n}, at::kDouble), at::ones({n, n}, at::kDouble), ring, chain, chain.t().contiguous(), pairs,
        lanes, lanes.t().contiguous(), ring + at::eye(n, at::kDouble), some(0.02), some(0.03), some(0.04), some(0.05),
        some(0.08)}) {
    const auto expected = strong_labels(graph);
    for (const auto& layout : row_layouts({n, n})) {
      const auto a = sparse_of(graph, layout);
      const auto found = sp::connected_components(a, {.connection = sp::Connection::strong});
      CHECK(found.count == expected.max().item<std::int64_t>() + 1);
      CHECK(same(found.labels, expected));
      CHECK(found.labels.layout() == layout.with({n}, layout.split()));
      const auto weak = sp::connected_components(a, {.directed = false, .connection = sp::Connection::strong});
      CHECK(same(weak.labels, gathered(sp::connected_components(a).labels)));
    }
  }
}

TEST_CASE("long chains of components over ranks take few rounds", "[sparse][graph]") {
  // Makes pairs of vertices at a distance of n; edges lead from each pair to the next.
  constexpr std::int64_t n = 20000;
  const auto i = at::arange(n, at::kLong), next = at::arange(n - 1, at::kLong);
  const auto rows = at::cat({i, i + n, next}), columns = at::cat({i + n, i, next + 1});
  const auto mine = [&](const at::Tensor& all) {
    const ht::Layout layout({all.size(0)}, 0, ht::world().size());
    const auto first = layout.offset(ht::world().rank());
    return ht::from_local(all.slice(0, first, first + layout.count(ht::world().rank())).clone(), {.split = 0});
  };
  const auto a = sp::from_coo(mine(rows), mine(columns), ht::ones({rows.size(0)}, {.dtype = ht::float64, .split = 0}),
                              {2 * n, 2 * n}, {.split = 0});
  const auto found = sp::connected_components(a, {.connection = sp::Connection::strong});
  CHECK(found.count == n);
  CHECK(same(found.labels, at::cat({i, i})));
}

TEST_CASE("Laplacians and the ranks of pages", "[sparse][graph]") {
  auto edges = at::zeros({6, 6}, at::kDouble);
  for (const auto& [i, j, w] : {std::tuple(0, 1, 2.0), {1, 2, 1.0}, {0, 2, 4.0}, {3, 4, 1.0}})
    edges[i][j] = edges[j][i] = w;
  const auto degrees = edges.sum(1);
  const auto expected = at::diag(degrees) - edges;
  const auto scale = at::where(degrees.gt(0), degrees.rsqrt(), 0.0);
  const auto looped = edges + at::diag(at::full({6}, 3.0, at::kDouble));
  auto directed = edges.clone();
  directed[1][0] = directed[2].zero_()[0];  // vertex 2 leads nowhere
  auto step = at::where(directed.sum(1, true).gt(0), directed / directed.sum(1, true), 1.0 / 6);
  auto rank = at::full({6}, 1.0 / 6, at::kDouble);
  for (int i = 0; i < 200; ++i) rank = 0.85 * at::mv(step.t(), rank) + 0.15 / 6;
  for (const auto& layout : row_layouts({6, 6})) {
    CHECK(same(sp::to_dense(sp::laplacian(sparse_of(looped, layout))), expected));
    CHECK(close(sp::to_dense(sp::laplacian(sparse_of(looped, layout), {.normalized = true})),
                expected * scale * scale.unsqueeze(1), 1e-14));
    const auto ranks = sp::pagerank(sparse_of(directed, layout), {.tol = 1e-14, .max_iterations = 300});
    CHECK(close(ranks, rank, 1e-11));
    CHECK(ht::sum(ranks).item<double>() == Approx(1));
  }
  CHECK_THROWS_AS(sp::laplacian(sp::random({3, 4})), ht::ValueError);
  CHECK_THROWS_AS(sp::pagerank(sp::identity(3) * -1.0), ht::ValueError);
  CHECK_THROWS_AS(sp::pagerank(sp::identity(3), {.damping = 1}), ht::ValueError);
}

TEST_CASE("the ranks of pages do not depend on how many pages there are", "[sparse][graph]") {
  // Each vertex but the first points to half its number. Expected ranks are those of iterations to changes of 1e-12.
  for (const auto& [n, expected] : {std::pair<std::int64_t, double>(100'000, 0.013020334), {2'100'000, 0.006209411}}) {
    const auto rows = ht::arange(1, n, 1, {.split = 0});
    const auto tree = sp::from_coo(rows, ht::floor_divide(rows, 2), ht::ones({n - 1}, {.split = 0}), {n, n});
    const auto ranks = sp::pagerank(tree);
    CHECK(ranks(0).item<double>() == Approx(expected).epsilon(1e-4));
    CHECK(ht::sum(ranks).item<double>() == Approx(1).epsilon(1e-9));
  }
}

TEST_CASE("conjugate gradients name an operator that is not positive definite", "[sparse][solvers]") {
  for (const auto split : {std::optional<int>(0), std::optional<int>()}) {
    const auto a = poisson(6, split);
    const auto b = ht::ones({36}, {.dtype = ht::float64, .split = split});
    const auto one = sp::identity(36, {.dtype = ht::float64, .split = split});
    CHECK_THROWS_WITH(la::solve_cg(a - one * 4.0, b),
                      Catch::Contains("[solve_cg] got an operator that is not positive"));
    CHECK_THROWS_WITH(la::solve_cg(a * -1.0, b), Catch::Contains("in iteration 1; expected a positive definite one"));
    CHECK_THROWS_WITH(la::solve_cg(one * 0.0, b), Catch::Contains("[solve_cg] got an operator"));
    CHECK_THROWS_WITH(la::solve_cg(a, b, {.preconditioner = one * -1.0}), Catch::Contains("got a preconditioner that"));
    CHECK(la::solve_minres(a - one * 4.0, b, {.max_iterations = 500}).x.size() == 36);
  }
}

TEST_CASE("solvers that end before they converge warn by the log", "[sparse][solvers]") {
  std::string said;
  ht::set_log([&](ht::LogLevel, std::string_view text) { said += text; },
              {.level = ht::LogLevel::warning, .all_ranks = true});
  const auto a = poisson(6);
  const auto b = ht::ones({36}, {.dtype = ht::float64, .split = 0});
  for (const auto& [name, solve] : {std::pair("[solve_cg]", &la::solve_cg),
                                    {"[solve_minres]", &la::solve_minres},
                                    {"[solve_gmres]", &la::solve_gmres},
                                    {"[solve_bicgstab]", &la::solve_bicgstab},
                                    {"[solve_lsqr]", &la::solve_lsqr}}) {
    said.clear();
    CHECK(solve(a, b, {.rtol = 1e-8}).converged);
    CHECK(said.empty());
    CHECK_FALSE(solve(a, b, {.rtol = 1e-12, .max_iterations = 4}).converged);
    CHECK_THAT(said, Catch::Contains(name) && Catch::Contains("ended after 4 iterations with a residual"));
    said.clear();
    static_cast<void>(solve(a, b, {.rtol = 1e-12, .progress = [](std::int64_t, double) { return false; }}));
    CHECK(said.empty());  // the callback asked for it
  }
  CHECK_FALSE(la::eigsh(a, 2, {.max_iterations = 3}).converged);
  CHECK_THAT(said, Catch::Contains("[eigsh] ended after"));
  ht::set_log({});
}
