#include <heatpp/comm/detail/machine/channels.hpp>

#include <heatpp/comm/detail/impl.hpp>
#include <heatpp/comm/detail/shared/collectives.hpp>

#include <algorithm>

namespace heatpp::detail {
namespace {

constexpr auto room = static_cast<std::size_t>(Channels::slot_bytes + Channels::spare_bytes);

}  // namespace

std::unique_ptr<Channels> Channels::make(const Communicator& node, std::vector<std::int64_t> ranks) {
  if (!shares_memory(node)) return nullptr;
  const auto n = ranks.size();
  auto memory = SharedMemory::make(node, node.impl().node, n * count * (n * sizeof(Pair) + 2 * room));
  if (!memory) return nullptr;
  return std::unique_ptr<Channels>(
      new Channels(std::move(memory), static_cast<std::size_t>(node.rank()), std::move(ranks)));
}

Channels::Channels(std::unique_ptr<SharedMemory> memory, std::size_t rank, std::vector<std::int64_t> ranks)
    : memory_(std::move(memory)), rank_(rank), ranks_(ranks.size()) {
  places_.resize(static_cast<std::size_t>(*std::ranges::max_element(ranks)) + 1);
  for (std::size_t r = 0; r < ranks_; ++r) places_[static_cast<std::size_t>(ranks[r])] = r;
  for (auto& mine : mine_)
    for (auto* of_ranks : {&mine.sent, &mine.received, &mine.in_slot[0], &mine.in_slot[1]}) of_ranks->resize(ranks_);
}

bool Channels::open(std::uint64_t lane) const {
  return mine_[lane % count].ended.load(std::memory_order_acquire) == lane / count;
}

void Channels::close(std::uint64_t lane) {
  mine_[lane % count].ended.store(lane / count + 1, std::memory_order_release);
}

std::byte* Channels::slot(std::uint64_t lane) const {
  const auto& mine = mine_[lane % count];
  const auto& there = mine.in_slot[mine.steps % 2];
  for (std::size_t to = 0; to < ranks_; ++to)
    if (there[to] > pair(rank_, to, lane).read.load(std::memory_order_acquire)) return nullptr;
  return slot_of(rank_, lane, mine.steps);
}

void Channels::post(std::uint64_t lane, int to, std::size_t offset) {
  auto& mine = mine_[lane % count];
  const auto at = place(to);
  const auto number = ++mine.sent[at];
  mine.in_slot[mine.steps % 2][at] = number;
  auto& message = pair(rank_, at, lane);
  message.offsets[number % 2] = static_cast<std::uint64_t>(slot_of(rank_, lane, mine.steps) - memory_->data()) + offset;
  message.sent.store(number, std::memory_order_release);
}

const std::byte* Channels::received(std::uint64_t lane, int from) const {
  const auto at = place(from);
  const auto number = mine_[lane % count].received[at] + 1;
  const auto& message = pair(at, rank_, lane);
  return message.sent.load(std::memory_order_acquire) < number ? nullptr
                                                               : memory_->data() + message.offsets[number % 2];
}

void Channels::release(std::uint64_t lane, int from) {
  const auto at = place(from);
  pair(at, rank_, lane).read.store(++mine_[lane % count].received[at], std::memory_order_release);
}

Channels::Pair& Channels::pair(std::size_t from, std::size_t to, std::uint64_t lane) const {
  // Fresh pages are zero, so the counters start at zero.
  return reinterpret_cast<Pair*>(memory_->data())[(from * count + lane % count) * ranks_ + to];
}

std::byte* Channels::slot_of(std::size_t rank, std::uint64_t lane, std::uint64_t step) const {
  const auto number = (rank * count + lane % count) * 2 + step % 2;
  return memory_->data() + ranks_ * count * ranks_ * sizeof(Pair) + number * room;
}

}  // namespace heatpp::detail
