// Times exchanges between all ranks with equal blocks, directly and in two hops by the nodes that HEATPP_TOPOLOGY
// names: a line of JSON for each size of a block.
#include <heatpp/comm/detail/impl.hpp>
#include <heatpp/comm/detail/shared/two_hops.hpp>
#include <heatpp/comm/detail/state.hpp>
#include <heatpp/comm/environment.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <functional>

namespace {

namespace ht = heatpp;
namespace detail = ht::detail;

/// Blocks of equal size for all ranks, and from them.
struct Blocks {
  std::vector<std::byte> out, in;
  detail::Sends send = {};
  detail::Receives receive = {};
  Blocks(int ranks, std::int64_t bytes)
      : out(static_cast<std::size_t>(ranks * bytes)), in(static_cast<std::size_t>(ranks * bytes)) {
    for (int rank = 0; rank < ranks; ++rank) {
      send.push_back({rank, {out.data() + rank * bytes, 1, bytes, bytes}});
      receive.push_back({rank, {in.data() + rank * bytes, 1, bytes, bytes}});
    }
  }
};

/// Returns the least seconds of a call over all turns, each those of the slowest rank.
double least_seconds(const ht::Communicator& comm, int turns, const std::function<void()>& call) {
  constexpr int calls = 10;
  double least = 1e9;
  for (int turn = 0; turn < turns; ++turn) {
    comm.barrier();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call();
    std::array seconds{std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / calls};
    comm.allreduce(seconds, ht::ReduceOp::max);
    least = std::min(least, seconds[0]);
  }
  return least;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::int64_t> sizes{8, 64, 256, 1024, 4096, 16384};
  int turns = 15;
  CLI::App app("Times exchanges between all ranks, directly and in two hops");
  app.add_option("--bytes", sizes, "sizes of a block")->delimiter(',')->capture_default_str();
  app.add_option("--repeat", turns, "turns of ten calls each")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const ht::Environment env(argc, argv);
  const auto& comm = ht::world();
  const auto& machine = comm.impl().machine;
  if (!machine || machine->nodes == 1) {
    if (comm.rank() == 0) fmt::print("{{\"missing\": \"HEATPP_TOPOLOGY names no nodes\"}}\n");
    return 1;
  }
  for (const auto bytes : sizes) {
    const Blocks blocks(comm.size(), bytes);
    const auto most = comm.size() * bytes;
    const auto direct = least_seconds(comm, turns, [&] { detail::exchange_with(comm, blocks.send, blocks.receive); });
    const auto hops = least_seconds(
        comm, turns, [&] { detail::run(detail::two_hops(comm, blocks.send, blocks.receive, most, "exchange")); });
    if (comm.rank() == 0)
      fmt::print("{{\"ranks\": {}, \"nodes\": {}, \"bytes\": {}, \"direct\": {:.4e}, \"two_hops\": {:.4e}}}\n",
                 comm.size(), machine->nodes, bytes, direct, hops);
  }
}
