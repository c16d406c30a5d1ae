#include <heatpp/ml/decomposition/nmf.hpp>

#include <ATen/Parallel.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/decomposition/detail/affine.hpp>
#include <heatpp/ml/decomposition/detail/factors.hpp>
#include <heatpp/ml/detail/ending.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/options/decomposition.hpp>

#include <algorithm>
#include <cmath>

namespace heatpp {

using namespace ml::detail;

namespace {

void check_options(const NmfOptions& o, const Rows& x) {
  check_not_empty("NMF.fit", x);
  const auto alpha_h = o.alpha_h.value_or(o.alpha_w);
  const auto count = o.n_components.value_or(x.features());
  if (count < 1 || !(o.tol >= 0) || o.max_iterations < 1 || !(o.alpha_w >= 0) || !(alpha_h >= 0) ||
      !(o.l1_ratio >= 0 && o.l1_ratio <= 1))
    detail::raise<ValueError>(
        "NMF.fit",
        "got {} components, tol {}, {} iterations, alphas {} and {} and l1_ratio {}; expected one "
        "at least of both, no negative numbers and a ratio up to 1",
        count, o.tol, o.max_iterations, o.alpha_w, alpha_h, o.l1_ratio);
  if (o.init && *o.init != NmfInit::random && count > std::min(x.size(), x.features()))
    detail::raise<ValueError>("NMF.fit", "got {} components of {} rows of {} features; expected no more for this init",
                              count, x.size(), x.features());
}

Penalty penalty_of_w(const NmfOptions& o, std::int64_t features) {
  const auto size = o.alpha_w * static_cast<double>(features);
  return {size * o.l1_ratio, size * (1 - o.l1_ratio)};
}
Penalty penalty_of_h(const NmfOptions& o, std::int64_t samples) {
  const auto size = o.alpha_h.value_or(o.alpha_w) * static_cast<double>(samples);
  return {size * o.l1_ratio, size * (1 - o.l1_ratio)};
}

at::Tensor gram_of(const at::Tensor& factor) { return at::mm(factor, factor.t()); }

/// Returns |X - W H| from the squares of X, and the products of W with itself and with X.
double error_of(double squares, const Normal& of_w, const at::Tensor& h) {
  const auto both = (at::mm(of_w.gram, h) * h).sum() - 2 * (of_w.products * h).sum();
  return std::sqrt(std::max(0.0, squares + both.item<double>()));
}

/// Returns the error from the differences, in one more pass.
double error_of(const Rows& x, const Factors& factors) {
  Totals totals(1);
  const auto failure = detail::failure_of([&] {
    for_blocks(x, [&](const at::Tensor& block, std::int64_t first, int thread) {
      const auto w = factors.w.slice(1, first, first + block.size(0));
      totals.of(thread)[0] += (block.to(at::kDouble) - at::mm(w.t(), factors.h)).square().sum().item<double>();
    });
  });
  return std::sqrt(totals.over_ranks(x, failure)[0]);
}

/// Decides when to end, by numbers that are equal on all ranks.
class Ending {
 public:
  Ending(const NmfOptions& options, double first_error)
      : options_(options), first_error_(first_error), last_error_(first_error) {}
  /// Tests iteration i, counted from 1, with these projected gradients; calls `error` only if it needs it.
  template <class F>
  [[nodiscard]] bool after(std::int64_t iteration, double violation, F error) {
    if (options_.solver == NmfSolver::coordinate_descent) {
      if (iteration == 1) first_violation_ = violation;
      return first_violation_ == 0 || violation / first_violation_ <= options_.tol;
    }
    if (!(options_.tol > 0) || iteration % 10 != 0) return false;
    const auto now = error();
    const bool ends = (last_error_ - now) / first_error_ < options_.tol;
    last_error_ = now;
    return ends;
  }

