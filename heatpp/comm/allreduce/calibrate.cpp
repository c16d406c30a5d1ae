#include <heatpp/comm/allreduce/planned.hpp>
#include <heatpp/comm/detail/calibrate.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/progress/collective.hpp>
#include <heatpp/comm/detail/schedule/balance.hpp>
#include <heatpp/comm/detail/schedule/execution.hpp>
#include <heatpp/comm/detail/state.hpp>
#include <heatpp/comm/log.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>

namespace heatpp {
namespace {

using Cost = Calibration::Cost;
using Choice = Calibration::Choice;

constexpr double turn_seconds = 0.004;
constexpr double longest_seconds = detail::Turns{}.longest;  // stop before a size that takes the best longer than this
constexpr std::int64_t most_chunks = 64;
// Most networks send a message of this size without asking the receiver first.
constexpr std::int64_t short_message_bytes = 8 << 10;
constexpr std::int64_t memory_chunk_bytes = 128 << 10;
constexpr std::int64_t smallest_bytes = 64, largest_bytes = 16 << 20, growth = 8;

/// Every group reduces this many bytes through its shared memory, all groups at once. Returns the seconds of one of the
/// two halves.
double time_in_memory(const Topology& topology, int level, std::vector<std::byte>& data, std::int64_t bytes) {
  const auto& comm = topology.comm();
  const auto& state = topology.state();
  std::vector<int> ranks;
  for (const auto rank : topology.levels()[static_cast<std::size_t>(level)].group.allgather(comm.rank()))
    ranks.push_back(static_cast<int>(rank));
  auto schedule = comm::blueconnect(detail::flat_tree(ranks, level),
                                    {comm.rank(), bytes, 1, memory_chunk_bytes, {level, detail::Channels::slot_bytes}});
  const auto shared = std::make_shared<const detail::Schedule>(std::move(schedule));
  return detail::seconds_of(comm,
                            [&] {
                              detail::Execution both(comm, shared, {data.data(), bytes, uint8}, ReduceOp::max, {},
                                                     "calibrate", state.memory.channels);
                              detail::run(both);
                            }) /
         2;
}

std::vector<Cost> level_costs(const Topology& topology) {
  constexpr std::int64_t large = 1 << 20;
  std::vector<std::byte> out(large), in(large);
  std::vector<Cost> costs;
  for (std::size_t l = 0; l < topology.levels().size(); ++l) {
    const auto& level = topology.levels()[l];
    std::array<std::int64_t, 1> members{level.group.size()};
    topology.comm().allreduce(members, ReduceOp::max);
    if (members[0] == 1) continue;
    const bool in_memory = static_cast<int>(l) <= topology.state().memory.level;
    const auto seconds = [&](std::int64_t bytes) {
      return in_memory ? time_in_memory(topology, static_cast<int>(l), out, bytes)
                       : detail::seconds_of_round(topology.comm(), level.group,
                                                  std::span(out).first(static_cast<std::size_t>(bytes)), in);
    };
    // A rank sends all of the range that it reduces except its own share.
    const auto sent = in_memory ? large - large / members[0] : large;
    const auto latency = seconds(8);
    costs.push_back(detail::cost_of(level.name, latency, seconds(large), sent));
  }
  return costs;
}

/// Returns the algorithms that may be fastest for some size. Ordered sums are never among them. The order and the
/// chunks of blueconnect are its own ones and those that the costs of the levels suggest.
std::vector<Choice> contenders(const Topology& topology, std::span<const Cost> costs, std::int64_t bytes) {
  std::vector<Choice> all;
  for (const auto& algorithm : comm::algorithms()) {
    if (algorithm.name == "ordered" || (algorithm.fits && !algorithm.fits(topology))) continue;
    if (algorithm.name == "shared" && topology.state().nodes > 1) continue;
    if (algorithm.name == "nodes" && bytes > detail::small_bytes) continue;
    all.push_back({bytes, std::string(algorithm.name), 0});
    if (algorithm.schedule != &comm::blueconnect) continue;
    const auto extents = detail::extents_of(detail::without_single_children(topology.tree()));
    if (!extents) continue;
    auto best = detail::best_stages(*extents, costs, bytes);
    if (std::ranges::is_sorted(best.order)) best.order.clear();
    all.push_back({bytes, std::string(algorithm.name), best.chunk_bytes, 0, best.order});
    if (extents->size() > 1)
      for (const auto chunk : {std::int64_t{0}, best.chunk_bytes})
        all.push_back({bytes, std::string(algorithm.name), chunk, 0, {}, true});
    if (topology.state().nodes > 1) all.push_back({bytes, std::string(algorithm.name), 0, short_message_bytes});
    if (topology.state().nodes > 2) all.push_back({bytes, std::string(algorithm.name), 0, 0, {}, false, true});
  }
  return all;
}

std::vector<Choice> fastest(const Topology& topology, std::span<const Cost> costs) {
  std::vector<Choice> choices;
  std::vector<float> data(static_cast<std::size_t>(largest_bytes) / sizeof(float), 0);
  for (auto bytes = smallest_bytes; bytes <= largest_bytes; bytes *= growth) {
    auto least = std::numeric_limits<double>::max();
    for (const auto& contender : contenders(topology, costs, bytes)) {
      const comm::Plan plan{comm::choice_of(contender), contender.chunk_bytes, contender.message_bytes,
                            topology.state().memory};
      const auto seconds = detail::seconds_of(topology.comm(), [&] {
        detail::run(comm::start_planned(topology, {}, {data.data(), bytes / 4, float32}, plan));
      });
      if (seconds >= least) continue;
      if (least == std::numeric_limits<double>::max()) choices.emplace_back();
      least = seconds;
      choices.back() = contender;
    }
    choices.back().up_to_bytes = bytes * growth / 3;  // near the geometric mean of this size and the next
    if (least > longest_seconds) break;
  }
  choices.back().up_to_bytes = std::numeric_limits<std::int64_t>::max();
  return choices;
}

}  // namespace

double detail::seconds_of(const Communicator& comm, const std::function<void()>& call, const Turns& turns) {
  double best = std::numeric_limits<double>::max();
  std::int64_t calls = 1;
  for (int turn = 0; turn <= turns.count; ++turn) {
    comm.barrier();
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < calls; ++i) call();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    std::array<double, 1> seconds{passed.count() / static_cast<double>(calls)};
    comm.allreduce(seconds, ReduceOp::max);
    if (turn > 0) best = std::min(best, seconds[0]);  // the first turn warms up, and says how many calls make a turn
    calls = std::clamp<std::int64_t>(static_cast<std::int64_t>(turn_seconds / seconds[0]), 1, turns.most_calls);
    if (seconds[0] > turns.longest) return std::min(best, seconds[0]);
  }
  return best;
}

