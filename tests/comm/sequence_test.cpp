// Runs collectives of every kind one after another; their messages and memory must not mix.
#include "../catch.hpp"

#include <heatpp/comm/communicator.hpp>

#include <algorithm>
#include <numeric>
#include <random>

namespace ht = heatpp;

namespace {

// Sizes: nothing, a little, one slot of shared memory, and several slots.
constexpr std::array<std::int64_t, 7> sizes{0, 1, 7, 1000, 16384, 16385, 150000};

/// Returns a number that is unique to element i of that rank in that call.
std::int64_t element(std::int64_t call, int rank, std::int64_t i) { return (call * 64 + rank) * 1000003 + i; }

std::vector<std::int64_t> elements(std::int64_t call, int rank, std::int64_t count) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) all[static_cast<std::size_t>(i)] = element(call, rank, i);
  return all;
}
/// Returns the sum over ranks `first` to `last` - 1.
std::vector<std::int64_t> sum_of(std::int64_t call, int first, int last, std::int64_t count) {
  std::vector<std::int64_t> sum(static_cast<std::size_t>(count));
  for (int rank = first; rank < last; ++rank) {
    const auto one = elements(call, rank, count);
    std::ranges::transform(sum, one, sum.begin(), std::plus<>());
  }
  return sum;
}

/// Calls one collective, the same on all ranks, and returns whether its result is right.
class Calls {
 public:
  explicit Calls(const ht::Communicator& comm) : comm_(comm), random_(7) {}

  bool next() {
    const auto kind = random_() % 9;
    const auto count = sizes[random_() % sizes.size()];
    const auto root = static_cast<int>(random_() % static_cast<unsigned>(comm_.size()));
    ++call_;
    auto mine = elements(call_, comm_.rank(), count);
    switch (kind) {
      case 0: return comm_.barrier(), true;
      case 1: return comm_.allreduce(mine), mine == sum_of(call_, 0, comm_.size(), count);
      case 2: return comm_.broadcast(mine, root), mine == elements(call_, root, count);
      case 3: return comm_.scan(mine), mine == sum_of(call_, 0, comm_.rank() + 1, count);
      case 4: return comm_.exscan(mine), comm_.rank() == 0 || mine == sum_of(call_, 0, comm_.rank(), count);
      case 5: return allgather(count);
      case 6: return values(root);
      case 7: return records(std::move(mine));
      default: return at_once(std::move(mine), root);
    }
  }

 private:
  bool allgather(std::int64_t count) {
    std::vector<std::int64_t> counts, expected;
    for (int rank = 0; rank < comm_.size(); ++rank) {
      counts.push_back(rank % 3 * count);
      const auto part = elements(call_, rank, counts.back());
      expected.insert(expected.end(), part.begin(), part.end());
    }
    const auto mine = elements(call_, comm_.rank(), counts[static_cast<std::size_t>(comm_.rank())]);
    std::vector<std::int64_t> all(expected.size());
    comm_.allgather(mine, all, counts);
    return all == expected;
  }

  bool values(int factor) {
    const auto ranks = comm_.size();
    std::vector<std::int64_t> out, in, all;
    for (int rank = 0; rank < ranks; ++rank) {
      out.push_back(element(call_, comm_.rank(), rank));
      in.push_back(element(call_, rank, comm_.rank()));
      all.push_back(element(call_, rank, factor));
    }
    return comm_.allgather(element(call_, comm_.rank(), factor)) == all && comm_.alltoall(out) == in;
  }

  /// Merges by the record of the later rank, which shows the order.
  bool records(std::vector<std::int64_t> mine) {
    const auto even = static_cast<std::int64_t>(mine.size() / 2);
    mine.resize(static_cast<std::size_t>(2 * even));
    comm_.allreduce_records(mine.data(), even, 16, [](const void* in, void* inout, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i)
        static_cast<std::int64_t*>(inout)[2 * i] = static_cast<const std::int64_t*>(in)[2 * i];
    });
    const auto first = elements(call_, 0, 2 * even), last = elements(call_, comm_.size() - 1, 2 * even);
    for (std::size_t i = 0; i < mine.size(); i += 2)
      if (mine[i] != first[i] || mine[i + 1] != last[i + 1]) return false;
    return true;
  }

  /// Runs two at a time with one that blocks; they are waited for in another order.
  bool at_once(std::vector<std::int64_t> sum, int root) {
    const auto count = std::ssize(sum);
    auto copy = sum, before = sum;
    auto reduced = comm_.iallreduce(sum);
    auto copied = comm_.ibroadcast(copy, root);
    comm_.scan(before);
    copied.wait();
    reduced.wait();
    return sum == sum_of(call_, 0, comm_.size(), count) && copy == elements(call_, root, count) &&
           before == sum_of(call_, 0, comm_.rank() + 1, count);
  }

  const ht::Communicator& comm_;
  std::mt19937 random_;
  std::int64_t call_ = 0;
};

}  // namespace

TEST_CASE("collectives one after another do not meet", "[comm][sequence]") {
  const auto& world = ht::world();
  Calls calls(world);
  int wrong = 0;
  for (int call = 0; call < 300; ++call) wrong += !calls.next();
  CHECK(wrong == 0);
}

TEST_CASE("collectives of groups that overlap do not meet", "[comm][sequence]") {
  const auto& world = ht::world();
  const auto half = *world.split(world.rank() % 2), reversed = *world.split(0, -world.rank());
  Calls all(world), some(half), back(reversed);
  int wrong = 0;
  for (int call = 0; call < 60; ++call) wrong += !some.next() + !all.next() + !back.next();
  CHECK(wrong == 0);
}
