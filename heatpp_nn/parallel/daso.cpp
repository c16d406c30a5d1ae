#include <heatpp_nn/parallel/daso.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/parallel/detail/optimizer_state.hpp>
#include <heatpp_nn/parallel/detail/timed.hpp>
#include <heatpp_nn/training/detail/settings.hpp>

#include <torch/optim/optimizer.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace heatpp::nn {

using heatpp::detail::formatted;
using heatpp::detail::raise;

namespace {

const DasoOptions& checked(const DasoOptions& options, const Replica& replica, torch::optim::Optimizer& optimizer) {
  detail::check_agreed("daso", replica.topology().comm(), detail::settings_of(options), [&] {
    check(options);
    if (replica.shard() == Scope::all)
      raise<ValueError>("daso", "got a replica whose optimizer all ranks share; expected those of a node to do so");
    if (replica.shard() && (options.interval.local_skips || options.carriers == Carriers::rotating))
      raise<ValueError>(
          "daso",
          "got local skips or rotating carriers with a replica whose optimizer the ranks of a node share; "
          "expected neither");
  });
  replica.agree_on("daso", optimizer);
  (void)detail::slots_of(optimizer);
  return options;
}

constexpr std::size_t most_events = 8192;

/// Drops the first half of the starts and merges, because these are many.
void thin_out(std::vector<DasoEvent>& events) {
  auto count = std::ranges::count_if(events, &DasoEvent::is_synchronisation) / 2;
  std::erase_if(events, [&](const auto& event) { return event.is_synchronisation() && count-- > 0; });
}

/// Whether what one rank of a node sends and receives counts for the whole node.
bool share_results(const DasoOptions& options) {
  return !options.interval.local_skips || options.carriers == Carriers::rotating;
}

/// The loss influences the interval only if DASO does not tune itself, and no node waits for others.
std::int64_t review_every(const DasoOptions& options) {
  return options.tuning || options.patience ? std::numeric_limits<std::int64_t>::max() : options.review_every;
}

/// Returns the number of fragments that may travel one after another. A DASO that tunes itself begins with one.
std::int64_t cut_of(const DasoOptions& options) {
  return std::max(options.fragments, options.tuning ? options.tuning->fragments : 1);
}

GlobalOptions global_options(const DasoOptions& options) {
  return {.merge = options.merge,
          .carriers = options.carriers,
          .partners = options.partners,
          .wire = options.wire,
          .together = share_results(options),
          .nodes_count_alike = options.nodes_count_alike,
          .fragments = cut_of(options),
          .at_once = cut_of(options) > options.fragments,
          .patience = options.patience,
          .quorum = options.quorum,
          .tuned = options.tuning.has_value()};
}

}  // namespace

DASO::DASO(Replica& replica, torch::optim::Optimizer& optimizer, const DasoOptions& options)
    : replica_(replica),
      optimizer_(optimizer),
      options_(checked(options, replica, optimizer)),
      global_(std::in_place, replica.topology(), replica.flat(), replica.ownership().in_node, global_options(options)),
      detector_(options.plateau) {
  state_.sync = {.phases = options.phases,
                 .interval = options.interval.first,
                 .review_every = review_every(options),
                 .fragments = options.fragments,
                 .nodes = global_->nodes(),
                 .alone = options.merge.policy == MergePolicy::outer && !options.tuning};
  state_.wanted = options.interval.first;
  state_.tuning = {.interval = options.interval.first,
                   .wire = options.wire,
                   .policy = options.merge.policy,
                   .fragments = options.fragments};
  state_.asked = options.phases;
  record(DasoEvent::Kind::phase, 0);
  prepare();
}

void DASO::step(const at::Tensor& loss) { step(loss.item<double>()); }
void DASO::zero_grad() { optimizer_.zero_grad(); }

/// Sets the ranks over which the gradients of the next backward are averaged.
void DASO::prepare() {
  const auto todo = plan(state_.batch, state_.sync);
  replica_.send_gradients(todo.global_gradients ? std::optional(Scope::all)
                          : todo.node_gradients ? std::optional(Scope::node)
                                                : std::nullopt);
}

