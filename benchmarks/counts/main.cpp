// Plays one rank of 1024, 16,384 and 131,072, and counts what each mechanism sends and holds beside its formula: a line
// of JSON for each. Exits with 1 if a count exceeds its formula. benchmarks/run scale.counts starts it.
#include "memory.hpp"
#include "paths.hpp"

#include "../../tests/comm/one_rank/one_rank.hpp"

#include <heatpp/comm/detail/numbers/place.hpp>
#include <heatpp/comm/detail/progress/exchange.hpp>
#include <heatpp/comm/detail/progress/roll_call.hpp>
#include <heatpp/comm/detail/state.hpp>
#include <heatpp/core/detail/peers/row_lists.hpp>
#include <heatpp/core/detail/peers/whole_by_sum.hpp>
#include <heatpp/heatpp.hpp>
#include <heatpp/interop/mpi.hpp>
#include <heatpp/linalg/decompositions/detail/triangles.hpp>
#include <heatpp/ops/calculus/detail/triangle_by_pairs.hpp>

#include <fmt/format.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace {

namespace ht = heatpp;
namespace detail = ht::detail;

constexpr std::int64_t n = 256, b = 4, K = 1024;

/// Returns a communicator of a rank with two neighbors, or of another one.
ht::Communicator communicator_of(int ranks, std::optional<int> rank = std::nullopt) {
  one_rank::become(rank.value_or(ranks - 2), ranks);
  return ht::from_mpi(MPI_COMM_WORLD);
}

/// Returns n elements for each rank, but one more or less for the first two.
std::vector<std::int64_t> counts_of(int ranks) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks), n);
  ++counts[0];
  --counts[1];
  return counts;
}

/// Returns how many ranks are in each of about as many groups.
int group_of(int ranks) { return static_cast<int>(std::ceil(std::sqrt(ranks))); }

struct Setup {
  ht::Communicator comm, leaders, nodes;
  int ranks = comm.size();
  std::int64_t P = ranks, L = std::bit_width(static_cast<unsigned>(ranks - 1));
  std::int64_t A = L + std::max<std::int64_t>(0, L - 14);
  std::vector<std::int64_t> counts = counts_of(ranks);
  std::vector<float> memory = std::vector<float>(n, 1);
  ht::DNDarray line = ht::remainder(ht::arange(n * P, {.dtype = ht::float32, .split = 0}), n),
               wide = line.astype(ht::float64), x = ht::ones({b * P, P}, {.split = 0});
  ht::Layout uneven = ht::Layout::from_counts({0}, 0, counts), again = ht::Layout::from_counts({0}, 0, counts);
  ht::DNDarray jagged = ht::redistribute(line, counts);
  ht::Topology topology{comm, {.shape = {ranks / 64, 8, 8}}};
  ht::DNDarray y = ht::ones({b * P, P}, {.split = 0, .comm = nodes});
  ht::Communicator of_0 = communicator_of(ranks, 0), last = communicator_of(ranks, ranks - 1),
                   first_of_group = communicator_of(ranks, group_of(ranks));
  ht::sparse::DCSRMatrix matrix = paths::sparse_rows(comm);
  std::int64_t G = group_of(ranks);
  std::shared_ptr<paths::QuotedFile> csv = std::make_shared<paths::QuotedFile>(comm);
  std::shared_ptr<paths::Checkpoint> checkpoint = std::make_shared<paths::Checkpoint>(ranks);
};

Setup setup_of(int ranks) {
  const auto leaders = communicator_of(ranks / 64), comm = communicator_of(ranks), nodes = communicator_of(ranks);
  detail::find_topology(nodes, {.shape = {ranks / 64, 64}});
  ht::use_comm(comm);
  return {comm, leaders, nodes};
}

std::vector<double> reduced(const ht::Communicator& comm, std::size_t count) {
  std::vector<double> data(count, 1);
  comm.allreduce(data);
  return data;
}
std::vector<double> reduced(const ht::Topology& topology, std::size_t count, std::string_view algorithm) {
  std::vector<double> data(count, 1);
  topology.allreduce(data, {.algorithm = algorithm});
  return data;
}

/// Compares a call with the calls of all other ranks.
std::shared_ptr<detail::RollCall> compared(const ht::Communicator& comm) {
  const detail::Fingerprint call({"allreduce", 1, ht::float64}, std::source_location::current(), "");
  auto calls = std::make_shared<detail::RollCall>(comm, call);
  while (!calls->ended()) {
  }
  calls->check();
  return calls;
}

/// Lets other ranks have one of about n elements less, every other one.
template <class F>
auto with_uneven_counts(F call) {
  one_rank::let_ranks_say([](one_rank::Call what, int, std::span<std::byte> part) {
    if (what == one_rank::Call::broadcast || part.size() % sizeof(std::int64_t) != 0) return;
    for (std::size_t i = 0; i < part.size(); i += 2 * sizeof(std::int64_t)) {
      std::int64_t count = 0;
      std::memcpy(&count, &part[i], sizeof count);
      if (count >= n - 4 && count <= n) --count;
      std::memcpy(&part[i], &count, sizeof count);
    }
  });
  auto result = call();
  one_rank::let_ranks_say({});
  return result;
}

