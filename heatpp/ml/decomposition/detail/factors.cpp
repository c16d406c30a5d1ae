#include <heatpp/ml/decomposition/detail/factors.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/simd.hpp>
#include <heatpp/ml/decomposition/detail/singular.hpp>

#include <heatpp/ml/detail/row_random.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace heatpp::ml::detail {
namespace {

/// Adds: to += factor * from.
HEATPP_SIMD void add(double* __restrict to, double factor, const double* __restrict from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] += factor * from[i];
}
/// Moves each number to the minimum of its parabola with this slope and curvature, but not below 0.
HEATPP_SIMD double descend(double* __restrict to, const double* __restrict slope, double curvature, std::int64_t n) {
  const auto inverse = curvature > 0 ? 1 / curvature : 0;
  double violation = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto projected = to[i] == 0 && slope[i] > 0 ? 0.0 : slope[i];
    violation += std::abs(projected);
    const auto moved = to[i] - slope[i] * inverse;
    to[i] = moved > 0 ? moved : 0;
  }
  return violation;
}

double by_coordinates(const at::Tensor& factor, const Normal& normal, double l1) {
  const auto k = factor.size(0), n = factor.size(1), stride = factor.stride(0);
  auto* w = factor.data_ptr<double>();
  const auto gram = normal.gram.contiguous(), products = normal.products.contiguous();
  const auto* g = gram.const_data_ptr<double>();
  std::vector<double> slope(static_cast<std::size_t>(n));
  double violation = 0;
  for (std::int64_t t = 0; t < k; ++t) {
    const auto* own = products.const_data_ptr<double>() + t * n;
    for (std::int64_t i = 0; i < n; ++i) slope[static_cast<std::size_t>(i)] = l1 - own[i];
    for (std::int64_t r = 0; r < k; ++r) add(slope.data(), g[t * k + r], w + r * stride, n);
    violation += descend(w + t * stride, slope.data(), g[t * k + t], n);
  }
  return violation;
}

void by_factors(const at::Tensor& factor, const Normal& normal, double l1) {
  auto below = at::mm(normal.gram, factor) + l1;
  below = at::where(below == 0, static_cast<double>(std::numeric_limits<float>::epsilon()), below);
  factor.mul_(normal.products / below);
}

void check_not_negative(const char* op, const Rows& x, const at::Tensor& block, std::int64_t first) {
  if (block.numel() == 0 || block.min().item<double>() >= 0) return;
  const auto row = (block < 0).any(1).nonzero()[0].item<std::int64_t>();
  heatpp::detail::raise<ValueError>(op, "got {} in row {}; expected no negative numbers",
                                    block[row].min().item<double>(), x.first() + first + row);
}

at::Tensor at_random(const Rows& x, std::int64_t count, std::uint64_t seed, double size) {
  const auto w = at::empty({count, x.count()}, at::kDouble);
  for (std::int64_t t = 0; t < count; ++t) {
    const RowRandom random(seed, static_cast<std::uint64_t>(t));
    for (std::int64_t i = 0; i < x.count(); ++i)
      w.data_ptr<double>()[t * x.count() + i] = size * random.uniform(x.first() + i);
  }
  return w;
}
/// Returns random numbers, equal on every rank.
at::Tensor at_random(std::int64_t count, std::int64_t features, std::uint64_t seed, double size) {
  const auto h = at::empty({count, features}, at::kDouble);
  const RowRandom random(seed, static_cast<std::uint64_t>(count));
  for (std::int64_t i = 0; i < h.numel(); ++i) h.data_ptr<double>()[i] = size * random.uniform(i);
  return h;
}

