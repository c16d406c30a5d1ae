#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/schedule/execution.hpp>

#include <algorithm>
#include <cstring>

namespace heatpp::detail {
namespace {

// Messages begin at multiples of this, the size of the largest element.
constexpr std::size_t alignment = 16;

/// Calls f(range) for each message of the step to the peer of the one at `first`.
template <class F>
void for_each_to_same(const Step& step, std::size_t first, F f) {
  for (std::size_t i = first; i < step.sends.size(); ++i)
    if (step.sends[i].peer == step.sends[first].peer) f(step.sends[i].range);
}

bool is_first_to_peer(const Step& step, std::size_t index) {
  const auto before = std::span(step.sends).first(index);
  return std::ranges::find(before, step.sends[index].peer, &Message::peer) == before.end();
}

/// Whether both peers get the same messages.
bool same_messages(const Step& step, std::size_t a, std::size_t b) {
  std::size_t i = a, j = b;
  const auto next = [&](std::size_t& at, std::size_t of) {
    while (at < step.sends.size() && step.sends[at].peer != step.sends[of].peer) ++at;
    return at < step.sends.size();
  };
  for (;; ++i, ++j) {
    const bool more_of_a = next(i, a), more_of_b = next(j, b);
    if (more_of_a != more_of_b) return false;
    if (!more_of_a) return true;
    if (step.sends[i].range != step.sends[j].range) return false;
  }
}

}  // namespace

/// Writes what it sends where the peers read it; what several peers get, once. Returns whether there is room.
bool Execution::post_in_memory(Active& active, const Step& step) {
  if (step.sends.empty()) return true;
  const auto lane = number(active);
  auto* const slot = channels_->slot(lane);
  if (!slot) return false;
  std::size_t end = 0, latest = 0, latest_at = 0;
  for (std::size_t i = 0; i < step.sends.size(); ++i) {
    if (!is_first_to_peer(step, i)) continue;
    if (i == 0 || !same_messages(step, latest, i)) {
      latest = i;
      latest_at = end;
      end = lay_out(active, step, i, slot, end);
    }
    for_each_to_same(step, i, [&](Range range) {
      ++active.messages_sent;
      active.bytes_sent += range.count * static_cast<std::int64_t>(itemsize(data_.dtype));
    });
    channels_->post(lane, step.sends[i].peer, latest_at);
  }
  channels_->turn_over(lane);
  return true;
}

/// Writes messages and returns where the next ones may begin.
std::size_t Execution::lay_out(Active& active, const Step& step, std::size_t first, std::byte* slot, std::size_t at) {
  for_each_to_same(step, first, [&](Range range) {
    const auto bytes = static_cast<std::size_t>(range.count) * itemsize(data_.dtype);
    if (at + bytes > static_cast<std::size_t>(Channels::slot_bytes + Channels::spare_bytes))
      raise<CommError>(call_, "got {} bytes for shared memory in a step; expected at most {}", at + bytes,
                       Channels::slot_bytes + Channels::spare_bytes);
    std::memcpy(slot + at, address(active, range), bytes);
    at += bytes;
  });
  return (at + alignment - 1) / alignment * alignment;
}

bool Execution::arrived_in_memory(const Active& active, const Step& step) const {
  const auto has_sent = [&](int peer) { return channels_->received(number(active), peer) != nullptr; };
  return std::ranges::all_of(step.receives, [&](const Message& message) { return has_sent(message.peer); }) &&
         std::ranges::all_of(step.sums, [&](const Sum& sum) { return std::ranges::all_of(sum.peers, has_sent); });
}

/// Returns the peer's message in the step after those already read.
const std::byte* Execution::next_from(const Active& active, int peer, std::int64_t bytes) {
  auto from = std::ranges::find(read_, peer, &std::pair<int, std::int64_t>::first);
  if (from == read_.end()) from = read_.insert(from, {peer, 0});
  const auto at = std::exchange(from->second, from->second + bytes);
  return channels_->received(number(active), peer) + at;
}

void Execution::finish_in_memory(const Active& active, const Step& step) {
  const auto item = static_cast<std::int64_t>(itemsize(data_.dtype));
  for (const auto& sum : step.sums) {
    for (const auto peer : sum.peers) operands_.push_back(next_from(active, peer, sum.range.count * item));
    combine_operands(active, sum);
  }
  for (const auto& message : step.receives) {
    const auto bytes = message.range.count * item;
    std::memcpy(address(active, message.range), next_from(active, message.peer, bytes),
                static_cast<std::size_t>(bytes));
  }
  for (const auto& [peer, bytes] : read_) channels_->release(number(active), peer);
  read_.clear();
}

}  // namespace heatpp::detail