std::vector<std::byte> with_neighbors(const ht::Communicator& comm) {
  std::vector<std::byte> memory(4096);
  detail::Sends send;
  detail::Receives receive;
  for (const int step : {-1, 1}) {
    send.push_back({comm.rank() + step, {memory.data(), 1, 1024, 1024}});
    receive.push_back({comm.rank() + step, {memory.data() + 2048, 1, 512, 512}});
  }
  detail::exchange_with(comm, send, receive);
  return memory;
}

/// Makes the plan of a domain whose first axis is cut by the ranks into bricks of 2 x 2 x 2 cells.
std::shared_ptr<ht::BlockPlan> with_bricks(const Setup& setup) {
  one_rank::let_ranks_say([](one_rank::Call call, int rank, std::span<std::byte> part) {
    if (call != one_rank::Call::allgather) return;
    const std::int64_t first = 2 * rank;
    std::memcpy(part.data(), &first, sizeof first);
  });
  auto plan = std::make_shared<ht::BlockPlan>(ht::Shape{2 * setup.P, 2, 2},
                                              std::vector<ht::Brick>{{{2 * setup.comm.rank(), 0, 0}, {2, 2, 2}}},
                                              ht::float32, ht::BlockOptions{.split = 0});
  one_rank::let_ranks_say({});
  return plan;
}

struct Counts {
  std::int64_t messages, bytes, collectives, collective_bytes, kept, peak;
  [[nodiscard]] bool within(const Counts& most) const {
    return messages <= most.messages && bytes <= most.bytes && collectives <= most.collectives &&
           collective_bytes <= most.collective_bytes && kept <= most.kept && peak <= most.peak;
  }
};
struct Row {
  const char *what, *formula;
  Counts (*most)(const Setup&);
  std::shared_ptr<void> (*call)(const Setup&);
};

/// Keeps the result of a call, so that its memory counts.
template <class F>
std::shared_ptr<void> kept(F call) {
  return std::make_shared<std::decay_t<decltype(call())>>(call());
}

#define NAMES                                                                                                       \
  [[maybe_unused]] const auto& [comm, leaders, nodes, ranks, P, L, A, counts, memory, line, wide, x, uneven, again, \
                                jagged, topology, y, of_0, last, first_of_group, matrix, G, csv, checkpoint] = setup
#define ROW(what, messages, bytes, collectives, collective_bytes, kept_bytes, peak_bytes, ...)                \
  Row{what, #messages ", " #bytes ", " #collectives ", " #collective_bytes ", " #kept_bytes ", " #peak_bytes, \
      [](const Setup& setup) -> Counts {                                                                      \
        NAMES;                                                                                                \
        return {messages, bytes, collectives, collective_bytes, kept_bytes, peak_bytes};                      \
      },                                                                                                      \
      [](const Setup& setup) {                                                                                \
        NAMES;                                                                                                \
        return kept([&] { return __VA_ARGS__; });                                                             \
      }},
const Row rows[] = {
#include "counts.inc"
};
#undef ROW
#undef NAMES

/// Returns the counts of a call and the seconds that it took.
std::pair<Counts, double> counted(const Row& row, const Setup& setup) {
  const auto sent = one_rank::sent();
  const auto held = memory::held();
  memory::forget_peak();
  const auto begin = std::chrono::steady_clock::now();
  const auto result = row.call(setup);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const auto peak = memory::peak() - held, kept = memory::held() - held;
  const auto more = one_rank::sent() - sent;
  return {{more.messages, more.bytes, more.collectives, more.collective_bytes, kept, peak}, seconds.count()};
}

std::string numbers(const Counts& counts) {
  return fmt::format("[{}, {}, {}, {}, {}, {}]", counts.messages, counts.bytes, counts.collectives,
                     counts.collective_bytes, counts.kept, counts.peak);
}

bool run(int ranks, bool print) {
  const auto setup = setup_of(ranks);
  bool within = true;
  for (const auto& row : rows) {
    const auto [found, seconds] = counted(row, setup);
    const auto most = row.most(setup);
    within = within && found.within(most);
    if (print)
      fmt::print(
          "{{\"what\": \"{}\", \"ranks\": {}, \"counts\": {}, \"most\": {}, \"formula\": \"{}\", "
          "\"milliseconds\": {:.3f}, \"within\": {}}}\n",
          row.what, ranks, numbers(found), numbers(most), row.formula, 1e3 * seconds, found.within(most));
  }
  return within;
}

}  // namespace

int main(int argc, char** argv) {
  // Ranks share no memory, and all memory comes from glibc.
  ::setenv("HEATPP_SHARED_MEMORY", "off", 1);
  ::setenv("HEATPP_ALLOCATOR", "torch", 1);
  one_rank::become(0, 1);
  ht::Environment env(argc, argv);
  run(512, false);  // what a first call of LibTorch's functions makes is no rank's
  bool within = true;
  for (const int ranks : {1 << 10, 1 << 14, 1 << 17}) within = run(ranks, true) && within;
  return within ? 0 : 1;
}
