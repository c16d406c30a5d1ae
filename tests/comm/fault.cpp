// A program in which a rank dies or never comes: fault <how> <where>. The others print their errors. Other cases: fault
// ended, a host that has ended MPI; fault throws, an exception that leaves the program on one rank; fault twice, two
// programs one after another; fault outlives, a request that outlives MPI; fault alone, a single rank that asks for the
// world of all ranks; fault goes_on <where>, ranks that die one after another while the others go on (ULFM).
#include <heatpp/comm/environment.hpp>
#include <heatpp/comm/recovery/recovery.hpp>
#include <heatpp/comm/topology.hpp>
#include <heatpp/interop/mpi.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace ht = heatpp;

namespace {

const std::map<std::string, void (*)(const ht::Topology&)> places{
    {"native",
     [](const ht::Topology& topology) {
       std::vector<float> data(1 << 20);
       topology.comm().allreduce(data);
     }},
    {"shared",
     [](const ht::Topology& topology) {
       std::vector<float> data(1 << 20);
       topology.allreduce(data);
     }},
    {"blueconnect",
     [](const ht::Topology& topology) {
       std::vector<float> data(1 << 20);
       topology.iallreduce(data, ht::ReduceOp::sum, "blueconnect").wait();
     }},
    {"nodes",  // by shared memory, and by messages
     [](const ht::Topology& topology) {
       std::vector<float> data(1 << 20);
       topology.allreduce(data, ht::ReduceOp::sum, "blueconnect");
     }},
    {"plan",
     [](const ht::Topology& topology) {
       static std::vector<float> data(1 << 20);
       static auto plan = topology.plan(data);
       plan.start();
       plan.wait();
     }},
    {"exchange",
     [](const ht::Topology& topology) {
       std::vector<std::byte> out(1 << 20), in(1 << 20);
       const auto p = static_cast<std::size_t>(topology.comm().size());
       const auto each = (1 << 20) / static_cast<std::int64_t>(p);
       topology.comm().exchange(std::vector<ht::ConstBlock>(p, {out.data(), 1, each, each}),
                                std::vector<ht::Block>(p, {in.data(), 1, each, each}));
     }},
};

/// Whether all calls that need MPI throw after a host has ended it.
bool throws_after_the_end() {
  std::vector<double> data(2);
  const auto comm = ht::world();
  const ht::Topology topology(comm);
  const std::vector<std::int64_t> counts{1, 1};
  MPI_Finalize();
  const std::vector<std::function<void()>> calls{
      [&] { comm.barrier(); },
      [&] { comm.allreduce(data); },
      [&] { comm.iallreduce(data).wait(); },
      [&] { comm.broadcast(data, 0); },
      [&] { comm.reduce_scatter(data, counts); },
      [&] { comm.send(data, 1 - comm.rank()); },
      [&] { static_cast<void>(comm.ireceive(data, 1 - comm.rank())); },
      [&] { static_cast<void>(comm.split(0)); },
      [&] { topology.allreduce(data, {.algorithm = "blueconnect"}); },
      [&] { static_cast<void>(ht::from_mpi(MPI_COMM_WORLD)); },
      [&] { ht::all_or_none(comm, [] {}); },
  };
  return std::ranges::all_of(calls, [](const auto& call) {
    try {
      call();
    } catch (const ht::CommError& error) {
      return std::string(error.what()).find("MPI is not running") != std::string::npos;
    }
    return false;
  });
}

int alone() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank > 0) ::sleep(600);
  static_cast<void>(ht::self());  // this reads the time-out
  try {
    static_cast<void>(ht::world());
  } catch (const ht::CommError& error) {
    std::printf("%s\n", error.what());
    std::fflush(stdout);
  }
  return 3;
}

ht::Topology topology_for(const ht::Communicator& comm, const std::string& where) {
  if (where != "nodes" && where != "plan") return ht::Topology(comm);
  return ht::Topology(comm, {.node_of = [](int rank) { return rank / 2; }});
}

