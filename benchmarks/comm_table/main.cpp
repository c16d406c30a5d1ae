// Counts what every function communicates, and compares it with the formula in its documentation: a line of JSON for
// each case. Exits with 1 if they differ. An argument is a part of the names of functions; others are left out.
#include <heatpp/heatpp.hpp>
#include <heatpp/interop/torch.hpp>
#include <heatpp/linalg/solvers/krylov.hpp>
#include <heatpp/ml/ml.hpp>
#include <heatpp/ops/elementwise/reduce_expression.hpp>
#include <heatpp/sparse/sparse.hpp>
#include <heatpp_nn/parallel/sync_batch_norm.hpp>

#include <fmt/format.h>

namespace {

namespace ht = heatpp;

/// A host's bricks of b columns each, with a ghost cell at both ends. One call has filled the ghost cells before.
struct Ghosted {
  at::Tensor memory;
  ht::BlockPlan plan;
};

Ghosted ghosted_bricks(std::int64_t n, std::int64_t b) {
  const auto& comm = ht::world();
  Ghosted bricks{
      at::zeros({n, b + 2}, at::kDouble),
      ht::BlockPlan({n, b * comm.size()}, {{{0, b * comm.rank()}, {n, b}}}, ht::float64, {.ghosts = {0, 1}})};
  ht::refresh_ghosts(bricks.memory.data_ptr(), bricks.plan);
  return bricks;
}

struct Setup {
  std::int64_t P, n, m, b;
  ht::DNDarray x, z, whole, rows, split_rows;
  ht::sparse::DCSRMatrix ring;
  Ghosted ghosted;
};

/// Makes a sparse matrix of n vertices in a ring, each joined to itself and its two neighbors.
ht::sparse::DCSRMatrix ring_of(std::int64_t n) {
  const std::vector<ht::DNDarray> ones(5, ht::ones({1}, {.dtype = ht::float64}));
  return ht::sparse::diags(ones, {0, 1, -1, n - 1, 1 - n}, {n, n});
}

/// Makes a path whose weights grow. No eigenvalue is multiple, so rounding does not decide the number of iterations.
ht::sparse::DCSRMatrix path_of(std::int64_t n) {
  const auto weights = ht::arange(1, n, 1, {.dtype = ht::float64});
  return ht::sparse::diags(std::vector<ht::DNDarray>(2, weights), {1, -1}, {n, n});
}

Setup set_up() {
  const std::int64_t P = ht::world().size(), n = 4 * P, m = 4 * P;
  const auto x = ht::reshape(ht::arange(n * m, {.dtype = ht::float64, .split = 0}), {n, m}) + 1.0;
  const auto rows = n - 1 - ht::arange(n);
  return {P,
          n,
          m,
          4,
          x,
          ht::resplit(x, 1),
          x.astype(ht::int64),
          rows,
          ht::resplit(rows, 0),
          ring_of(n),
          ghosted_bricks(n, 4)};
}

ht::DNDarray cut(const ht::Shape& shape) { return ht::ones(shape, {.dtype = ht::float64, .split = 0}); }

ht::DNDarray scaled_identity(std::int64_t n) { return ht::eye(n, n, {.dtype = ht::float64, .split = 0}) * n; }
ht::DNDarray positive_definite(std::int64_t n) { return scaled_identity(n) + 1.0; }

/// Makes a diagonal operator without a matrix, whose products send nothing.
ht::linalg::LinearOperator diagonal_operator(std::int64_t n) {
  const auto apply = [n](const ht::DNDarray& x) {
    return x * (ht::arange(n, {.dtype = ht::float64, .split = 0}) + 1.0);
  };
  return {{n, n}, apply, apply};
}

/// Makes many rows for each rank, of full rank, with columns far from orthogonal; others would take a call less.
ht::DNDarray tall(std::int64_t n, std::int64_t m) {
  const auto i = ht::reshape(ht::arange(n * m * m, {.dtype = ht::float64, .split = 0}), {n * m, m});
  return ht::cos(i * i) + 1.0;
}

std::vector<std::int64_t> all_on_first(std::int64_t n, std::int64_t P) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(P), 0);
  counts.front() = n;
  return counts;
}

/// Returns the first rows of the table's array, on every rank.
ht::DNDarray first_rows(std::int64_t m, std::int64_t count) {
  return ht::reshape(ht::arange(count * m, {.dtype = ht::float64}), {count, m}) + 1.0;
}

/// Fits rows that every rank has, which takes no message.
ht::KMeans fitted_kmeans(std::int64_t m) {
  ht::KMeans model({.n_clusters = 2, .init = first_rows(m, 2)});
  model.fit(first_rows(m, 4));
  return model;
}

ht::KMedians fitted_kmedians(std::int64_t m) {
  ht::KMedians model({.n_clusters = 2, .init = first_rows(m, 2)});
  model.fit(first_rows(m, 4));
  return model;
}

/// Returns options that start from the first two rows and fix the number of iterations.
ht::GaussianMixtureOptions given_mixture(std::int64_t m, ht::CovarianceType type) {
  const auto variances =
      ht::ones(type == ht::CovarianceType::full ? ht::Shape{2, m, m} : ht::Shape{2, m}, {.dtype = ht::float64});
  const auto unit = ht::eye(m, m, {.dtype = ht::float64});
  return {.n_components = 2,
          .covariance_type = type,
          .weights_init = ht::ones({2}, {.dtype = ht::float64}) / 2,
          .means_init = first_rows(m, 2),
          .precisions_init = type == ht::CovarianceType::full   ? variances * unit
                             : type == ht::CovarianceType::tied ? unit
                                                                : variances,
          .max_iterations = 2,
          .tol = 0,
          .reg_covar = 1};
}
ht::GaussianMixture fitted_mixture(std::int64_t m) {
  ht::GaussianMixture model(given_mixture(m, ht::CovarianceType::diag));
  model.fit(first_rows(m, 4));
  return model;
}