void DASO::step(double loss) {
  const auto batch = state_.batch;
  const auto todo = plan(batch, state_.sync);
  const auto before = phase();
  average_gradients(todo);
  update();
  global_->end_batch();
  if (options_.patience && nodes() > 1 && !todo.global_gradients) attend();
  else synchronise(todo);
  spread();
  if (todo.global_gradients) state_.sync.last_sync = batch;
  else ++counters_.cycle_batches;
  if (!replica_.idle()) state_.losses.add(loss);
  if (todo.review) review();
  ++state_.batch;
  if (todo.drain || (attends_ && phase() != Phase::cycle)) drain();
  else if (todo.global_gradients && phase() == Phase::cycle) global_->anchor();
  if (phase() != before) record(DasoEvent::Kind::phase, state_.batch);
  prepare();
}

/// Starts and merges the synchronisations that are due.
void DASO::synchronise(const SyncPlan& todo) {
  if (todo.merge) merge(state_.batch - state_.sync.flight->started);
  if (todo.start) start();
  if (todo.block) merge(0);
}

void DASO::average_gradients(const SyncPlan& todo) {
  const bool over_all = todo.global_gradients || (todo.node_gradients && nodes() == 1);
  const bool finite = options_.scaler ? options_.scaler->finish(replica_) : replica_.finish_gradients(1, state_.failed);
  left_out_ = !finite;
  if (!finite && !options_.scaler && !std::exchange(state_.failed, true)) bad_ = replica_.not_finite();
  const auto bytes = replica_.gradient_bytes();
  if (todo.global_gradients && replica_.topology().comm().size() > 1) counters_.global_bytes += bytes;
  if (todo.node_gradients && replica_.topology().node().size() > 1) counters_.node_bytes += bytes;
  if (state_.failed && over_all) replica_.throw_not_finite("daso", bad_);
}

void DASO::update() {
  if (left_out_) return;
  if (options_.max_norm) (void)replica_.clip_gradients(*options_.max_norm);
  replica_.check(optimizer_);
  optimizer_.step();
  shares_differ_ = shares_differ_ || replica_.shard();
}

/// If ranks have stepped or merged only their shares, gathers the shares in the node.
void DASO::spread() {
  if (!std::exchange(shares_differ_, false)) return;
  const detail::Timed timed(counters_.exposed_seconds);
  replica_.spread();
}

/// Gathers in the node the shares that were merged, at once or at the end of the batch.
void DASO::gather_merged() {
  if (replica_.shard()) shares_differ_ = true;
  else if (share_results(options_)) global_->gather();
}

void DASO::start() {
  global_->start(state_.failed);
  state_.sync.flight = Flight{state_.batch, state_.sync.interval.wait};
  state_.sync.last_sync = state_.batch;
  ++counters_.starts;
  counters_.global_bytes += global_->bytes();
  sent_bytes_ += global_->bytes();
  record(DasoEvent::Kind::start, state_.batch);
}

void DASO::merge(std::int64_t age) {
  const bool failed_somewhere = global_->finish(age);
  const auto started = state_.sync.flight->started;
  state_.sync.flight.reset();
  if (failed_somewhere) replica_.throw_not_finite("daso", bad_);
  gather_merged();
  ++counters_.merges;
  record(DasoEvent::Kind::merge, started + age, age);
  const auto costs = global_->costs();
  if (costs.batch > 0) state_.needed = batches_needed(costs);
  if (!options_.tuning) return fit();
  state_.tuning = tuned(state_.tuning, costs, *options_.tuning);
  go_on_with(state_.tuning);
  set_interval(state_.tuning.interval);
}

/// The loss decides on the interval, but the network may need a longer one.
void DASO::fit() {
  const bool known = options_.interval.measured && state_.needed > 0;
  set_interval(known ? fitted(state_.wanted, state_.needed, options_.fragments) : state_.wanted);
}

void DASO::set_interval(const Interval& interval) {
  if (interval == state_.sync.interval) return;
  state_.sync.interval = interval;
  record(DasoEvent::Kind::interval, state_.batch);
}

