// A host in PETSc: the Gray-Scott reaction (Pearson 1993) on a DMDA, a grid split along all three axes. heatpp takes
// its snapshots from PETSc's vectors, and decomposes them into modes (POD) at the end.
//     mpirun -n 4 reaction_diffusion
#include <petscdmda.h>

#include <cmath>
#include <fmt/format.h>
#include <heatpp/heatpp.hpp>
#include <heatpp/interop/mpi.hpp>

#include <array>
#include <numeric>

namespace ht = heatpp;

namespace {

constexpr PetscInt side = 24;
constexpr int steps = 200, snapshot_every = 10;

struct Cell {
  PetscScalar u, v;
};

/// Sets the grid to fed cells, except for a cube in the middle in which the reaction begins.
void set_up(DM grid, Vec state) {
  PetscInt x0, y0, z0, nx, ny, nz;
  DMDAGetCorners(grid, &x0, &y0, &z0, &nx, &ny, &nz);
  Cell*** cells = nullptr;
  DMDAVecGetArray(grid, state, &cells);
  for (auto z = z0; z < z0 + nz; ++z)
    for (auto y = y0; y < y0 + ny; ++y)
      for (auto x = x0; x < x0 + nx; ++x) {
        const auto far = std::max<PetscInt>({std::abs(x - side / 2), std::abs(y - side / 2), std::abs(z - side / 2)});
        cells[z][y][x] = far < 4 ? Cell{0.5, 0.25} : Cell{1, 0};
      }
  DMDAVecRestoreArray(grid, state, &cells);
}

/// Makes one step of the explicit Euler method, from `around`, which also contains the neighbors' cells.
void advance(DM grid, Vec around, Vec state) {
  constexpr double du = 0.12, dv = 0.06, feed = 0.03, kill = 0.06;
  PetscInt x0, y0, z0, nx, ny, nz;
  DMDAGetCorners(grid, &x0, &y0, &z0, &nx, &ny, &nz);
  Cell ***old = nullptr, ***cells = nullptr;
  DMDAVecGetArrayRead(grid, around, &old);
  DMDAVecGetArray(grid, state, &cells);
  for (auto z = z0; z < z0 + nz; ++z)
    for (auto y = y0; y < y0 + ny; ++y)
      for (auto x = x0; x < x0 + nx; ++x) {
        const auto [u, v] = old[z][y][x];
        const std::array near{old[z - 1][y][x], old[z + 1][y][x], old[z][y - 1][x],
                              old[z][y + 1][x], old[z][y][x - 1], old[z][y][x + 1]};
        PetscScalar su = -6.0 * u, sv = -6.0 * v;
        for (const auto& cell : near) su += cell.u, sv += cell.v;
        cells[z][y][x] = {u + du * su - u * v * v + feed * (1.0 - u), v + dv * sv + u * v * v - (feed + kill) * v};
      }
  DMDAVecRestoreArray(grid, state, &cells);
  DMDAVecRestoreArrayRead(grid, around, &old);
}

/// Returns the plan for this rank's brick of the grid; the two numbers of a cell are a fourth axis.
ht::BlockPlan plan_for(DM grid, const ht::Communicator& comm) {
  PetscInt x0, y0, z0, nx, ny, nz;
  DMDAGetCorners(grid, &x0, &y0, &z0, &nx, &ny, &nz);
  return {{side, side, side, 2}, {{{z0, y0, x0, 0}, {nz, ny, nx, 2}}}, ht::float64, {.comm = comm}};
}

ht::DNDarray snapshot(const ht::BlockPlan& plan, Vec state) {
  const PetscScalar* memory = nullptr;
  VecGetArrayRead(state, &memory);
  auto x = plan.from_blocks(memory);
  VecRestoreArrayRead(state, &memory);
  return x;
}

/// Returns the sum of squares of PETSc's vector.
double energy_of(Vec state) {
  PetscReal norm = 0;
  VecNorm(state, NORM_2, &norm);
  return norm * norm;
}

/// Computes modes of the snapshots (the columns), and compares their energy with PETSc's norms.
void decompose(const std::vector<ht::DNDarray>& snapshots, double energy) {
  const auto [modes, values, times] = ht::linalg::svd(ht::stack(snapshots, 1));
  const auto squares = (values * values).to_vector<double>();
  const double ours = std::accumulate(squares.begin(), squares.end(), 0.0);
  if (std::abs(ours - energy) > 1e-10 * energy)
    throw ht::ValueError(fmt::format("[decompose] got an energy of {}; expected {}, PETSc's", ours, energy));
  if (modes.comm().rank() > 0) return;
  fmt::print("{} snapshots of {} numbers, energy {:.3f}; without the first\n", snapshots.size(), modes.shape(0), ours);
  double left = ours;
  for (std::size_t mode = 0; mode < 5; ++mode)
    fmt::print("{} modes {:.2e}\n", mode + 1, (left -= squares[mode]) / ours);
}

void simulate() {
  DM grid = nullptr;
  constexpr auto wraps = DM_BOUNDARY_PERIODIC;
  DMDACreate3d(PETSC_COMM_WORLD, wraps, wraps, wraps, DMDA_STENCIL_STAR, side, side, side, PETSC_DECIDE, PETSC_DECIDE,
               PETSC_DECIDE, 2, 1, nullptr, nullptr, nullptr, &grid);
  DMSetUp(grid);
  Vec state = nullptr, around = nullptr;
  DMCreateGlobalVector(grid, &state);
  DMCreateLocalVector(grid, &around);
  set_up(grid, state);

  const auto plan = plan_for(grid, ht::from_mpi(PETSC_COMM_WORLD));
  std::vector<ht::DNDarray> snapshots;
  double energy = 0;
  for (int step = 1; step <= steps; ++step) {
    DMGlobalToLocal(grid, state, INSERT_VALUES, around);
    advance(grid, around, state);
    if (step % snapshot_every != 0) continue;
    snapshots.push_back(ht::flatten(snapshot(plan, state)));
    energy += energy_of(state);
  }
  decompose(snapshots, energy);
  VecDestroy(&around);
  VecDestroy(&state);
  DMDestroy(&grid);
}

}  // namespace

int main(int argc, char** argv) {
  PetscInitialize(&argc, &argv, nullptr, nullptr);
  const auto code = ht::run(argc, argv, simulate);
  PetscFinalize();
  return code;
}
