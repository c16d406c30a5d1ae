// Times every all-reduce beside the MPI library's, in turns. Prints a line of JSON for each.
#include <CLI/CLI.hpp>
#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/environment.hpp>
#include <heatpp/interop/mpi.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <fstream>
#include <limits>

namespace ht = heatpp;

namespace {

struct Contender {
  std::string name;
  std::function<void(std::vector<float>&)> run;
  double best = std::numeric_limits<double>::max();
  std::int64_t uplink = 0, payload = 0;  // bytes of a call: what left a node, and what heatpp sent between nodes
};

/// Returns the seconds of one of `calls` calls, on the slowest rank.
double time(const ht::Communicator& comm, std::int64_t calls, const std::function<void()>& call) {
  comm.barrier();
  const auto begin = MPI_Wtime();
  for (std::int64_t i = 0; i < calls; ++i) call();
  std::array<double, 1> seconds{(MPI_Wtime() - begin) / static_cast<double>(calls)};
  comm.allreduce(seconds, ht::ReduceOp::max);
  return seconds[0];
}

/// Makes a communicator on which Open MPI uses its component for hierarchies, if it has it.
MPI_Comm han(MPI_Comm comm) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "ompi_comm_coll_preference", "han");
  MPI_Comm result = MPI_COMM_NULL;
  MPI_Comm_dup_with_info(comm, info, &result);
  MPI_Info_free(&info);
  return result;
}

std::int64_t sent_by(const std::string& device) {
  std::int64_t bytes = 0;
  std::ifstream("/sys/class/net/" + device + "/statistics/tx_bytes") >> bytes;
  return bytes;
}

std::int64_t sent_between_nodes(const ht::Topology& topology) {
  std::int64_t bytes = 0;
  const auto levels = topology.traffic();
  for (std::size_t level = 1; level < levels.size(); ++level) bytes += levels[level].bytes;
  return bytes;
}

/// Counts what one call of each sends, on the busiest node.
void count_bytes(const ht::Topology& topology, const std::string& device, const std::function<void()>& call,
                 Contender& contender) {
  topology.comm().barrier();
  const auto before = sent_by(device), payload = -sent_between_nodes(topology);
  topology.comm().barrier();
  call();
  topology.comm().barrier();
  std::array<std::int64_t, 1> uplink{sent_by(device) - before};
  topology.comm().allreduce(uplink, ht::ReduceOp::max);
  const auto mine = payload + sent_between_nodes(topology);
  std::int64_t sum = 0;  // ranks of unequal nodes are no group of a level
  const auto node = topology.comm().split_shared();
  for (const auto bytes : node.allgather(mine)) sum += bytes;
  std::array<std::int64_t, 1> most{sum};
  topology.comm().allreduce(most, ht::ReduceOp::max);
  contender.uplink = uplink[0];
  contender.payload = most[0];
}

