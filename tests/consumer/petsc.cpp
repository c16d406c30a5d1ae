// Exits with 0 if PETSc solves a system of an installed heatpp in the memory of its arrays.
#include <heatpp/heatpp.hpp>
#include <heatpp/interop/mpi.hpp>
#include <heatpp/interop/petsc.hpp>
#include <heatpp/sparse/sparse.hpp>
#include <petscksp.h>

namespace ht = heatpp;
namespace sp = ht::sparse;

int main(int argc, char** argv) {
  const ht::Environment env(argc, argv);
  PETSC_COMM_WORLD = ht::to_mpi(ht::world());
  if (PetscInitializeNoArguments() != 0) return 1;
  const auto a = 3 * sp::identity(60, {.dtype = ht::float64, .split = 0});
  const auto b = ht::arange(60, {.dtype = ht::float64, .split = 0});
  auto x = ht::zeros({60}, {.dtype = ht::float64, .split = 0});
  Mat mat = sp::to_petsc(a);
  Vec right = sp::to_petsc(b), solution = sp::to_petsc(x);
  KSP ksp = nullptr;
  KSPCreate(PETSC_COMM_WORLD, &ksp);
  KSPSetOperators(ksp, mat, mat);
  KSPSolve(ksp, right, solution);
  KSPDestroy(&ksp);
  VecDestroy(&solution);
  VecDestroy(&right);
  MatDestroy(&mat);
  PetscFinalize();
  return ht::allclose(3 * x, b) ? 0 : 1;
}
