// Times all-reduces on a machine that SimGrid simulates; benchmarks/run scale.allreduce starts it. A line of JSON each.
#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/environment.hpp>
#include <heatpp/interop/mpi.hpp>

#undef exit  // a macro of SimGrid, and a member of CLI11
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <smpi/smpi.h>

#include <algorithm>
#include <map>

namespace ht = heatpp;

namespace {

/// The parameters of ResNet-50 (He et al. 2016), in elements, from the first layer to the last.
std::vector<std::int64_t> resnet50() {
  std::vector<std::int64_t> sizes;
  const auto convolution = [&](std::int64_t in, std::int64_t out, std::int64_t kernel) {
    sizes.insert(sizes.end(), {in * out * kernel * kernel, out, out});  // and the normalisation's scale and shift
  };
  convolution(3, 64, 7);
  std::int64_t in = 64;
  for (int stage = 0; stage < 4; ++stage) {
    const std::int64_t width = 64 << stage;
    for (int block = 0; block < std::array{3, 4, 6, 3}[static_cast<std::size_t>(stage)]; ++block) {
      convolution(in, width, 1);
      convolution(width, width, 3);
      convolution(width, 4 * width, 1);
      if (block == 0) convolution(in, 4 * width, 1);
      in = 4 * width;
    }
  }
  sizes.insert(sizes.end(), {in * 1000, 1000});
  return sizes;
}

/// Seconds from when the last rank begins to when the last one ends.
double time(const ht::Communicator& comm, const std::function<void()>& call) {
  comm.barrier();
  std::array<double, 2> times{MPI_Wtime(), 0};
  call();
  times[1] = MPI_Wtime();
  comm.allreduce(times, ht::ReduceOp::max);
  return times[1] - times[0];
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::int64_t> bytes, chunks{0};
  std::int64_t message = 0;
  std::vector<std::string> names;
  std::vector<int> shape;
  bool tensors = false;
  CLI::App app("Times all-reduces on a simulated machine");
  app.add_option("--shape", shape, "extents of the machine, outermost first")->delimiter('x')->required();
  app.add_option("--algorithms", names, "mpi, or those of heatpp")->delimiter(',')->required();
  app.add_option("--bytes", bytes, "sizes of one array")->delimiter(',');
  app.add_option("--chunks", chunks, "sizes of chunks; 0: as chosen")->delimiter(',');
  app.add_option("--message", message, "bytes of the longest message of heatpp's; 0: any");
  app.add_flag("--resnet50", tensors, "the sizes of the gradients of ResNet-50");
  CLI11_PARSE(app, argc, argv);

  const ht::Environment env(argc, argv);
  const ht::Topology topology(ht::world(), {.shape = shape});
  const auto mpi = ht::to_mpi(ht::world());
  std::map<std::int64_t, int> sizes;  // in elements, and how often each comes
  for (const auto size : bytes) sizes[size / 4] = 1;
  if (tensors)
    for (const auto count : resnet50()) ++sizes[count];
  for (const auto& [count, times] : sizes) {
    // The same pages for all ranks: what they hold does not matter here.
    auto* const data = static_cast<float*>(SMPI_SHARED_MALLOC(static_cast<std::size_t>(count) * sizeof(float)));
    const auto n = count;
    for (const auto& name : names)
      for (const auto chunk : chunks) {
        const auto seconds = time(ht::world(), [&] {
          if (name == "mpi") MPI_Allreduce(MPI_IN_PLACE, data, static_cast<int>(n), MPI_FLOAT, MPI_SUM, mpi);
          else
            topology.allreduce({data, n, ht::float32},
                               {.algorithm = name, .chunk_bytes = chunk, .message_bytes = message});
        });
        if (ht::world().rank() != 0) continue;
        fmt::print("{{\"bytes\": {}, \"times\": {}, \"algorithm\": \"{}\", \"chunk\": {}, \"seconds\": {:.6e}}}\n",
                   n * 4, times, name, chunk, seconds);
        std::fflush(stdout);
      }
    SMPI_SHARED_FREE(data);
  }
}