double detail::seconds_of_round(const Communicator& comm, const Communicator& group, std::span<const std::byte> out,
                                std::span<std::byte> in, const Turns& turns) {
  const auto p = static_cast<std::size_t>(group.size()), me = static_cast<std::size_t>(group.rank());
  const auto bytes = std::ssize(out);
  std::vector<ConstBlock> send(p);
  std::vector<Block> receive(p);
  if (p > 1) {
    send[(me + 1) % p] = {out.data(), 1, bytes, bytes};
    receive[(me + p - 1) % p] = {in.data(), 1, bytes, bytes};
  }
  return seconds_of(
      comm, [&] { group.exchange(send, receive); }, turns);
}

const Calibration& Topology::calibrate() {
  state_->calibration = {};
  if (comm_.size() == 1) return state_->calibration;
  state_->calibration.costs = level_costs(*this);
  state_->calibration.choices = fastest(*this, state_->calibration.costs);
  log(LogLevel::info, "calibrated:\n" + comm::describe(*this));
  return state_->calibration;
}

Cost detail::cost_of(const std::string& level, double latency, double passed, std::int64_t bytes) {
  // On a busy machine the short message may have taken as long as the long one.
  const auto transfer = passed > 2 * latency ? passed - latency : passed;
  return {level, latency, static_cast<double>(bytes) / transfer};
}

detail::Stages detail::best_stages(std::span<const std::size_t> extents, std::span<const Cost> costs,
                                   std::int64_t bytes) {
  Stages best;
  std::vector<int> order(extents.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    for (std::int64_t chunks = 1; chunks <= most_chunks; chunks *= 2) {
      const auto chunk = (bytes + chunks - 1) / chunks;
      const auto loads = loads_of(extents, costs, order, chunk);
      const auto sum = std::reduce(loads.begin(), loads.end()), longest = std::ranges::max(loads);
      const auto seconds = sum + static_cast<double>(chunks - 1) * longest;
      if (seconds < best.seconds) best = {order, chunk, seconds};
    }
  } while (std::ranges::next_permutation(order).found);
  return best;
}

}  // namespace heatpp
