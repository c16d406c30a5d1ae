// A simulation passes its field to heatpp while it runs: no copy, its own communicator, analysis on all ranks, time
// steps for ParaView, and a snapshot as one HDF5 shard per rank, which is read as one array at the end.
#include "view.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <heatpp/interop/mpi.hpp>
#include <heatpp_io/heatpp_io.hpp>

namespace ht = heatpp;

namespace {

void report(const HeatSolver& solver, const ht::DNDarray& field) {
  const auto warm = field(field > 1.0);  // an uneven array: every rank keeps what it has
  const auto quartiles = ht::percentile(warm, {25, 50, 75}).to_vector<double>();
  const auto mean = ht::mean(field).item<double>(), hottest = ht::max(field).item<double>();
  if (field.comm().rank() == 0)
    std::printf("t = %.5f  mean %7.4f  hottest %8.4f  above 1 degree: %7lld points, quartiles %.2f %.2f %.2f\n",
                solver.time(), mean, hottest, static_cast<long long>(warm.size()), quartiles[0], quartiles[1],
                quartiles[2]);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);  // the simulation starts and ends MPI; heatpp is a guest
  int status = 0;
  try {
    const ht::Environment env(argc, argv);
    std::size_t points = 512;
    int steps = 2000, reports = 5;
    std::filesystem::path out = "heat_equation";
    CLI::App app{"2-D heat equation, analysed with heatpp while it runs"};
    app.add_option("--points", points, "interior points along an edge")->check(CLI::Range(3, 100000));
    app.add_option("--steps", steps, "time steps")->check(CLI::PositiveNumber);
    app.add_option("--reports", reports, "reports on the way")->check(CLI::PositiveNumber);
    app.add_option("--out", out, "directory of the time steps and the snapshot's shards");
    CLI11_PARSE(app, argc, argv);

    HeatSolver solver(MPI_COMM_WORLD, points);
    const auto comm = ht::from_mpi(solver.comm());
    if (comm.rank() == 0) std::filesystem::create_directories(out);
    comm.barrier();
    const auto spacing = 1.0 / static_cast<double>(points + 1);
    const int interval = std::max(1, steps / reports);
    for (int step = 1; step <= steps; ++step) {
      solver.step();
      if (step % interval != 0) continue;
      const auto field = view_of(solver, comm);
      report(solver, field);
      ht::io::save_vtkhdf(field, out / "heat.vtkhdf",
                          {.name = "temperature",
                           .spacing = {spacing, spacing},
                           .origin = {spacing, spacing},
                           .time = solver.time(),
                           .append = step > interval});  // the first step creates the file
    }

    const auto field = view_of(solver, comm);
    ht::io::save_hdf5(field, (out / "part-{rank}.h5").string(), "temperature", {.shards = true});
    const auto again = ht::io::load_hdf5((out / "part-*.h5").string(), "temperature", {.split = 0, .comm = comm});
    const bool equal = ht::all(again == field).item<bool>();
    if (comm.rank() == 0)
      std::printf("snapshot of %lld points %s\n", static_cast<long long>(again.size()),
                  equal ? "read back equal" : "DIFFERS");
    status = equal ? 0 : 1;
  } catch (const ht::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