 private:
  const NmfOptions& options_;
  double first_error_, last_error_, first_violation_ = 0;
};

/// One pass: updates W and sums the input of the update of H.
struct Pass {
  Normal of_w;
  double violation;
};
Pass pass(const Rows& x, const Factors& factors, const NmfOptions& options, detail::Watch& watch) {
  const auto k = factors.h.size(0), f = x.features();
  const auto gram = gram_of(factors.h);
  const auto penalty = penalty_of_w(options, f);
  const auto numbers = static_cast<std::size_t>(k * (k + f));
  Totals totals(numbers + 2);
  totals.of(0)[numbers + 1] = watch.vote();
  const auto failure = detail::failure_of([&] {
    for_blocks(x, [&](const at::Tensor& block, std::int64_t first, int thread) {
      const auto rows = block.to(at::kDouble), w = factors.w.slice(1, first, first + block.size(0));
      auto own = totals.of(thread);
      own[numbers] += improve(options.solver, w, {gram, at::mm(factors.h, rows.t())}, penalty);
      at::from_blob(own.data(), {k, k}, at::kDouble).addmm_(w, w.t());
      at::from_blob(own.data() + k * k, {k, f}, at::kDouble).addmm_(w, rows);
    });
  });
  auto sums = totals.over_ranks(x, failure);
  watch.hear(sums[numbers + 1]);
  return {{at::from_blob(sums.data(), {k, k}, at::kDouble).clone(),
           at::from_blob(sums.data() + k * k, {k, f}, at::kDouble).clone()},
          sums[numbers]};
}

}  // namespace

DNDarray NMF::fit_transform(const Rows& x) {
  check_agreed("NMF.fit", x, options_);
  check_options(options_, x);
  const auto count = options_.n_components.value_or(x.features());
  const auto sums = checked_sums("NMF.fit", x);
  const auto usual = count <= std::min(x.size(), x.features()) ? NmfInit::nndsvda : NmfInit::random;
  const auto factors = started(x, count, options_.init.value_or(usual), options_.seed, sums);
  const bool by_error = options_.solver == NmfSolver::multiplicative;
  Ending ending(options_, by_error ? error_of(x, factors) : 0);
  std::int64_t iteration = 0;
  detail::Watch watch;
  bool converged = false;
  for (bool ended = false; !ended && iteration < options_.max_iterations; ++iteration) {
    const auto found = pass(x, factors, options_, watch);
    const auto of_h = improve(options_.solver, factors.h, found.of_w, penalty_of_h(options_, x.size()));
    const auto error = [&] { return error_of(sums.squares, found.of_w, factors.h); };
    converged = ending.after(iteration + 1, found.violation + of_h, error);
    ended = converged || watch.ended();
    if (options_.progress) watch.ask(options_.progress, FitProgress{iteration + 1, options_.max_iterations, error()});
  }
  watch.settle(x.comm(), x.distributed());
  warn_unless(converged || watch.ended() || options_.tol == 0, "NMF.fit", iteration);
  fitted_ = Fitted{replicated(factors.h, working_dtype(x), x.comm()), error_of(x, factors), iteration, converged};
  return as_rows(x, factors.w.t().to(detail::to_torch(working_dtype(x))).contiguous());
}

namespace {

/// Updates all columns, in parallel threads.
double improve_all(NmfSolver solver, const at::Tensor& w, const Normal& normal, const Penalty& penalty) {
  constexpr std::int64_t at_once = 2048;
  std::vector<double> violations(threads());
  at::parallel_for(0, (w.size(1) + at_once - 1) / at_once, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) {
      const auto part = [&](const at::Tensor& t) {
        return t.slice(1, i * at_once, std::min(w.size(1), (i + 1) * at_once));
      };
      violations[static_cast<std::size_t>(at::get_thread_num())] +=
          improve(solver, part(w), {normal.gram, part(normal.products)}, penalty);
    }
  });
  double sum = 0;
  for (const auto one : violations) sum += one;
  return sum;
}

double over_ranks(const Rows& x, double number) {
  if (x.distributed()) x.comm().allreduce(std::span(&number, 1));
  return number;
}

}  // namespace

DNDarray NMF::transform(const Rows& x) const {
  const auto h = wide(fitted_state("transform").components);
  check_features("NMF.transform", x, h.size(1));
  const auto k = h.size(0);
  const Normal of_h{gram_of(h), at::empty({k, x.count()}, at::kDouble)};
  const auto sums = checked_sums("NMF.transform", x, [&](const at::Tensor& block, std::int64_t first) {
    of_h.products.slice(1, first, first + block.size(0)).copy_(at::mm(h, block.t()));
  });
  const bool by_error = options_.solver == NmfSolver::multiplicative;
  const auto numbers = static_cast<double>(x.size() * x.features());
  const auto start = by_error && numbers > 0 ? std::sqrt(sums.sum / numbers / static_cast<double>(k)) : 0.0;
  const auto w = at::full({k, x.count()}, start, at::kDouble);
  const auto error = [&] {
    const auto own = ((at::mm(of_h.gram, w) - 2 * of_h.products) * w).sum().item<double>();
    return std::sqrt(std::max(0.0, sums.squares + over_ranks(x, own)));
  };
  Ending ending(options_, by_error ? error() : 0);
  const auto penalty = penalty_of_w(options_, x.features());
  for (std::int64_t i = 1; i <= options_.max_iterations; ++i) {
    const auto own = improve_all(options_.solver, w, of_h, penalty);
    if (ending.after(i, by_error ? 0 : over_ranks(x, own), error)) break;
  }
  return as_rows(x, w.t().to(detail::to_torch(working_dtype(x))).contiguous());
}

DNDarray NMF::inverse_transform(const Rows& w) const {
  const auto h = wide(fitted_state("inverse_transform").components);
  check_features("NMF.inverse_transform", w, h.size(0));
  const auto none = at::zeros({1}, at::kDouble);
  return moved(w, none, h, none);
}

ModelState NMF::state() const {
  const auto& l = fitted_state("state");
  auto texts = texts_of(options_);
  texts.insert(
      {{"error", text_of(l.error)}, {"iterations", text_of(l.iterations)}, {"converged", text_of(l.converged)}});
  return {"NMF", std::move(texts), {{"components", l.components}}};
}

NMF NMF::from_state(const ModelState& state) {
  const StateReader read("NMF", state);
  const auto components = read.array("components", {-1, -1});
  auto options = options_from<NmfOptions>(read, {"n_components", "init", "solver", "alpha_h", "seed"});
  if (!read.has_option("n_components")) options.n_components = components.shape()[0];
  if (!read.has_option("solver") && read.option<bool>("multiplicative")) options.solver = NmfSolver::multiplicative;
  NMF model(options);
  model.fitted_ = Fitted{components, read.option<double>("error"), read.option<std::int64_t>("iterations"),
                         read.option<bool>("converged")};
  return model;
}

const NMF::Fitted& NMF::fitted_state(const char* what) const { return fitted(Method("NMF", what), fitted_); }

const DNDarray& NMF::components() const { return fitted_state("components").components; }
double NMF::reconstruction_error() const { return fitted_state("reconstruction_error").error; }
std::int64_t NMF::iterations() const { return fitted_state("iterations").iterations; }
bool NMF::converged() const { return fitted_state("converged").converged; }

}  // namespace heatpp