void DASO::pool_losses() {
  auto& losses = state_.losses;
  std::array<double, 3> all{losses.sum, losses.count, state_.failed ? 1.0 : 0.0};
  {
    const detail::Timed timed(counters_.exposed_seconds);
    replica_.topology().comm().allreduce(all);
  }
  if (all[2] > 0) replica_.throw_not_finite("daso", bad_);
  losses = {.pooled_sum = losses.pooled_sum + all[0], .pooled_count = losses.pooled_count + all[1]};
}

void DASO::review() {
  pool_losses();
  const auto loss = state_.losses.pooled_sum / state_.losses.pooled_count;
  state_.losses = {};
  // Plateaus count from the loss at the start of the cycle.
  if (phase_of(state_.batch + 1, state_.sync.phases) != Phase::cycle || !detector_.update(loss)) return;
  state_.wanted = next_interval(state_.wanted, options_.interval);
  fit();
}

void DASO::drain() {
  leave();
  {
    const detail::Timed timed(counters_.exposed_seconds);
    replica_.agree_on("daso", optimizer_);
  }
  pool_losses();
  const auto last = state_.batch - 1;
  if (state_.sync.flight) merge(last - state_.sync.flight->started);
  spread();
  average_everything();
  global_->anchor();
  state_.sync.last_sync = last;
  ++counters_.drains;
  record(DasoEvent::Kind::drain, last);
}

void DASO::average_everything() {
  const detail::Timed timed(counters_.exposed_seconds);
  if (nodes() > 1 || !keeps_nodes_equal()) {
    auto slots = detail::slots_of(optimizer_);
    // If the ranks of a node share the optimizer, its pieces are equal in all nodes.
    detail::complete(slots, optimizer_, replica_.shard() ? replica_.topology().across() : replica_.topology().comm());
    counters_.global_bytes += replica_.average_weights(detail::kept(slots));
    detail::set_slots(optimizer_, slots);
  }
  replica_.average_buffers();
  if (options_.scaler) options_.scaler->agree(replica_.topology().comm());
}

void DASO::cool_down() {
  replica_.send_gradients(Scope::all);
  if (phase() == Phase::cycle) drain();
  state_.sync.phases.total = state_.batch + state_.sync.phases.cooldown;
  record(DasoEvent::Kind::phase, state_.batch);
}

Tuning DASO::tuning() const {
  const auto& way = global_->options();
  return {state_.sync.interval, way.wire, way.merge.policy, state_.tuning.costs, fragments()};
}

DASO::Counters DASO::counters() const {
  auto counters = counters_;
  counters.exposed_seconds += global_->exposed_seconds();
  if (nodes() > 1) counters.saved_bytes = counters.cycle_batches * global_->full_bytes() - sent_bytes_;
  return counters;
}

void DASO::check_finite() const {
  std::array<std::int64_t, 1> failed{state_.failed};
  replica_.topology().comm().allreduce(failed, ReduceOp::max);
  if (failed[0] != 0) replica_.throw_not_finite("daso", bad_);
}

DasoState DASO::state() {
  leave();
  spread();
  global_->land();
  auto state = state_;
  state.plateau = detector_.state();
  state.memory = global_->state(state.sync.flight.has_value());
  const auto lost = replica_.residuals();
  state.memory.insert(state.memory.end(), lost.begin(), lost.end());
  if (options_.scaler) state.scaler = options_.scaler->state();
  return state;
}

std::vector<std::int64_t> DASO::kind() const {
  const std::int64_t tuned = -1;  // the rule and the wire are in the state
  std::vector<std::int64_t> kind{options_.tuning ? tuned : static_cast<std::int64_t>(options_.merge.policy),
                                 static_cast<std::int64_t>(options_.carriers),
                                 options_.tuning ? tuned : static_cast<std::int64_t>(options_.wire),
                                 options_.interval.local_skips};
  if (cut_of(options_) > 1) kind.push_back(cut_of(options_));
  if (options_.partners == Partners::pairs) kind.push_back(-1);
  if (options_.patience) kind.push_back(-2);
  return kind;
}

void DASO::go_on_with(const Tuning& tuning) {
  if (!options_.tuning) return;
  const bool cuts = options_.tuning->fragments > 1;
  const bool in_turns = cuts && tuning.fragments == options_.tuning->fragments;
  state_.sync.fragments = in_turns ? tuning.fragments : options_.fragments;
  global_->set_way(tuning.wire, tuning.policy, cuts && !in_turns);
}