/// Calls until the last rank dies, in its tenth call. Returns the error of this rank.
std::string error_of_loss(const ht::Communicator& comm, const std::string& where) {
  const auto topology = topology_for(comm, where);
  try {
    for (int i = 0; i < 100000; ++i) {
      if (comm.rank() == comm.size() - 1 && i == 10) ::raise(SIGKILL);
      places.at(where)(topology);
    }
  } catch (const ht::ProcessFailure& error) {
    return error.what();
  }
  return "";
}

/// A request that this rank only looks at ends, too.
bool ends_by_looking(const ht::Communicator& comm) {
  std::vector<std::int64_t> data(2);
  try {
    auto request = comm.iallreduce(data);
    while (!request.test()) ::usleep(100);
  } catch (const ht::ProcessFailure&) {
    return true;
  }
  return false;
}

/// Loses two of four ranks, one after another, and then computes with the rest.
int go_on(const std::string& where) {
  auto comm = ht::world();
  bool right = ht::survives_failures();
  for (int losses = 0; losses < 2; ++losses) {
    const auto error = error_of_loss(comm, where);
    std::printf("rank %d: %s\n", comm.rank(), error.c_str());
    right = right && !error.empty() && ends_by_looking(comm);
    const auto left = ht::survivors(comm);
    right = right && ht::lost_ranks(comm) == std::vector{comm.size() - 1} && left.size() == comm.size() - 1;
    comm = left;
  }
  std::vector<double> sum{1.0 + comm.rank()};
  comm.allreduce(sum);
  places.at(where)(topology_for(comm, where));
  right = right && sum[0] == 3 && comm.split(0)->size() == 2 && ht::lost_ranks(comm).empty();
  std::printf("rank %d of %d goes on%s\n", comm.rank(), comm.size(), right ? "" : ", wrongly");
  std::fflush(stdout);
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "ended") {
    MPI_Init(&argc, &argv);
    return throws_after_the_end() ? 0 : 1;
  }
  if (argc > 1 && std::string(argv[1]) == "alone") {
    MPI_Init(&argc, &argv);
    return alone();
  }
  if (argc > 1 && std::string(argv[1]) == "twice") {
    const auto meet = [] { ht::world().barrier(); };
    return ht::run(argc, argv, meet) == 0 && ht::run(argc, argv, meet) == 1 ? 0 : 1;
  }
  if (argc > 1 && std::string(argv[1]) == "outlives") {
    static std::vector<double> data(1 << 20, 1.0);
    static std::vector<ht::Request> requests;
    const auto code = ht::run(argc, argv, [] {
      requests.push_back(ht::Topology(ht::world()).iallreduce(data));
      static std::vector<std::int64_t> other(2);
      requests.push_back(ht::world().iallreduce(other));
    });
    return code == 0 && data.front() == 2 && data.back() == 2 ? 0 : 1;
  }
  if (argc > 1 && std::string(argv[1]) == "throws")
    return ht::run(argc, argv, [] {
      if (ht::world().rank() == 1) throw std::runtime_error("broken on this rank");
      ht::world().barrier();
      std::printf("not reached\n");
    });
  const ht::Environment env(argc, argv);
  const std::string where = argv[2];
  if (std::string(argv[1]) == "goes_on") return go_on(where);
  const auto topology = topology_for(ht::world(), where);
  const bool dies = std::string(argv[1]) == "dies";
  try {
    for (int i = 0; i < 100000; ++i) {
      if (ht::world().rank() == 1 && i == 10) {
        if (dies) ::raise(SIGKILL);
        ::sleep(600);
      }
      places.at(where)(topology);
    }
  } catch (const ht::CommError& error) {
    std::printf("rank %d: %s\n", ht::world().rank(), error.what());
    std::fflush(stdout);
    return 3;
  }
  return 0;
}