std::vector<Contender> contenders(const ht::Topology& topology, const std::vector<std::int64_t>& chunks,
                                  std::vector<float>& result, std::int64_t count, MPI_Comm hierarchical) {
  const auto mpi = ht::to_mpi(topology.comm());
  const auto n = static_cast<int>(count);
  std::vector<Contender> all;
  all.push_back({"mpi", [=](auto& x) { MPI_Allreduce(MPI_IN_PLACE, x.data(), n, MPI_FLOAT, MPI_SUM, mpi); }});
  all.push_back(
      {"mpi_out", [=, &result](auto& x) { MPI_Allreduce(x.data(), result.data(), n, MPI_FLOAT, MPI_SUM, mpi); }});
  if (hierarchical != MPI_COMM_NULL)  // in place it would end in a segmentation fault
    all.push_back({"mpi_han", [=, &result](auto& x) {
                     MPI_Allreduce(x.data(), result.data(), n, MPI_FLOAT, MPI_SUM, hierarchical);
                   }});
  all.push_back({"heatpp", [=](auto& x) { topology.allreduce({x.data(), n, ht::float32}); }});
  all.push_back({"reproducible", [=](auto& x) {
                   topology.allreduce({x.data(), n, ht::float32}, {.reproducible = true});
                 }});
  all.push_back({"reproducible:blueconnect", [=](auto& x) {
                   topology.allreduce({x.data(), n, ht::float32}, {.algorithm = "blueconnect", .reproducible = true});
                 }});
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

/// Computes for about this long, in pieces, and calls `between` after each.
void compute(double seconds, const std::function<void()>& between) {
  static std::vector<double> x(4096, 1);
  for (const auto begin = MPI_Wtime(); MPI_Wtime() - begin < seconds; between())
    for (auto& value : x) value = value * 0.999 + 0.001;
}

/// Measures how much of a non-blocking all-reduce is hidden behind a computation of equal length.
void measure_overlap(const ht::Topology& topology, std::int64_t bytes, int repeats) {
  std::vector<float> data(static_cast<std::size_t>(bytes / 4), 0);
  const ht::Buffer buffer{data.data(), bytes / 4, ht::float32};
  const auto& comm = topology.comm();
  const auto least = [&](const std::function<void()>& call) {
    auto best = std::numeric_limits<double>::max();
    for (int turn = 0; turn < repeats; ++turn) best = std::min(best, time(comm, 1, call));
    return best;
  };
  const auto alone = least([&] { topology.iallreduce(buffer).wait(); });
  const auto both = [&](const std::function<void()>& between) {
    return least([&] {
      auto request = topology.iallreduce(buffer);
      compute(alone, between);
      request.wait();
    });
  };
  const auto quiet = both([] {}), progressing = both([] { ht::progress(); });
  if (comm.rank() != 0) return;
  fmt::print(
      "{{\"overlap_bytes\": {}, \"ranks\": {}, \"seconds\": {:.3e}, \"hidden\": {:.2f}, \"hidden_with_progress\": "
      "{:.2f}}}\n",
      bytes, comm.size(), alone, (2 * alone - quiet) / alone, (2 * alone - progressing) / alone);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::int64_t> sizes, chunks;
  std::vector<std::string> only;
  int repeats = 15;
  double seconds = 0.002;
  std::string uplink;
  std::int64_t overlap = 0;
  CLI::App app("Times every all-reduce beside the MPI library's");
  app.add_option("--bytes", sizes, "sizes of the data; 4 B to 64 MiB unless given")->delimiter(',');
  app.add_option("--algorithms", only, "names of those to time; all unless given")->delimiter(',');
  app.add_option("--chunks", chunks, "sizes of chunks to try beside the chosen one")->delimiter(',');
  app.add_option("--repeat", repeats, "turns of each");
  app.add_option("--turn", seconds, "seconds that a turn lasts at least");
  app.add_option("--uplink", uplink, "network device whose bytes to count, and time Open MPI's han");
  app.add_option("--overlap", overlap, "bytes of a non-blocking all-reduce to time beside computation");
  CLI11_PARSE(app, argc, argv);
  if (sizes.empty())
    for (std::int64_t bytes = 4; bytes <= 64 << 20; bytes *= 4) sizes.push_back(bytes);

  const ht::Environment env(argc, argv);
  const ht::Topology topology(ht::world());
  if (ht::world().rank() == 0) fmt::print(stderr, "{}", ht::comm::describe(topology));
  const auto hierarchical = uplink.empty() ? MPI_COMM_NULL : han(ht::to_mpi(ht::world()));
  for (const auto bytes : sizes) {
    const auto count = std::max<std::int64_t>(bytes / 4, 1);
    std::vector<float> data(static_cast<std::size_t>(count), 0), result(data);
    auto all = contenders(topology, chunks, result, count, hierarchical);
    if (!only.empty()) std::erase_if(all, [&](const auto& c) { return std::ranges::find(only, c.name) == only.end(); });
    std::vector<std::int64_t> calls;
    for (auto& contender : all) {
      const auto once = time(ht::world(), 3, [&] { contender.run(data); });
      calls.push_back(std::clamp<std::int64_t>(static_cast<std::int64_t>(seconds / once), 1, 1000));
    }
    for (int turn = 0; turn < repeats; ++turn)
      for (std::size_t i = 0; i < all.size(); ++i)
        all[i].best = std::min(all[i].best, time(ht::world(), calls[i], [&] { all[i].run(data); }));
    for (auto& contender : all) {
      if (!uplink.empty())
        count_bytes(
            topology, uplink, [&] { contender.run(data); }, contender);
      if (ht::world().rank() != 0) continue;
      fmt::print("{{\"bytes\": {}, \"algorithm\": \"{}\", \"seconds\": {:.3e}", bytes, contender.name, contender.best);
      if (!uplink.empty()) fmt::print(", \"uplink\": {}, \"payload\": {}", contender.uplink, contender.payload);
      fmt::print("}}\n");
      std::fflush(stdout);
    }
  }
  if (overlap > 0) measure_overlap(topology, overlap, repeats);
}
