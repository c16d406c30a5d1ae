#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/daso.hpp>
#include <heatpp_nn/detail/optimizer_state.hpp>

#include <torch/optim/optimizer.h>

namespace heatpp::nn {

using heatpp::detail::raise;

namespace {

void check(const DasoOptions& options) {
  const auto& interval = options.interval;
  if (interval.first.batches < 1 || interval.first.wait < 0 || interval.first.wait > interval.first.batches)
    raise<ValueError>("daso",
                      "got the first interval {} with {} to wait; expected 0 <= wait <= interval and 1 <= interval",
                      interval.first.batches, interval.first.wait);
  if (interval.longest < 1 || interval.factor < 2)
    raise<ValueError>("daso", "got the longest interval {} and factor {}; expected at least 1 and 2", interval.longest,
                      interval.factor);
  if (options.phases.warmup < 0 || options.phases.cooldown < 0 || options.review_every < 1)
    raise<ValueError>("daso",
                      "got {} batches of warm-up, {} of cool-down, a review every {}; expected >= 0, >= 0, >= 1",
                      options.phases.warmup, options.phases.cooldown, options.review_every);
  check(options.merge);
}

const DasoOptions& checked(const DasoOptions& options, const torch::optim::Optimizer& optimizer) {
  check(options);
  detail::check_optimizer(optimizer);
  return options;
}

}  // namespace

DASO::DASO(Replica& replica, torch::optim::Optimizer& optimizer, const DasoOptions& options)
    : replica_(replica),
      optimizer_(optimizer),
      options_(checked(options, optimizer)),
      global_(replica.topology(), replica.parameters()),
      detector_(options.plateau) {
  state_.sync = {.phases = options.phases,
                 .interval = options.interval.first,
                 .review_every = options.review_every,
                 .nodes = global_.nodes()};
  record(DasoEvent::Kind::phase, 0);
}

void DASO::step(const at::Tensor& loss) { step(loss.item<double>()); }
void DASO::zero_grad() { optimizer_.zero_grad(); }

void DASO::step(double loss) {
  const auto batch = state_.batch;
  const auto todo = plan(batch, state_.sync);
  const auto before = phase();
  average_gradients(todo.global_gradients);
  if (!failed_) optimizer_.step();
  global_.progress();
  if (todo.merge) merge(batch - state_.sync.flight->started);
  if (todo.start) start();
  if (todo.block) merge(0);
  if (todo.global_gradients) state_.sync.last_sync = batch;
  state_.losses.sum += loss;
  state_.losses.count += 1;
  if (todo.review) review();
  ++state_.batch;
  if (todo.drain) drain();
  if (phase() != before) record(DasoEvent::Kind::phase, state_.batch);
}

void DASO::average_gradients(bool globally) {
  failed_ = !replica_.average_gradients_over(globally ? Scope::all : Scope::node) || failed_;
  const auto& group = globally ? replica_.topology().comm() : replica_.topology().node();
  if (group.size() > 1) (globally ? counters_.global_bytes : counters_.node_bytes) += replica_.gradient_bytes();
  if (failed_ && (globally || nodes() == 1)) replica_.throw_not_finite("daso");
}

void DASO::start() {
  global_.start(failed_);
  state_.sync.flight = Flight{state_.batch, state_.sync.interval.wait};
  state_.sync.last_sync = state_.batch;
  ++counters_.starts;
  counters_.global_bytes += global_.bytes();
  record(DasoEvent::Kind::start, state_.batch);
}

void DASO::merge(std::int64_t age) {
  // A node that has not trained since has nothing of its own to keep.
  const MergeOptions replace{.policy = MergePolicy::alpha, .alpha = 0};
  const bool failed_somewhere = global_.finish(age == 0 ? replace : options_.merge, age);
  const auto started = state_.sync.flight->started;
  state_.sync.flight.reset();
  if (failed_somewhere) replica_.throw_not_finite("daso");
  ++counters_.merges;
  record(DasoEvent::Kind::merge, started + age, age);
}

void DASO::pool_losses() {
  auto& losses = state_.losses;
  std::array<double, 3> all{losses.sum, losses.count, failed_ ? 1.0 : 0.0};
  replica_.topology().comm().allreduce(all);
  if (all[2] > 0) replica_.throw_not_finite("daso");
  losses = {.pooled_sum = losses.pooled_sum + all[0], .pooled_count = losses.pooled_count + all[1]};
}

void DASO::review() {
  pool_losses();
  const auto loss = state_.losses.pooled_sum / state_.losses.pooled_count;
  state_.losses = {};
  // Plateaus count from the loss with which the cycle is entered.
  if (phase_of(state_.batch + 1, state_.sync.phases) != Phase::cycle || !detector_.update(loss)) return;
  state_.sync.interval = next_interval(state_.sync.interval, options_.interval);
  record(DasoEvent::Kind::interval, state_.batch);
}

void DASO::drain() {
  pool_losses();
  const auto last = state_.batch - 1;
  if (state_.sync.flight) merge(last - state_.sync.flight->started);
  average_everything();
  state_.sync.last_sync = last;
  ++counters_.drains;
  record(DasoEvent::Kind::drain, last);
}

void DASO::average_everything() {
  if (nodes() > 1) {
    auto tensors = replica_.parameters();
    const auto momenta = detail::state_tensors(optimizer_);
    tensors.insert(tensors.end(), momenta.begin(), momenta.end());
    detail::average(replica_.topology(), tensors);
    for (const auto& tensor : tensors) counters_.global_bytes += static_cast<std::int64_t>(tensor.nbytes());
  }
  replica_.average_buffers();
}

void DASO::cool_down() {
  if (phase() == Phase::cycle) drain();
  state_.sync.phases.total = state_.batch + state_.sync.phases.cooldown;
  record(DasoEvent::Kind::phase, state_.batch);
}

DASO::Counters DASO::counters() const {
  auto counters = counters_;
  counters.exposed_seconds = global_.exposed_seconds();
  return counters;
}

DasoState DASO::state() const {
  if (state_.sync.flight)
    raise<ValueError>("daso", "got a synchronisation under way since batch {}; expected none (call drain() first)",
                      state_.sync.flight->started);
  auto state = state_;
  state.plateau = detector_.state();
  return state;
}

void DASO::set_state(DasoState state) {
  if (state_.sync.flight)
    raise<ValueError>("daso", "got a synchronisation under way since batch {}; expected none (call drain() first)",
                      state_.sync.flight->started);
  state.sync.nodes = nodes();
  state.sync.review_every = options_.review_every;
  state.sync.flight.reset();
  detector_.set_state(state.plateau);
  state_ = std::move(state);
}

void DASO::record(DasoEvent::Kind kind, std::int64_t batch, std::int64_t age) {
  state_.events.push_back({batch, kind, phase(), state_.sync.interval, age});
}

std::string to_string(const DASO& daso) {
  const auto c = daso.counters();
  return fmt::format(
      "DASO: {}, batch {}, {} nodes, interval {}, wait {}, {} started, {} merged, {:.1f} MB in the node, {:.1f} MB "
      "global, {:.1f} ms exposed",
      to_string(daso.phase()), daso.batch(), daso.nodes(), daso.interval().batches, daso.interval().wait, c.starts,
      c.merges, static_cast<double>(c.node_bytes) * 1e-6, static_cast<double>(c.global_bytes) * 1e-6,
      c.exposed_seconds * 1e3);
}

}  // namespace heatpp::nn
