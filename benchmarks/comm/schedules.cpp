// Counts the memory allocations for making the schedules of a rank among 8 to 512, and for taking them from the cache:
// a line of JSON for each. Exits with 1 if they grow faster than the messages.
#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/schedule/cache.hpp>

#include <fmt/format.h>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <new>

namespace {
std::size_t allocations = 0;
}

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const block = std::malloc(bytes)) return block;
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

namespace {

namespace ht = heatpp;
using namespace ht::detail;

constexpr std::int64_t even = std::int64_t{1} << 22, uneven = even + 3;  // elements of 4 bytes
constexpr int node = 4;                                                  // ranks
constexpr std::int64_t slices = 16;

Tree nodes_of_four(int ranks) { return grid_of(std::array{ranks / node, node}); }

Parts parts_of(std::int64_t count, int ranks) {
  Parts parts;
  for (int r = 0; r < ranks; ++r)
    parts.push_back({part_of({0, count}, static_cast<std::size_t>(r), static_cast<std::size_t>(ranks)), r});
  return parts;
}

using MakeSteps = Steps (*)(const Tree& tree, std::span<const Owned> parts, int rank, const NodeMemory& memory);
Schedule on_parts(const Tree& machine, std::int64_t count, int ranks, MakeSteps make) {
  const auto parts = parts_of(count, ranks);
  const auto factors = factored(machine);
  return in_slices(parts, slices, [&](std::span<const Owned> slice) { return make(factors, slice, ranks / 2, {}); });
}

struct Kind {
  const char* name;
  Schedule (*make)(const Tree& machine, int ranks);
  std::size_t most_per_rank;  ///< limits of allocations, and of their growth for twice as many ranks
};
const Kind kinds[] = {
    {"reduce_scatter",
     [](const Tree& machine, int ranks) { return on_parts(machine, even, ranks, &reduce_scatter_steps); }, 10},
    {"allgather", [](const Tree& machine, int ranks) { return on_parts(machine, even, ranks, &allgather_steps); }, 10},
    {"reduce_scatter of uneven parts",
     [](const Tree& machine, int ranks) { return on_parts(machine, uneven, ranks, &reduce_scatter_steps); },
     slices * 10},
    {"allgather of uneven parts",
     [](const Tree& machine, int ranks) { return on_parts(machine, uneven, ranks, &allgather_steps); }, slices * 10},
    {"blueconnect",
     [](const Tree& machine, int ranks) {
       return ht::comm::blueconnect(machine, {ranks / 2, even, 4});
     },
     10},
};

/// Returns whether the allocations stay within the limits.
bool measure(const Kind& kind, int ranks) {
  const auto machine = nodes_of_four(ranks);
  ScheduleCache cache;
  ScheduleCache::Key key(static_cast<std::size_t>(ranks), even / ranks);
  const auto counted = [&] {
    const auto before = allocations;
    static_cast<void>(cache.get(key, [&] { return kind.make(machine, ranks); }));
    return allocations - before;
  };
  const auto begin = std::chrono::steady_clock::now();
  const auto made = counted();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  const auto again = counted();
  const auto doublings = static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(ranks)));
  const auto most = kind.most_per_rank * (static_cast<std::size_t>(ranks) + 10 * doublings);
  fmt::print(
      "{{\"schedule\": \"{}\", \"ranks\": {}, \"allocations\": {}, \"most\": {}, \"again\": {}, \"seconds\": "
      "{:.3e}}}\n",
      kind.name, ranks, made, most, again, passed.count());
  return made <= most && again <= 1;
}

}  // namespace

int main() {
  bool few = true;
  for (const auto& kind : kinds)
    for (int ranks = 8; ranks <= 512; ranks *= 2) few = measure(kind, ranks) && few;
  return few ? 0 : 1;
}
