#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/random/detail/discrete.hpp>
#include <heatpp/random/detail/sample.hpp>
#include <heatpp/random/generator.hpp>

namespace heatpp::random {
namespace {

using namespace detail;
using heatpp::detail::raise;

/// Makes the array of shape (*shape, width) whose rows draw(draws, row, i) makes, each from its own counter; i is the
/// place of one of its elements in this rank's block. A rank makes the rows of which it holds a part.
template <class T, class F>
DNDarray sample_rows(Generator& generator, const Target& target, F draw) {
  const auto width = target.layout.shape().back();
  const auto [bits, base] = generator.reserve(target.comm, width > 0 ? target.layout.size() / width : 0);
  const Key key(bits);
  std::vector<T> row(static_cast<std::size_t>(width));
  const auto fill = [&]<class Out>(Out) {
    auto block = at::empty(target.local_shape(), heatpp::detail::to_torch(dtype_of<Out>()));
    auto* out = block.template data_ptr<Out>();
    for_each_run(target.layout, target.comm.rank(), [&](std::int64_t global, std::int64_t local, std::int64_t count) {
      for (const auto end = global + count; global < end;) {
        const auto index = global / width, column = global % width, n = std::min(width - column, end - global);
        Draws draws(key, base + static_cast<std::uint64_t>(index));
        draw(draws, row.data(), local);
        std::transform(row.data() + column, row.data() + column + n, out + local,
                       [](T x) { return static_cast<Out>(x); });
        global += n;
        local += n;
      }
    });
    return target.wrap(std::move(block));
  };
  if constexpr (std::is_same_v<T, std::int64_t>) return fill(std::int64_t{});
  else return target.dtype == float64 ? fill(double{}) : fill(float{});
}

Target rows_target(const char* op, Shape shape, std::size_t width, const ArrayOptions& options, Dtype fallback) {
  shape.push_back(static_cast<std::int64_t>(width));
  return target_of(op, {}, shape, options, fallback);
}

/// Returns a replicated float64 tensor of the given shape.
at::Tensor replicated(const DNDarray& x, const Shape& shape, const char* what) {
  if (x.shape() != shape)
    raise<ValueError>("multivariate_normal", "got {} of shape {}; expected {}", what, to_string(x.shape()),
                      to_string(shape));
  heatpp::detail::check_real("multivariate_normal", x.dtype(), what);
  return resplit(x, std::nullopt).larray().to(at::kDouble).contiguous();
}

/// Returns a matrix whose k rows, each times a standard normal number, add up to a vector of this covariance.
at::Tensor root_of(const at::Tensor& covariance) {
  if (!covariance.isfinite().all().item<bool>())
    raise<ValueError>("multivariate_normal", "got a covariance with NaN or infinity; expected finite numbers");
  const auto [values, vectors] = at::linalg_eigh(covariance);
  if (values.numel() == 0) return covariance;
  const auto least = values.min().item<double>(), largest = values.abs().max().item<double>();
  if (!(least >= -1e-8 * largest))
    raise<ValueError>("multivariate_normal", "got a covariance with eigenvalues {} to {}; expected none negative",
                      least, largest);
  return (vectors * values.clamp_min(0).sqrt()).t().contiguous();
}

/// Sets one of them to 1, with probabilities proportional to alpha: the first of exponential times. The others are 0,
/// and all if alpha is 0.
void draw_one(Draws& d, const std::vector<double>& alpha, double* row) {
  const double largest = *std::ranges::max_element(alpha);
  double least = INFINITY;
  double* first = nullptr;
  for (const auto a : alpha) {
    const double time = d.exponential() * (largest / a);
    if (time < least) std::tie(least, first) = std::pair(time, row);
    *row++ = 0;
  }
  if (first) *first = 1;
}

/// Returns the probability of each outcome if none before it has occurred.
std::vector<double> conditional(std::vector<double> pvals) {
  double rest = 0;
  for (auto p = pvals.rbegin(); p != pvals.rend(); ++p) {
    rest += *p;
    if (*p > 0) *p /= rest;
  }
  return pvals;
}

/// As in NumPy, the last probability is 1 minus the sum of the others. A last number that differs only by rounding
/// stays.
std::vector<double> probabilities(std::vector<double> pvals) {
  const double others = pvals.empty() ? 0 : std::accumulate(pvals.begin(), pvals.end() - 1, 0.0);
  if (pvals.empty() || !std::ranges::all_of(pvals, [](double p) { return 0 <= p && p <= 1; }) || others > 1 + 1e-12)
    raise<ValueError>("multinomial",
                      "got pvals {}; expected numbers from 0 to 1, with a sum of 1 at most before the last",
                      heatpp::detail::tuple_text(pvals));
  if (std::abs(others + pvals.back() - 1) > 1e-8) pvals.back() = std::max(0.0, 1 - others);
  return pvals;
}

/// Makes an array whose rows are the outcomes of trials(i) trials; i is the place of one of its elements.
template <class F>
DNDarray outcomes(Generator& generator, const Target& target, const std::vector<double>& pvals, F trials) {
  const auto next = conditional(pvals);
  return sample_rows<std::int64_t>(generator, target, [&](Draws& d, std::int64_t* row, std::int64_t i) {
    auto left = trials(i);
    for (const auto p : next) {
      *row = p < 1 ? std::min(left, Binomial::draw(d, static_cast<double>(left), p)) : left;
      left -= *row++;
    }
  });
}

}  // namespace

DNDarray Generator::dirichlet(const std::vector<double>& alpha, const Shape& shape, const ArrayOptions& options) {
  if (!std::ranges::all_of(alpha, [](double a) { return a >= 0 && std::isfinite(a); }))
    raise<ValueError>("dirichlet", "got alpha {}; expected finite numbers >= 0", heatpp::detail::tuple_text(alpha));
  const auto target = rows_target("dirichlet", shape, alpha.size(), options, heatpp::get_default_dtype());
  return sample_rows<double>(*this, target, [&](Draws& d, double* row, std::int64_t) {
    const auto n = alpha.size();
    for (std::size_t i = 0; i < n; ++i) row[i] = draw_gamma(d, alpha[i]).log();
    const double largest = *std::max_element(row, row + n);
    if (std::isinf(largest)) return draw_one(d, alpha, row);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += row[i] = std::exp(row[i] - largest);
    for (std::size_t i = 0; i < n; ++i) row[i] /= sum;
  });
}

DNDarray Generator::multinomial(std::int64_t n, const std::vector<double>& pvals, const Shape& shape,
                                const ArrayOptions& options) {
  const auto p = probabilities(pvals);
  if (n < 0) raise<ValueError>("multinomial", "got n {}; expected n >= 0", n);
  return outcomes(*this, rows_target("multinomial", shape, p.size(), options, int64), p,
                  [n](std::int64_t) { return n; });
}

DNDarray Generator::multinomial(const DNDarray& n, const std::vector<double>& pvals, const Shape& shape,
                                const ArrayOptions& options) {
  const auto p = probabilities(pvals);
  if (!is_integral(n.dtype())) raise<TypeError>("multinomial", "got n of {}; expected whole numbers", name(n.dtype()));
  auto rows = shape.empty() ? n.shape() : shape;
  rows.push_back(static_cast<std::int64_t>(p.size()));
  const Operand trials[] = {broadcast_to(expand_dims(n, -1), rows)};
  const auto target = target_of("multinomial", trials, rows, options, int64);
  const auto parameters = parameters_of("multinomial", trials, target);
  const auto& count = parameters.front();
  check_parameters("multinomial", "0 <= n < 2^53", parameters, target,
                   [&](std::int64_t i) { return count.at(i) >= 0 && count.at(i) < 0x1p53; });
  return outcomes(*this, target, p, [&](std::int64_t i) { return static_cast<std::int64_t>(count.at(i)); });
}

DNDarray Generator::multivariate_hypergeometric(const std::vector<std::int64_t>& colors, std::int64_t nsample,
                                                const Shape& shape, const ArrayOptions& options) {
  constexpr std::int64_t most = std::int64_t{1} << 53;  // the sampler's numbers are whole up to this
  std::int64_t all = 0;
  bool valid = nsample >= 0;
  for (const auto n : colors) {
    valid = valid && n >= 0 && n < most - all;
    all += valid ? n : 0;
  }
  if (!valid || nsample > all)
    raise<ValueError>("multivariate_hypergeometric",
                      "got colors {}, nsample {}; expected numbers >= 0 with a sum below 2^53 and no more draws",
                      heatpp::detail::tuple_text(colors), nsample);
  const auto target = rows_target("multivariate_hypergeometric", shape, colors.size(), options, int64);
  return sample_rows<std::int64_t>(*this, target, [&, all](Draws& d, std::int64_t* row, std::int64_t) {
    auto others = all, left = nsample;
    for (std::size_t i = 0; i < colors.size(); ++i) {
      others -= colors[i];
      row[i] = others == 0 ? left
                           : Hypergeometric::draw(d, static_cast<double>(colors[i]), static_cast<double>(others),
                                                  static_cast<double>(left));
      left -= row[i];
    }
  });
}

DNDarray Generator::multivariate_normal(const DNDarray& mean, const DNDarray& covariance, const Shape& shape,
                                        const ArrayOptions& options) {
  if (mean.ndim() != 1)
    raise<ValueError>("multivariate_normal", "got a mean of shape {}; expected a vector", to_string(mean.shape()));
  auto stored = options;
  if (!stored.comm) stored.comm = mean.comm();
  for (const auto& comm : {covariance.comm(), *stored.comm})
    heatpp::detail::check_same_comm("multivariate_normal", mean.comm(), comm);
  const auto k = mean.shape()[0];
  const auto center = replicated(mean, {k}, "a mean");
  const auto root = root_of(replicated(covariance, {k, k}, "a covariance"));
  const auto target =
      rows_target("multivariate_normal", shape, static_cast<std::size_t>(k), stored, heatpp::get_default_dtype());
  return sample_rows<double>(*this, target, [&](Draws& d, double* row, std::int64_t) {
    std::copy_n(center.const_data_ptr<double>(), k, row);
    const auto* direction = root.const_data_ptr<double>();
    for (std::int64_t i = 0; i < k; ++i, direction += k) {
      const double z = d.normal();
      for (std::int64_t j = 0; j < k; ++j) row[j] += z * direction[j];
    }
  });
}

}  // namespace heatpp::random
