// Times every all-reduce beside the MPI library's, in turns. A line of JSON for each size.
#include <CLI/CLI.hpp>
#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/environment.hpp>
#include <heatpp/interop/mpi.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <limits>

namespace ht = heatpp;

namespace {

struct Contender {
  std::string name;
  std::function<void(std::vector<float>&)> run;
  double best = std::numeric_limits<double>::max();
};

/// Seconds of one of `calls` calls, on the slowest rank.
double time(const ht::Communicator& comm, std::int64_t calls, const std::function<void()>& call) {
  comm.barrier();
  const auto begin = MPI_Wtime();
  for (std::int64_t i = 0; i < calls; ++i) call();
  std::array<double, 1> seconds{(MPI_Wtime() - begin) / static_cast<double>(calls)};
  comm.allreduce(seconds, ht::ReduceOp::max);
  return seconds[0];
}

std::vector<Contender> contenders(const ht::Topology& topology, const std::vector<std::int64_t>& chunks,
                                  std::vector<float>& result, std::int64_t count) {
  const auto mpi = ht::to_mpi(topology.comm());
  const auto n = static_cast<int>(count);
  std::vector<Contender> all;
  all.push_back({"mpi", [=](auto& x) { MPI_Allreduce(MPI_IN_PLACE, x.data(), n, MPI_FLOAT, MPI_SUM, mpi); }});
  all.push_back(
      {"mpi_out", [=, &result](auto& x) { MPI_Allreduce(x.data(), result.data(), n, MPI_FLOAT, MPI_SUM, mpi); }});
  all.push_back({"heatpp", [=](auto& x) { topology.allreduce({x.data(), n, ht::float32}); }});
  for (const auto& algorithm : ht::comm::algorithms())
    if (!algorithm.fits || algorithm.fits(topology))
      all.push_back({std::string(algorithm.name), [=](auto& x) {
                       topology.allreduce({x.data(), n, ht::float32}, ht::ReduceOp::sum, algorithm.name);
                     }});
  for (const auto chunk : chunks)
    all.push_back({fmt::format("blueconnect:{}", chunk), [=](auto& x) {
                     topology.allreduce({x.data(), n, ht::float32}, {.algorithm = "blueconnect", .chunk_bytes = chunk});
                   }});
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::int64_t> sizes, chunks;
  std::vector<std::string> only;
  int repeats = 15;
  double seconds = 0.002;
  CLI::App app("Times every all-reduce beside the MPI library's");
  app.add_option("--bytes", sizes, "sizes of the data; 4 B to 64 MiB unless given")->delimiter(',');
  app.add_option("--algorithms", only, "names of those to time; all unless given")->delimiter(',');
  app.add_option("--chunks", chunks, "sizes of chunks to try beside the chosen one")->delimiter(',');
  app.add_option("--repeat", repeats, "turns of each");
  app.add_option("--turn", seconds, "seconds that a turn lasts at least");
  CLI11_PARSE(app, argc, argv);
  if (sizes.empty())
    for (std::int64_t bytes = 4; bytes <= 64 << 20; bytes *= 4) sizes.push_back(bytes);

  const ht::Environment env(argc, argv);
  const ht::Topology topology(ht::world());
  if (ht::world().rank() == 0) fmt::print(stderr, "{}", ht::comm::describe(topology));
  for (const auto bytes : sizes) {
    const auto count = std::max<std::int64_t>(bytes / 4, 1);
    std::vector<float> data(static_cast<std::size_t>(count), 0), result(data);
    auto all = contenders(topology, chunks, result, count);
    if (!only.empty()) std::erase_if(all, [&](const auto& c) { return std::ranges::find(only, c.name) == only.end(); });
    std::vector<std::int64_t> calls;
    for (auto& contender : all) {
      const auto once = time(ht::world(), 3, [&] { contender.run(data); });
      calls.push_back(std::clamp<std::int64_t>(static_cast<std::int64_t>(seconds / once), 1, 1000));
    }
    for (int turn = 0; turn < repeats; ++turn)
      for (std::size_t i = 0; i < all.size(); ++i)
        all[i].best = std::min(all[i].best, time(ht::world(), calls[i], [&] { all[i].run(data); }));
    if (ht::world().rank() != 0) continue;
    fmt::print("{{\"bytes\": {}", bytes);
    for (const auto& contender : all) fmt::print(", \"{}\": {:.3e}", contender.name, contender.best);
    fmt::print("}}\n");
    std::fflush(stdout);
  }
}
