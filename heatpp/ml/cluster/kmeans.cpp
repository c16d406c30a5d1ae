#include <heatpp/ml/cluster/kmeans.hpp>

#include <heatpp/ml/cluster/detail/medians.hpp>
#include <heatpp/ml/cluster/detail/start.hpp>
#include <heatpp/ml/detail/ending.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/row_random.hpp>

namespace heatpp {

using namespace ml::detail;

namespace {

/// Starts with a smaller difference are equally good: the order of the same clusters would depend on the last bits.
constexpr double rounding = 1e-9;

}  // namespace

void IteratedClusters::learn_from(const Rows& x, const FitOptions& options) {
  const Method op(kind(), "fit");
  check_agreed(op, x, options_);
  check_kmeans_options(op, options_, x);
  const auto weights = weights_beside(op, x, options.sample_weight);
  const Weighted data{op, x, weights ? weights->const_data_ptr<double>() : nullptr};
  const auto tolerance = options_.tol * mean_variance(data.op, x);
  const LloydOptions steps{options_.max_iterations, tolerance, options_.progress};
  const auto starts = std::holds_alternative<DNDarray>(options_.init) ? 1 : options_.n_init;
  std::optional<Fitted> best;
  bool asked = false;
  for (int start = 0; start < starts; ++start) {
    const auto first = first_centers(data, options_.n_clusters, options_.init,
                                     seed_of(options_.seed, static_cast<std::uint64_t>(start)));
    const auto rule = rule_ == Rule::medians ? CenterRule::medians : CenterRule::medoids;
    const auto found = rule_ == Rule::means ? lloyd(data, first, steps) : alternate(data, first, rule, steps);
    auto fitted =
        judged(data, replicated(found.centers, working_dtype(x), x.comm()), found.iterations, found.converged);
    asked = asked || found.asked;
    if (!best || fitted.inertia < best->inertia * (1 - rounding)) best = std::move(fitted);
  }
  warn_unless(best->converged || asked, op, best->iterations);
  learn(std::move(*best));
}

ModelState IteratedClusters::state() const {
  const auto& found = fitted_state("state");
  ModelState state{kind(), texts_of(options_), {{"centers", found.centers}}};
  state.options.insert({{"inertia", text_of(found.inertia)},
                        {"iterations", text_of(found.iterations)},
                        {"converged", text_of(found.converged)}});
  write_given(options_.init, state);
  return state;
}

void IteratedClusters::read(const ModelState& state) {
  const StateReader read(kind(), state);
  options_ = options_from<KMeansOptions>(read, {"init"});
  options_.init = given_or(options_.init, read, options_.n_clusters);
  learn({read.array("centers", {options_.n_clusters, -1}), DNDarray(), read.option<double>("inertia"),
         read.option<std::int64_t>("iterations"), read.option<bool>("converged")});
}

}  // namespace heatpp
