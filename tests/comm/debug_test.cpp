// This is a program of its own, because debugging and tracing are decided once.
#include "../scratch_path.hpp"
#include "../catch.hpp"

#include <heatpp/comm/detail/schedule/trace.hpp>
#include <heatpp/comm/topology.hpp>
#include <heatpp/interop/mpi.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace ht = heatpp;

namespace {

const auto trace_prefix = scratch_path("heatpp_debug_test");
[[maybe_unused]] const int environment = ::setenv("HEATPP_DEBUG", "collectives", 1) +
                                         ::setenv("HEATPP_TIMEOUT", "0.5", 1) +
                                         ::setenv("HEATPP_TRACE", trace_prefix.c_str(), 1);

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const ht::CommError& error) {
    return error.what();
  }
  return "";
}

/// Matches a text that names the last rank as missing, perhaps after others that are late on a busy machine.
auto names_as_missing(int late) {
  return Catch::Matches(".*from rank ([0-9]+, )*" + std::to_string(late) + " of .*debug_test.cpp:.*");
}

}  // namespace

TEST_CASE("calls that agree go through", "[comm][debug]") {
  const auto comm = ht::from_mpi(MPI_COMM_WORLD);
  const ht::Topology topology(comm, {.node_of = [](int rank) { return rank % 2; }});
  std::vector<std::int64_t> data(10, 1);
  topology.allreduce(data);
  comm.broadcast(data, 0);
  CHECK(data == std::vector<std::int64_t>(10, comm.size()));
}