/// Returns two classes, both on every rank.
ht::DNDarray two_classes(std::int64_t n, std::optional<int> split = 0) {
  return ht::remainder(ht::arange(n, {.dtype = ht::int64, .split = split}), 2);
}

ht::GaussianNB fitted_bayes(std::int64_t m) {
  ht::GaussianNB model;
  model.fit(first_rows(m, 4), two_classes(4, std::nullopt));
  return model;
}

ht::Ridge fitted_ridge(std::int64_t m) {
  ht::Ridge model;
  model.fit(first_rows(m, 4), ht::ones({4}, {.dtype = ht::float64}));
  return model;
}

ht::HistGradientBoostingRegressor boosted_once(const ht::DNDarray& x, const ht::DNDarray& y) {
  ht::HistGradientBoostingRegressor model({.max_iterations = 1, .max_leaf_nodes = 2, .min_samples_leaf = 1});
  model.fit(x, y);
  return model;
}
ht::HistGradientBoostingRegressor fitted_boosting(std::int64_t m) {
  return boosted_once(first_rows(m, 4), ht::ones({4}, {.dtype = ht::float64}));
}

/// Normalizes three rows of m features on each rank, forward and back.
void normalise(std::int64_t m, bool back) {
  ht::nn::SyncBatchNorm norm(m);
  norm->set_ranks(ht::world());
  const auto rows = at::arange(3 * m, at::kFloat).view({3, m}).requires_grad_();
  const auto normalised = norm->forward(rows);
  if (back) normalised.square().sum().backward();
}

/// A copy for functions in place.
struct Own {
  ht::DNDarray array;
  [[nodiscard]] ht::DNDarray& it() { return array; }
  operator ht::DNDarray&() { return array; }  // NOLINT: conversion intended
};

struct Cost {
  std::int64_t calls, bytes;
  bool operator==(const Cost&) const = default;
};

struct Case {
  const char *function, *name, *calls, *bytes;
  bool exact;  // or at most
  Cost (*formula)(const Setup&);
  void (*call)(const Setup&);
};

#define NAMES [[maybe_unused]] const auto& [P, n, m, b, x, z, whole, rows, split_rows, ring, ghosted] = setup
#define CASE(function, name, exact, calls, bytes, ...) \
  Case{#function,                                      \
       name,                                           \
       #calls,                                         \
       #bytes,                                         \
       exact,                                          \
       [](const Setup& setup) -> Cost {                \
         NAMES;                                        \
         return {calls, bytes};                        \
       },                                              \
       [](const Setup& setup) {                        \
         NAMES;                                        \
         static_cast<void>(__VA_ARGS__);               \
       }},
#define COST(function, name, ...) CASE(function, name, true, __VA_ARGS__)
// At most: what is sent depends on the elements.
#define BOUND(function, name, ...) CASE(function, name, false, __VA_ARGS__)
#define LOCAL(function, ...) COST(function, "", 0, 0, __VA_ARGS__)
#define HEATPP_UNARY(name, function) LOCAL(name, ht::name(whole))
#define HEATPP_BINARY(name, function, numbers) LOCAL(name, ht::name(whole, whole))
const Case cases[] = {
#include "costs.inc"
#include "local.inc"
#include <heatpp/ops/elementwise/elementwise.inc>
};
#undef HEATPP_BINARY
#undef HEATPP_UNARY
#undef LOCAL
#undef BOUND
#undef COST
#undef CASE
#undef NAMES

/// Whether the call sent what its formula says.
bool fits(const Case& entry, const Cost& got, const Cost& want) {
  return entry.exact ? got == want : got.calls <= want.calls && got.bytes <= want.bytes;
}

/// Returns the most that a rank sent during the call.
Cost measured(const Case& entry) {
  const auto setup = set_up();
  const auto before = ht::comm_report();
  entry.call(setup);
  const auto after = ht::comm_report();
  std::array<std::int64_t, 2> most{after.calls - before.calls, after.bytes - before.bytes};
  ht::world().allreduce(most, ht::ReduceOp::max);
  return {most[0], most[1]};
}

Cost expected(const Case& entry) {
  if (ht::world().size() == 1) return {0, 0};
  return entry.formula(set_up());
}

}  // namespace

int main(int argc, char** argv) {
  ht::Environment env(argc, argv);
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  bool right = true;
  for (const auto& entry : cases) {
    if (std::string_view(entry.function).find(wanted) == std::string_view::npos) continue;
    const auto want = expected(entry), got = measured(entry);
    const bool fit = fits(entry, got, want);
    right = right && fit;
    if (ht::world().rank() > 0) continue;
    fmt::print(
        "{{\"function\": \"{}\", \"case\": \"{}\", \"ranks\": {}, \"calls\": {}, \"bytes\": {}, \"formula\": "
        "\"{}{}, {}\", \"right\": {}}}\n",
        entry.function, entry.name, ht::world().size(), got.calls, got.bytes, entry.exact ? "" : "at most ",
        entry.calls, entry.bytes, fit);
  }
  return right ? 0 : 1;
}
