// Times all-reduces and batches of a training on a machine that SimGrid simulates; benchmarks/run scale.allreduce and
// scale.train start it. Prints a line of JSON for each.
#include "arrays.hpp"
#include "network.hpp"
#include "training.hpp"

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

/// Returns the seconds from the start of the last rank to the end of the last rank.
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
  std::vector<std::string> names, steps;
  std::vector<int> shape;
  bool tensors = false;
  TrainingOptions training;
  CLI::App app("Times all-reduces, or batches of a training, on a simulated machine");
  app.add_option("--shape", shape, "extents of the machine, outermost first")->delimiter('x')->required();
  app.add_option("--algorithms", names, "mpi, or those of heatpp")->delimiter(',');
  app.add_option("--bytes", bytes, "sizes of one array")->delimiter(',');
  app.add_option("--chunks", chunks, "sizes of chunks; 0: as chosen")->delimiter(',');
  app.add_option("--message", message, "bytes of the longest message of heatpp's; 0: any");
  app.add_flag("--resnet50", tensors, "the sizes of the gradients of ResNet-50");
  app.add_option("--steps", steps, "messages of a function of arrays: see arrays.hpp")->delimiter(',');
  app.add_option("--train", training.method, "daso, zero, or an all-reduce for gradients");
  app.add_option("--images", training.images, "of a rank in a batch")->capture_default_str();
  app.add_option("--rate", training.rate, "images that a rank trains in a second alone")->capture_default_str();
  app.add_option("--bucket", training.bucket, "bytes of gradients that travel together")->capture_default_str();
  app.add_option("--slice", training.slice, "seconds between two looks at messages")->capture_default_str();
  app.add_option("--interval", training.interval, "batches between synchronisations of DASO")->capture_default_str();
  app.add_option("--wait", training.wait, "batches until they are merged")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const ht::Environment env(argc, argv);
  const ht::Topology topology(ht::world(), {.shape = shape});
  if (!steps.empty()) {
    std::vector<ArrayStep> replayed;
    for (const auto& step : steps) replayed.push_back(step_of(topology, step));
    const auto seconds = time(ht::world(), [&] {
      for (const auto& step : replayed) replay(topology, step);
    });
    if (ht::world().rank() == 0) fmt::print("{{\"seconds\": {:.6e}}}\n", seconds);
    return 0;
  }
  if (!training.method.empty()) {
    const auto [computed, exposed] = train(topology, training);
    if (ht::world().rank() == 0)
      fmt::print("{{\"seconds\": {:.6e}, \"computed\": {:.6e}, \"exposed\": {:.6e}}}\n", computed + exposed, computed,
                 exposed);
    return 0;
  }
  const auto mpi = ht::to_mpi(ht::world());
  std::map<std::int64_t, int> sizes;  // in elements, and how often each occurs
  for (const auto size : bytes) sizes[size / 4] = 1;
  if (tensors)
    for (const auto& layer : resnet50())
      for (const auto count : layer.parameters) ++sizes[count];
  for (const auto& [count, times] : sizes) {
    // All ranks use the same pages, because their contents do not matter.
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
