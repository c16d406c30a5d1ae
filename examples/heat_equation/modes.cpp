// Proper orthogonal and dynamic modes of a running simulation: heatpp collects snapshots one by one while the solver
// runs, and they stay on their ranks. The modes' prediction of later times is compared with the solver. Writes the
// numbers that examples/plot.py draws.
//     heat_modes [<numbers.npz>]
#include "view.hpp"

#include <cmath>
#include <cstdio>
#include <heatpp/interop/mpi.hpp>
#include <heatpp/ml/ml.hpp>
#include <heatpp_io/heatpp_io.hpp>
#include <numbers>

namespace ht = heatpp;

constexpr int steps = 40, fitted = 30, all = 60;  // steps between snapshots, and numbers of snapshots

void advance(HeatSolver& solver) {
  for (int i = 0; i < steps; ++i) solver.step();
}

double size_of(const ht::DNDarray& x) { return ht::linalg::norm(x).item<double>(); }

int main(int argc, char** argv) {
  const ht::Environment env(argc, argv);
  HeatSolver solver(MPI_COMM_WORLD, 64);
  const auto comm = ht::from_mpi(solver.comm());
  for (int i = 0; i < 10; ++i) advance(solver);  // until sharp edges are gone
  const auto start = solver.time();
  advance(solver);
  const auto dt = solver.time() - start;

  ht::DMD dmd({.rtol = 1e-8, .dt = dt});
  std::vector<double> sizes;
  for (int t = 0; t < fitted; ++t, advance(solver)) {
    const auto field = view_of(solver, comm);
    dmd.partial_fit(field);
    sizes.push_back(size_of(field));
  }
  double error = 0;
  for (int t = fitted; t < all; ++t, advance(solver)) {
    const auto field = view_of(solver, comm);
    sizes.push_back(size_of(field));
    error = size_of(dmd.reconstruct({t * dt})(ht::ellipsis, 0) - field) / sizes.back();
  }
  const auto rates = ht::real(dmd.rates()).to_vector<double>(), values = dmd.singular_values().to_vector<double>();
  std::vector<double> times, by_modes;
  for (int t = 0; t < all; ++t) {
    times.push_back(t * dt);
    by_modes.push_back(size_of(dmd.reconstruct({t * dt})));
  }
  ht::io::save_npz({{"times", ht::array(times)},
                    {"solver", ht::array(sizes)},
                    {"modes", ht::array(by_modes)},
                    {"fitted", ht::array((fitted - 1) * dt)}},
                   argc > 1 ? argv[1] : "modes.npz");
  if (comm.rank() != 0) return 0;
  std::printf("%d modes; the slowest falls as exp(%.2f t), the plate's as exp(%.2f t)\n",
              static_cast<int>(dmd.n_modes()), rates[0], -2 * std::numbers::pi * std::numbers::pi);
  std::printf("second singular value over the first %.1e; twice as long, modes are wrong by %.1e of the field\n",
              values[1] / values[0], error);
}