/// Returns the positive or the negative parts of pairs of singular vectors, whichever are longer.
Factors of_longer_parts(const at::Tensor& u, const at::Tensor& v, const at::Tensor& s, const at::Tensor& squares) {
  const auto up = squares[0].sqrt(), un = squares[1].sqrt();
  const auto vp = v.clamp_min(0).norm(2, 1), vn = v.clamp_max(0).norm(2, 1);
  auto w = at::empty_like(u), h = at::empty_like(v);
  for (std::int64_t j = 0; j < v.size(0); ++j) {
    const bool first = j == 0, positive = (up[j] * vp[j] > un[j] * vn[j]).item<bool>();
    const auto part = [&](const at::Tensor& x) {
      return first ? x.abs() : positive ? x.clamp_min(0) : x.clamp_max(0).neg();
    };
    const auto lengths = positive ? up[j] * vp[j] : un[j] * vn[j];
    const auto size = (first ? s[j] : s[j] * lengths).sqrt();
    const auto one = at::ones({}, at::kDouble);
    const auto of_u = first ? one : positive ? up[j] : un[j], of_v = first ? one : positive ? vp[j] : vn[j];
    w[j].copy_(at::where(of_u > 0, part(u[j]) * (size / of_u), 0));
    h[j].copy_(at::where(of_v > 0, part(v[j]) * (size / of_v), 0));
  }
  constexpr double too_small = 1e-6;
  return {at::where(w < too_small, 0, w), at::where(h < too_small, 0, h)};
}

Factors by_singular_vectors(const Rows& x, std::int64_t count) {
  const auto [s, v, variance, total] = singular("NMF.fit", x, {.n_components = count});
  const auto scaled = at::where(s.unsqueeze(1) > 0, v / s.unsqueeze(1), 0);
  const auto u = at::empty({count, x.count()}, at::kDouble);
  Totals totals(static_cast<std::size_t>(2 * count));
  const auto failure = heatpp::detail::failure_of([&] {
    for_blocks(x, [&](const at::Tensor& block, std::int64_t first, int thread) {
      const auto part = at::mm(scaled, block.to(at::kDouble).t());
      u.slice(1, first, first + block.size(0)).copy_(part);
      at::from_blob(totals.of(thread).data(), {2, count}, at::kDouble)
          .add_(at::stack({part.clamp_min(0).square().sum(1), part.clamp_max(0).square().sum(1)}));
    });
  });
  auto squares = totals.over_ranks(x, failure);
  return of_longer_parts(u, v, s, at::from_blob(squares.data(), {2, count}, at::kDouble));
}

}  // namespace

double improve(NmfSolver solver, const at::Tensor& factor, const Normal& normal, const Penalty& penalty) {
  auto penalised = normal;
  if (penalty.l2 != 0) penalised.gram = normal.gram + penalty.l2 * at::eye(normal.gram.size(0), at::kDouble);
  if (solver == NmfSolver::coordinate_descent) return by_coordinates(factor, penalised, penalty.l1);
  by_factors(factor, penalised, penalty.l1);
  return 0;
}

Sums checked_sums(const char* op, const Rows& x,
                  const std::function<void(const at::Tensor& block, std::int64_t first)>& f) {
  Totals totals(2);
  const auto failure = heatpp::detail::failure_of([&] {
    for_blocks(x, [&](const at::Tensor& block, std::int64_t first, int thread) {
      with_piece(block, first, [&](const auto& piece) { check_finite(op, x, piece); });
      check_not_negative(op, x, block, first);
      const auto values = block.to(at::kDouble);
      totals.of(thread)[0] += values.sum().item<double>();
      totals.of(thread)[1] += values.square().sum().item<double>();
      if (f) f(values, first);
    });
  });
  const auto sums = totals.over_ranks(x, failure);
  return {sums[0], sums[1]};
}

Factors started(const Rows& x, std::int64_t count, NmfInit init, std::uint64_t seed, const Sums& sums) {
  const auto mean = sums.sum / static_cast<double>(x.size() * x.features());
  if (init == NmfInit::random) {
    const auto size = 2 * std::sqrt(mean / static_cast<double>(count));
    return {at_random(x, count, seed, size), at_random(count, x.features(), seed, size)};
  }
  const auto factors = by_singular_vectors(x, count);
  if (init == NmfInit::nndsvd) return factors;
  return {at::where(factors.w == 0, mean, factors.w), at::where(factors.h == 0, mean, factors.h)};
}

}  // namespace heatpp::ml::detail