void DASO::set_state(DasoState state) {
  global_->drop();
  go_on_with(state.tuning);
  const auto lost = replica_.residuals();
  if (state.memory.size() < lost.size())
    raise<ValueError>("daso", "got the memory of {} wires; expected {}", state.memory.size(), lost.size());
  const auto end = state.memory.end() - std::ssize(lost);
  global_->set_state({state.memory.begin(), end}, state.sync.flight.has_value());
  for (std::size_t i = 0; i < lost.size(); ++i) at::Tensor(lost[i]).copy_(end[static_cast<std::ptrdiff_t>(i)]);
  join(std::move(state));
}

void DASO::join_state(DasoState state) {
  global_->drop();
  go_on_with(state.tuning);
  state.sync.flight.reset();
  join(std::move(state));
  former_.reset();
  global_->anchor();
}

void DASO::rejoin(DasoState state) {
  global_.emplace(replica_.topology(), replica_.flat(), replica_.ownership().in_node, global_options(options_));
  state.sync.last_sync = state.batch - 1;
  state.memory.clear();
  join_state(std::move(state));
}

void DASO::join(DasoState state) {
  former_ = phase_of(state.batch, state.sync.phases);
  if (state.asked != options_.phases) state.sync.phases = options_.phases;
  state.asked = options_.phases;
  state.sync.review_every = review_every(options_);
  state.sync.fragments = state.tuning.fragments = state_.sync.fragments;
  state.sync.nodes = nodes();
  state.sync.alone = state_.sync.alone;
  // The training that wrote the state may have had local skips.
  for (auto* interval : {&state.sync.interval, &state.wanted, &state.tuning.interval})
    if (!options_.interval.local_skips) interval->local = 1;
  state.memory.clear();
  detector_.set_state(state.plateau);
  if (options_.scaler && state.scaler) options_.scaler->set_state(*state.scaler);
  state.failed = false;  // the weights are those before the gradient that was not finite
  bad_.clear();
  state_ = std::move(state);
  prepare();
}

void DASO::align() {
  const auto former = std::exchange(former_, std::nullopt);
  if (!former || *former == phase()) return;
  if (*former == Phase::cycle) drain();
  else if (phase() == Phase::cycle) global_->anchor();
  record(DasoEvent::Kind::phase, state_.batch);
}

void DASO::record(DasoEvent::Kind kind, std::int64_t batch, std::int64_t age) {
  if (state_.events.size() == most_events) thin_out(state_.events);
  state_.events.push_back({batch, kind, phase(), state_.sync.interval, age, 0});
  if (state_.events.back().is_synchronisation()) state_.events.back().fragment = global_->fragment();
}

std::string to_string(const DASO& daso) {
  const auto c = daso.counters();
  const auto way = daso.tuning();
  const auto batches = static_cast<double>(std::max<std::int64_t>(1, c.cycle_batches));
  const auto* const pairs = daso.partners() == Partners::pairs ? " in pairs" : "";
  const auto fragments = daso.fragments() == 1 ? std::string() : formatted(" in {} fragments", daso.fragments());
  return formatted(
      "DASO: {}, batch {}, {} nodes{}, interval {}, wait {}, {} of {}{}, {} started, {} merged, {:.1f} MB in the node, "
      "{:.1f} MB global, {:.1f} MB saved, {:.1f} ms exposed ({:.2f} ms a batch)",
      to_string(daso.phase()), daso.batch(), daso.nodes(), pairs, way.interval.batches, way.interval.wait,
      name(way.policy), name(way.wire), fragments, c.starts, c.merges, static_cast<double>(c.node_bytes) * 1e-6,
      static_cast<double>(c.global_bytes) * 1e-6, static_cast<double>(c.saved_bytes) * 1e-6, c.exposed_seconds * 1e3,
      c.exposed_seconds * 1e3 / batches);
}

void print(const DASO& daso) {
  if (daso.replica().topology().comm().rank() == 0) fmt::print("{}\n", to_string(daso));
}

}  // namespace heatpp::nn
