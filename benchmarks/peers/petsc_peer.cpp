// PETSc on equally many ranks: mpirun -n 2 heatpp_petsc_peer NAME. heatpp makes the data, passes them on, and checks
// results.
#include "../check.hpp"
#include "../matrices.hpp"
#include "../turns.hpp"

#include <heatpp/interop/mpi.hpp>
#include <heatpp/interop/petsc.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <petscksp.h>

namespace bench {
namespace {

void expect(PetscErrorCode code) {
  if (code != 0) throw ht::Error(fmt::format("[heatpp_petsc_peer] got PETSc's error {}", static_cast<int>(code)));
}

/// Runs PETSc's function, whose result is kept.
Prepared kept(std::function<void()> run, std::function<std::vector<double>()> check) {
  return {std::move(run), [] {}, std::move(check)};
}

void fill(Vec x, const ht::DNDarray& numbers) {
  ht::DNDarray elements = sp::from_petsc(x);
  elements = numbers;  // into PETSc's memory
}

Prepared spmv(const sp::DCSRMatrix& of) {
  const auto a = sp::to_petsc(of);
  Vec x = nullptr, y = nullptr;
  expect(MatCreateVecs(a, &x, &y));
  fill(x, numbers({of.columns()}));
  return kept([=] { expect(MatMult(a, x, y)); }, [=] { return check_sums(sp::from_petsc(y)); });
}

/// PETSc keeps the columns of dense matrices, and the product of the first call.
Prepared spmm() {
  constexpr std::int64_t n = 1'000'000, k = 32;
  const auto a = sp::to_petsc(random_graph());
  PetscInt rows = 0;
  PetscScalar* elements = nullptr;
  Mat x = nullptr;
  expect(MatGetLocalSize(a, &rows, nullptr));
  expect(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, n, k, nullptr, &x));
  expect(MatDenseGetArrayWrite(x, &elements));
  const ht::Shape shape{rows, k}, by_columns{1, rows};
  ht::DNDarray of_petsc = ht::from_local(elements, shape, by_columns, ht::float64, {.split = 0});
  of_petsc = numbers({n, k});
  expect(MatDenseRestoreArrayWrite(x, &elements));
  const auto y = std::make_shared<Mat>(nullptr);
  return kept([=] { expect(MatMatMult(a, x, *y ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, PETSC_DEFAULT, y.get())); },
              [=] {
                PetscScalar* found = nullptr;
                expect(MatDenseGetArray(*y, &found));
                return check_sums(ht::copy(ht::from_local(found, shape, by_columns, ht::float64, {.split = 0})));
              });
}

Prepared spgemm() {
  const auto a = sp::to_petsc(laplacian(100));
  const auto c = std::make_shared<Mat>(nullptr);
  return {[=] { expect(MatMatMult(a, a, MAT_INITIAL_MATRIX, PETSC_DEFAULT, c.get())); },
          [=] { expect(MatDestroy(c.get())); }, [=] { return check_sums(sp::from_petsc(*c).values()); }};
}

Prepared cg() {
  constexpr std::int64_t side = 128;
  const auto a = sp::to_petsc(laplacian(side));
  Vec b = nullptr, x = nullptr;
  KSP method = nullptr;
  PC none = nullptr;
  expect(MatCreateVecs(a, &b, &x));
  fill(b, numbers({side * side * side}));
  expect(KSPCreate(PETSC_COMM_WORLD, &method));
  expect(KSPSetOperators(method, a, a));
  expect(KSPSetType(method, KSPCG));
  expect(KSPGetPC(method, &none));
  expect(PCSetType(none, PCNONE));
  expect(KSPSetTolerances(method, 1e-300, 1e-300, PETSC_DEFAULT, 50));
  expect(KSPSetUp(method));
  return kept([=] { expect(KSPSolve(method, b, x)); }, [=] { return check_sums(sp::from_petsc(x)); });
}

Mat loaded(const std::string& path) {
  PetscViewer file = nullptr;
  Mat a = nullptr;
  expect(PetscViewerBinaryOpen(PETSC_COMM_WORLD, path.c_str(), FILE_MODE_READ, &file));
  expect(MatCreate(PETSC_COMM_WORLD, &a));
  expect(MatSetType(a, MATAIJ));
  expect(MatLoad(a, file));
  expect(PetscViewerDestroy(&file));
  return a;
}

void save(Mat a, const std::string& path) {
  PetscViewer file = nullptr;
  expect(PetscViewerBinaryOpen(PETSC_COMM_WORLD, path.c_str(), FILE_MODE_WRITE, &file));
  expect(MatView(a, file));
  expect(PetscViewerDestroy(&file));
}

Prepared sparse_load() {
  const auto path = sparse_file("petsc", ".petsc").string();
  save(sp::to_petsc(laplacian(64) / 3), path);
  const auto a = std::make_shared<Mat>(nullptr);
  return {[=] { *a = loaded(path); }, [=] { expect(MatDestroy(a.get())); },
          [=] { return check_sums(sp::from_petsc(*a).values()); }};
}

Prepared sparse_save() {
  const auto path = sparse_file("saved_by_petsc", ".petsc").string();
  const auto a = sp::to_petsc(laplacian(64) / 3);
  return kept([=] { save(a, path); }, [=] { return check_sums(sp::from_petsc(loaded(path)).values()); });
}

const std::map<std::string, std::function<Prepared()>> workloads{{"spmv", [] { return spmv(laplacian(200)); }},
                                                                 {"spmv_random", [] { return spmv(random_graph()); }},
                                                                 {"spmm", spmm},
                                                                 {"spgemm", spgemm},
                                                                 {"cg", cg},
                                                                 {"sparse_load.petsc", sparse_load},
                                                                 {"sparse_save.petsc", sparse_save}};

template <class... Args>
void say(fmt::format_string<Args...> text, Args&&... args) {
  if (ht::world().rank() > 0) return;
  fmt::print(text, std::forward<Args>(args)...);
  std::fflush(stdout);
}

void run(const std::string& name) {
  const auto found = workloads.find(name);
  if (found == workloads.end()) return say("{{\"missing\": \"has no counterpart\"}}\n");
  const auto prepared = found->second();
  const auto warm_up = take_turn(prepared);
  say("{{\"warm_up\": {:.6f}, \"check\": [{:.17g}]}}\n", warm_up.seconds, fmt::join(prepared.check(), ", "));
  while (another_turn()) say("{{\"seconds\": {:.6f}}}\n", take_turn(prepared).seconds);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  heatpp::Environment env(argc, argv);
  PETSC_COMM_WORLD = heatpp::to_mpi(heatpp::world());
  if (PetscInitializeNoArguments()) return 1;
  bench::run(argc > 1 ? argv[1] : "");
  return PetscFinalize();
}
