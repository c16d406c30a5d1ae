// A host in which every second rank calls heatpp, with a communicator of these ranks. The others do nothing until the
// end. some_ranks <folder>
#include <heatpp/heatpp.hpp>
#include <heatpp/ml/ml.hpp>
#include <heatpp/interop/mpi.hpp>
#include <heatpp/sparse/sparse.hpp>
#include <heatpp_io/heatpp_io.hpp>
#include <ATen/ATen.h>
#include <mpi.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

namespace ht = heatpp;

namespace {

/// Returns 1 and prints a message if it is wrong.
int told(const char* what, bool right) {
  if (!right) std::fprintf(stderr, "some_ranks: %s is wrong\n", what);
  return right ? 0 : 1;
}

double sum_of(const ht::DNDarray& x) { return ht::sum(x).item<double>(); }

int arrays(const ht::Communicator& comm) {
  const double ranks = comm.size();
  std::array<double, 6> memory{1, 1, 1, 1, 1, 1};
  const auto adopted = ht::from_local(memory.data(), {3, 2}, ht::float64, {.split = 0, .comm = comm});
  const auto placed = ht::from_blocks(memory.data(), {3, 2}, ht::float64, {3 * comm.rank(), 0}, {3 * comm.size(), 2},
                                      {.split = 1, .comm = comm});
  const ht::Rows rows(3, 2,
                      [&](std::int64_t first, std::int64_t count) { return adopted.larray().narrow(0, first, count); },
                      {.comm = comm});
  return told("zeros", sum_of(ht::zeros({4, 2}, {.split = 0, .comm = comm})) == 0) +
         told("from_local", sum_of(adopted) == 6 * ranks) + told("from_blocks", sum_of(placed) == 6 * ranks) +
         told("rows", sum_of(ht::StandardScaler().fit(rows).mean()) == 2);
}

int matrices(const ht::Communicator& comm) {
  const std::array<std::int32_t, 3> pointers{0, 1, 2};
  const std::array<std::int32_t, 2> columns{0, 1};
  std::array<double, 2> values{1, 1};
  const ht::sparse::CsrArrays mine{std::span<const std::int32_t>(pointers), std::span<const std::int32_t>(columns),
                                   values.data()};
  const auto matrix = ht::sparse::from_local(mine, 2, {.split = 0, .comm = comm});
  return told("sparse", sum_of(ht::sparse::matmul(matrix, ht::ones({2, 1}, {.comm = comm}))) == 2.0 * comm.size());
}

int files(const ht::Communicator& comm, const std::string& folder) {
  int wrong = 0;
  const auto x = ht::ones({8, 3}, {.split = 0, .comm = comm});
  for (const std::string ending : {".h5", ".zarr", ".npy", ".csv"}) {
    const auto path = folder + "/x" + ending;
    ht::io::save(x, path);
    wrong += told(ending.c_str(), sum_of(ht::io::load(path, {.split = 1, .comm = comm})) == 24);
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm mine = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &mine);
  const std::string folder = argv[1];
  int wrong = 0;
  if (rank % 2 == 0) {
    if (rank == 0) std::filesystem::create_directories(folder);
    const auto comm = ht::from_mpi(mine);
    wrong = arrays(comm) + matrices(comm) + files(comm, folder);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::filesystem::remove_all(folder);
  MPI_Finalize();
  return wrong;
}