TEST_CASE("mismatched calls are an error on all ranks that names both", "[comm][debug]") {
  const auto comm = ht::from_mpi(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  std::vector<float> floats(comm.rank() == 1 ? 11 : 10);
  std::vector<double> doubles(10);
  const auto counts = message_of([&] { comm.allreduce(floats); });
  CHECK_THAT(counts, Catch::Contains("10 x float32") && Catch::Contains("11 x float32"));
  CHECK_THAT(counts, Catch::Contains("debug_test.cpp:") && Catch::Contains("rank 1"));
  const ht::Buffer either = comm.rank() == 1 ? ht::Buffer(doubles) : ht::Buffer(floats.data(), 10, ht::float32);
  const auto dtypes = message_of([&] { ht::Topology(comm).allreduce(either); });
  CHECK_THAT(dtypes, Catch::Contains("float64") && Catch::Contains("float32"));
  const auto calls = message_of([&] {
    if (comm.rank() == 1) comm.barrier();
    else comm.broadcast(doubles, 0);
  });
  CHECK_THAT(calls, Catch::Contains("broadcast") && Catch::Contains("barrier"));
}

TEST_CASE("plans are compared whenever they are started", "[comm][debug]") {
  const auto comm = ht::from_mpi(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  const ht::Topology topology(comm, {.node_of = [](int rank) { return rank / 2; }});
  std::vector<std::int64_t> data(1000, 1), more(1001);
  auto plan = topology.plan(data);
  auto other = topology.plan(comm.rank() == 1 ? ht::Buffer(more) : ht::Buffer(data));
  for (std::int64_t round = 0, sum = comm.size(); round < 3; ++round, sum *= comm.size()) {
    plan.start();
    plan.wait();
    CHECK(data == std::vector<std::int64_t>(1000, sum));
  }
  CHECK_THAT(message_of([&] {
               other.start();
               other.wait();
             }),
             Catch::Contains("1000 x int64") && Catch::Contains("1001 x int64") && Catch::Contains("by a plan"));
  plan.start();  // one call failed, not the plan
  plan.wait();
}

TEST_CASE("a rank that does not come is named in bounded time", "[comm][debug]") {
  const auto comm = ht::from_mpi(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  const int late = comm.size() - 1;
  std::vector<float> data(10);
  if (comm.rank() != late) {
    const auto begin = std::chrono::steady_clock::now();
    const auto message = message_of([&] { comm.allreduce(data); });
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    CHECK_THAT(message, Catch::Contains("[allreduce]") && names_as_missing(late));
    CHECK(passed.count() < 5);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("while debugging, operations are compared without waiting when they are started", "[comm][debug]") {
  const auto comm = ht::from_mpi(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  const ht::Topology topology(comm, {.node_of = [](int rank) { return rank / 2; }});
  std::vector<std::int64_t> first(10, 1), second(20000, 1), third(30, 1);
  ht::Request early, blueconnect, list;
  std::vector<ht::Buffer> all{first, third};
  const auto start = [&] {
    early = comm.iallreduce(first);
    blueconnect = topology.iallreduce(second, ht::ReduceOp::sum, std::string("blueconnect"));
  };
  if (comm.rank() == 0) start();
  MPI_Barrier(MPI_COMM_WORLD);  // rank 0 would not get here if it waited for the others
  if (comm.rank() != 0) start();
  blueconnect.wait();
  early.wait();
  topology.allreduce(all);
  CHECK(first == std::vector<std::int64_t>(10, comm.size() * comm.size()));
  CHECK(second == std::vector<std::int64_t>(20000, comm.size()));
  CHECK(third == std::vector<std::int64_t>(30, comm.size()));
}

TEST_CASE("an operation that differs, or that a rank does not start, fails at its wait", "[comm][debug]") {
  const auto comm = ht::from_mpi(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  std::vector<float> data(comm.rank() == 1 ? 11 : 10);
  auto request = comm.iallreduce(data);
  const auto differing = message_of([&] { request.wait(); });
  CHECK_THAT(differing, Catch::Contains("10 x float32") && Catch::Contains("11 x float32"));

  const int late = comm.size() - 1;
  if (comm.rank() != late) {
    request = comm.iallreduce(data);
    const auto missing = message_of([&] { request.wait(); });
    CHECK_THAT(missing, names_as_missing(late));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("operations under way and splits proceed in the order of the program", "[comm][debug]") {
  const auto comm = ht::from_mpi(MPI_COMM_WORLD);
  std::vector<std::int64_t> data(100000, 1), second(3, 1);
  const auto work = [&] {
    auto request = comm.iallreduce(data);
    auto small = comm.iallreduce(second);
    CHECK(comm.split(comm.rank() % 2)->size() >= 1);
    CHECK(comm.split_shared().size() == comm.size());
    const ht::Topology topology(comm);
    request.wait();
    small.wait();
  };
  if (comm.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  work();
  CHECK(data == std::vector<std::int64_t>(100000, comm.size()));
  CHECK(second == std::vector<std::int64_t>(3, comm.size()));
}

TEST_CASE("the algorithm and options of a call must be the same on all ranks", "[comm][debug]") {
  const auto comm = ht::from_mpi(MPI_COMM_WORLD);
  const int p = comm.size();
  const bool first = comm.rank() == 0;
  const ht::Topology topology(comm, {.node_of = [](int rank) { return rank % 2; }});
  std::vector<float> data(1000), residual(1000), list(10), other(20);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(p), 0), uneven(counts);
  counts[0] = uneven[1] = 1000;
  const auto differing = [&](const ht::AllreduceOptions& one, const ht::AllreduceOptions& another) {
    const auto text = message_of([&] { topology.allreduce(data, first ? one : another); });
    CHECK_THAT(text, Catch::Contains("[allreduce] got allreduce of 1000 x float32") && Catch::Contains("rank 1"));
    return text;
  };
  CHECK_THAT(differing({.algorithm = "tree"}, {.algorithm = "ring"}),
             Catch::Contains("tree") && Catch::Contains("ring"));
  CHECK_THAT(differing({.algorithm = "blueconnect", .chunk_bytes = 64}, {.algorithm = "blueconnect"}),
             Catch::Contains("chunks 64"));
  CHECK_THAT(differing({.algorithm = "ring", .message_bytes = 8}, {.algorithm = "ring"}),
             Catch::Contains("messages 8"));
  CHECK_THAT(differing({.wire = ht::Wire::int8}, {.wire = ht::Wire::bfloat16}), Catch::Contains("wire int8"));
  CHECK_THAT(differing({.wire = ht::Wire::int8, .residual = residual}, {.wire = ht::Wire::int8}),
             Catch::Contains("residual"));
  if (p == 4) {
    const ht::Topology grid(comm, {.shape = {2, 2}});
    CHECK_THAT(message_of([&] {
                 grid.allreduce(data, {.order = first ? std::vector{1, 0} : std::vector{0, 1}});
               }),
               Catch::Contains("order [1 0]") && Catch::Contains("order [0 1]"));
  }
  CHECK_THAT(message_of([&] { comm.reduce_scatter(data, first ? counts : uneven); }),
             Catch::Contains("counts 1000, 0"));
  CHECK_THAT(message_of([&] {
               topology.allgather({data.data(), 0, ht::float32}, data, first ? counts : uneven);
             }),
             Catch::Contains("counts 0, 1000"));
  std::vector<ht::Buffer> one{list, other}, another{other, list};
  CHECK_THAT(message_of([&] { topology.allreduce(first ? one : another); }), Catch::Contains("10 x float32, 20 x"));
  CHECK_THAT(message_of([&] {
               if (first) static_cast<void>(comm.split(0));
               else comm.barrier();
             }),
             Catch::Contains("split") && Catch::Contains("barrier"));
}

TEST_CASE("the two sides of an exchange have to mean the same sizes, and all ranks hear of it", "[comm][debug]") {
  const auto comm = ht::from_mpi(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  const auto p = static_cast<std::size_t>(comm.size());
  std::vector<std::byte> out(16), in(16 * p);
  const auto exchange = [&](std::int64_t sent) {
    std::vector<ht::Block> receive;
    for (std::size_t r = 0; r < p; ++r) receive.push_back({in.data() + 16 * r, 1, 8, 8});
    comm.exchange(std::vector<ht::ConstBlock>(p, {out.data(), 1, sent, sent}), receive);
  };
  CHECK(message_of([&] { exchange(8); }).empty());
  CHECK_THAT(message_of([&] { exchange(comm.rank() == 1 ? 12 : 8); }),
             Catch::Contains("[exchange] got 12 bytes that rank 1 sends to rank 0, which waits for 8"));
  CHECK(message_of([&] { exchange(8); }).empty());
}

TEST_CASE("messages name reductions and roots, and elements only if there are any", "[comm][debug]") {
  const auto comm = ht::from_mpi(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  std::vector<double> data(10);
  const bool first = comm.rank() == 0;
  CHECK_THAT(message_of([&] { comm.allreduce(data, first ? ht::ReduceOp::sum : ht::ReduceOp::max); }),
             Catch::Contains("allreduce of 10 x float64, sum at ") && Catch::Contains("10 x float64, max at "));
  CHECK_THAT(message_of([&] { comm.broadcast(data, first ? 0 : 1); }),
             Catch::Contains("broadcast of 10 x float64, root 0 at ") && Catch::Contains("root 1 at "));
  CHECK_THAT(message_of([&] { first ? comm.barrier() : comm.broadcast(data, 0); }), Catch::Contains("got barrier at "));
}

TEST_CASE("traffic is counted by level, and a timeline is written", "[comm][debug]") {
  const auto comm = ht::from_mpi(MPI_COMM_WORLD);
  if (comm.size() != 4) return;
  const ht::Topology topology(comm, {.shape = {2, 2}});
  std::vector<float> data(1 << 20);
  topology.allreduce(data, ht::ReduceOp::sum, "blueconnect");

  const auto traffic = topology.traffic();
  CHECK(traffic[0].bytes == 4 << 20);  // each of two ranks sends half of it twice; then of a half
  CHECK(traffic[1].bytes == 2 << 20);
  CHECK(traffic[1].messages > 2);
  CHECK(traffic[1].seconds > 0);

  ht::detail::write_trace(comm.rank());
  const auto file = trace_prefix + "." + std::to_string(comm.rank()) + ".json";
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  CHECK_THAT(text.str(), Catch::StartsWith("[\n{\"name\":\"level ") && Catch::EndsWith("}}\n]\n"));
  CHECK_THAT(text.str(), Catch::Contains("{\"name\":\"level 0\"") && Catch::Contains("{\"name\":\"level 1\""));
}

TEST_CASE("every rank that waits names all that are missing, though it hears of most from others", "[comm][debug]") {
  const auto comm = ht::from_mpi(MPI_COMM_WORLD);
  if (comm.size() != 4) return;
  std::vector<float> data(10);
  for (const auto& missing : {std::array{1, 2}, std::array{0, 3}, std::array{1, 3}}) {
    const auto group = *comm.split(0);
    if (std::ranges::find(missing, comm.rank()) == missing.end()) {
      const auto message = message_of([&] { group.allreduce(data); });
      CHECK_THAT(message, Catch::Contains(std::to_string(missing[0]) + ", " + std::to_string(missing[1]) + " of 4"));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}
