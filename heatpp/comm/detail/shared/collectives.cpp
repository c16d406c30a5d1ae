#include <heatpp/comm/detail/shared/collectives.hpp>

#include <heatpp/comm/detail/checks.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/schedule/combine.hpp>
#include <heatpp/comm/detail/shared/rounds.hpp>
#include <heatpp/comm/detail/state.hpp>

#include <algorithm>
#include <cstring>

namespace heatpp::detail {
namespace {

std::int64_t rounds_for(std::int64_t bytes, std::int64_t capacity) { return (bytes + capacity - 1) / capacity; }

/// The bytes of a run of memory that go through one slot.
struct Span {
  std::byte* data;
  std::size_t bytes;
};
Span span_of(const Buffer& data, std::int64_t chunk, std::int64_t capacity) {
  const auto first = std::min(chunk * capacity, data.bytes());
  return {static_cast<std::byte*>(data.data) + first,
          static_cast<std::size_t>(std::min(capacity, data.bytes() - first))};
}

void lay(const Span& piece, std::byte* slot) {
  if (piece.bytes > 0) std::memcpy(slot, piece.data, piece.bytes);
}
void take(const std::byte* slot, const Span& piece) {
  if (piece.bytes > 0) std::memcpy(piece.data, slot, piece.bytes);
}

/// Reads the value with that number from each rank's slot.
void take_values(const auto& slots, std::size_t number, std::span<std::int64_t> values) {
  constexpr auto bytes = sizeof(std::int64_t);
  for (std::size_t rank = 0; rank < values.size(); ++rank)
    std::memcpy(&values[rank], slots(static_cast<int>(rank)) + number * bytes, bytes);
}

// The space before an allgather's data in each slot, which keeps them aligned.
constexpr std::int64_t header_bytes = 64;

Buffer part_of(const Buffer& all, const Range& part) { return {address(all, part.first), part.count, all.dtype}; }

}  // namespace

void share_memory(const Communicator& comm) {
  auto& impl = comm.impl();
  if (impl.size == 1) return;
  if (impl.settings->shared_memory) impl.segment = Segment::make(comm, impl.node);
  if (!impl.segment || !impl.settings->topology.empty()) find_topology(comm);
}
bool shares_memory(const Communicator& comm) { return comm.impl().segment != nullptr; }

std::unique_ptr<Operation> shared_barrier(const Communicator& comm) {
  const auto nothing = [](auto&&...) {};
  return rounds(comm, 1, {}, nothing, nothing);
}

std::unique_ptr<Operation> shared_broadcast(const Communicator& comm, Buffer data, int root) {
  const auto capacity = comm.impl().segment->slot_bytes();
  return rounds(
      comm, rounds_for(data.bytes(), capacity), {.lays = root},
      [=](std::int64_t chunk, std::byte* slot) { lay(span_of(data, chunk, capacity), slot); },
      [=, mine = comm.rank() == root](std::int64_t chunk, const auto& slots) {
        if (!mine) take(slots(root), span_of(data, chunk, capacity));
      });
}

std::unique_ptr<Operation> shared_scan(const Communicator& comm, Buffer data, ReduceOp op, bool inclusive) {
  const auto capacity = comm.impl().segment->slot_bytes();
  const auto item = static_cast<std::int64_t>(itemsize(data.dtype));
  return rounds(
      comm, rounds_for(data.bytes(), capacity), {},
      [=](std::int64_t chunk, std::byte* slot) { lay(span_of(data, chunk, capacity), slot); },
      [=, rank = comm.rank(), operands = std::vector<const void*>()](std::int64_t chunk, const auto& slots) mutable {
        const auto piece = span_of(data, chunk, capacity);
        operands.clear();
        for (int before = 0; before < rank; ++before) operands.push_back(slots(before));
        if (inclusive) operands.push_back(piece.data);
        if (!operands.empty())
          combine(op, data.dtype, operands, piece.data, static_cast<std::int64_t>(piece.bytes) / item);
      });
}

std::unique_ptr<Operation> shared_allgather(const Communicator& comm, Buffer all, std::span<const std::int64_t> counts,
                                            const char* op, std::string wrong) {
  const auto capacity = comm.impl().segment->slot_bytes() - header_bytes;
  const auto item = static_cast<std::int64_t>(itemsize(all.dtype));
  const auto count = std::max<std::int64_t>(rounds_for(std::ranges::max(counts) * item, capacity), 1);
  const auto all_right = std::make_shared<bool>(true);
  auto gather = rounds(
      comm, count, {},
      [=, right = wrong.empty(), mine = part_of(all, parts_of(counts)[static_cast<std::size_t>(comm.rank())])](
          std::int64_t chunk, std::byte* slot) {
        std::memcpy(slot, &right, sizeof right);
        if (right) lay(span_of(mine, chunk, capacity), slot + header_bytes);
      },
      [=, me = static_cast<std::size_t>(comm.rank()), parts = parts_of(counts)](std::int64_t chunk, const auto& slots) {
        for (std::size_t rank = 0; rank < parts.size(); ++rank) {
          const auto* const slot = slots(static_cast<int>(rank));
          bool right = true;
          std::memcpy(&right, slot, sizeof right);
          *all_right = *all_right && right;
          if (rank != me) take(slot + header_bytes, span_of(part_of(all, parts[rank]), chunk, capacity));
        }
      });
  return then(std::move(gather), [op, all_right, wrong = std::move(wrong)] {
    if (!wrong.empty()) raise<ValueError>(op, "{}", wrong);
    if (!*all_right) raise<ValueError>(op, "got wrong arguments on another rank; expected right ones on all");
  });
}

std::unique_ptr<Operation> shared_allgather(const Communicator& comm, std::int64_t value, std::span<std::int64_t> all) {
  return rounds(
      comm, 1, {}, [=](std::int64_t, std::byte* slot) { std::memcpy(slot, &value, sizeof value); },
      [=](std::int64_t, const auto& slots) { take_values(slots, 0, all); });
}

std::unique_ptr<Operation> shared_place(const Communicator& comm, std::span<std::int64_t, 2> numbers) {
  return rounds(
      comm, 1, {}, [=](std::int64_t, std::byte* slot) { std::memcpy(slot, &numbers[1], sizeof numbers[1]); },
      [=, me = comm.rank(), ranks = comm.size()](std::int64_t, const auto& slots) {
        std::uint64_t sum = 0;  // unsigned, so that an overflow wraps
        for (int rank = 0; rank < ranks; ++rank) {
          if (rank == me) numbers[0] = static_cast<std::int64_t>(sum);
          std::uint64_t count = 0;
          std::memcpy(&count, slots(rank), sizeof count);
          sum += count;
        }
        numbers[1] = static_cast<std::int64_t>(sum);
      });
}

std::unique_ptr<Operation> shared_alltoall(const Communicator& comm, std::span<const std::int64_t> values,
                                           std::span<std::int64_t> received) {
  const auto bytes = values.size_bytes();
  if (!shares_memory(comm) || static_cast<std::int64_t>(bytes) > comm.impl().segment->slot_bytes()) return nullptr;
  return rounds(
      comm, 1, {}, [=](std::int64_t, std::byte* slot) { std::memcpy(slot, values.data(), bytes); },
      [=, me = static_cast<std::size_t>(comm.rank())](std::int64_t, const auto& slots) {
        take_values(slots, me, received);
      });
}

std::unique_ptr<Operation> shared_records(const Communicator& comm, void* records, std::int64_t count,
                                          std::int64_t bytes, Communicator::Merge merge) {
  if (!shares_memory(comm) || bytes > comm.impl().segment->slot_bytes()) return nullptr;
  const auto each = comm.impl().segment->slot_bytes() / bytes;  // records in a round
  const Buffer data{records, count * bytes, Dtype::int8};
  return rounds(
      comm, rounds_for(count, each), {},
      [=](std::int64_t chunk, std::byte* slot) { lay(span_of(data, chunk, each * bytes), slot); },
      [=, last = comm.size() - 1](std::int64_t chunk, const auto& slots) {
        const auto piece = span_of(data, chunk, each * bytes);
        take(slots(last), piece);
        for (int rank = last; rank-- > 0;)
          merge(slots(rank), piece.data, static_cast<std::int64_t>(piece.bytes) / bytes);
      });
}

}  // namespace heatpp::detail
