#include "../io/files.hpp"
#include "poisson.hpp"
#include <heatpp/interop/mpi.hpp>
#include <heatpp/interop/petsc.hpp>
#include <heatpp/sparse/io/files.hpp>

#include <petscksp.h>

namespace la = ht::linalg;

namespace {

/// Runs PETSc on heatpp's communicator, which both use at the same time. PETSc's signal handlers would stay after its
/// end.
struct Session {
  Session() {
    PETSC_COMM_WORLD = ht::to_mpi(ht::world());
    REQUIRE(PetscOptionsSetValue(nullptr, "-no_signal_handler", "true") == 0);
    REQUIRE(PetscInitializeNoArguments() == 0);
    REQUIRE(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr) == 0);
  }
  ~Session() { PetscFinalize(); }
};

/// A Mat, Vec, ... that is destroyed at the end of its scope.
template <class Handle, PetscErrorCode (*destroy)(Handle*)>
struct Owned {
  Handle handle;
  Owned(Handle handle_) : handle(handle_) {}  // NOLINT: conversion intended
  ~Owned() { destroy(&handle); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  operator Handle() const { return handle; }  // NOLINT: conversion intended
};
using Matrix = Owned<Mat, MatDestroy>;
using Vector = Owned<Vec, VecDestroy>;

/// Solves the system by PETSc's Krylov method, in the memory of heatpp's arrays. Returns the number of iterations.
PetscInt solve(Mat a, const ht::DNDarray& b, ht::DNDarray& x, KSPType method, PCType preconditioner) {
  const Vector right(sp::to_petsc(b)), solution(sp::to_petsc(x));
  KSP ksp = nullptr;
  PC pc = nullptr;
  PetscInt iterations = 0;
  KSPCreate(PetscObjectComm(reinterpret_cast<PetscObject>(a)), &ksp);
  KSPSetOperators(ksp, a, a);
  KSPSetType(ksp, method);
  KSPGetPC(ksp, &pc);
  PCSetType(pc, preconditioner);
  KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 2000);
  CHECK(KSPSolve(ksp, right, solution) == 0);
  KSPGetIterationNumber(ksp, &iterations);
  KSPDestroy(&ksp);
  return iterations;
}

double apart(const ht::DNDarray& x, const ht::DNDarray& y) { return (la::norm(x - y) / la::norm(y)).item<double>(); }

/// Returns PETSc's product in a new array.
ht::DNDarray product(Mat a, const ht::DNDarray& x, const ht::Layout& rows) {
  auto y = distribute(at::zeros(rows.shape(), at::kDouble), rows);
  const Vector from(sp::to_petsc(x)), to(sp::to_petsc(y));
  CHECK(MatMult(a, from, to) == 0);
  return y;
}

}  // namespace

TEST_CASE("PETSc's solvers and ours agree, in the same memory", "[sparse][petsc]") {
  const Session petsc;
  const auto symmetric = poisson(30, std::nullopt);
  const auto wind = sp::triu(symmetric, 1) - sp::tril(symmetric, -1);
  const auto skew = symmetric + 0.4 * wind;
  for (const auto& layout : row_layouts({900, 900})) {
    const auto vectors = layout.with({900}, layout.split());
    const auto b = distribute(at::ones({900}, at::kDouble), vectors);
    const auto solve_both = [&](const sp::DCSRMatrix& a, KSPType method, PCType preconditioner,
                                const la::Solved& ours) {
      const Matrix aij(sp::to_petsc(a)), shell(sp::to_petsc(la::LinearOperator(a)));
      for (const auto& [mat, pc] : {std::pair<Mat, PCType>(aij, preconditioner), {aij, PCNONE}, {shell, PCNONE}}) {
        auto x = distribute(at::zeros({900}, at::kDouble), vectors);
        const auto iterations = solve(mat, b, x, method, pc);
        CHECK(ours.converged);
        CHECK(apart(x, ours.x) < 1e-8);
        if (std::string_view(pc) == PCNONE) CHECK(std::abs(iterations - ours.iterations) <= 1);
      }
    };
    const auto a = cut_as(symmetric, layout), c = cut_as(skew, layout);
    solve_both(a, KSPCG, PCBJACOBI, la::solve_cg(a, b, {.rtol = 1e-10}));
    solve_both(c, KSPGMRES, PCJACOBI, la::solve_gmres(c, b, {.rtol = 1e-10}));
  }
}

TEST_CASE("matrices of every layout are PETSc's, and come back", "[sparse][petsc]") {
  const Session petsc;
  for (const auto& shape : {ht::Shape{7, 7}, ht::Shape{9, 4}, ht::Shape{2, 11}})
    for (const auto& layout : row_layouts(shape)) {
      const auto global = mostly_zeros(shape[0], shape[1]) + at::eye(shape[0], shape[1], at::kDouble);
      const auto a = sparse_of(global, layout);
      const auto rows = layout.with({shape[0]}, layout.split());
      const auto columns = shape[0] == shape[1] ? rows : ht::Layout({shape[1]}, layout.split(), ht::world().size());
      const auto x = at::arange(1, shape[1] + 1, at::kDouble);
      const Matrix aij(sp::to_petsc(a)), shell(sp::to_petsc(la::LinearOperator(a)));
      CHECK(close(product(aij, distribute(x, columns), rows), at::mv(global, x)));
      CHECK(close(product(shell, distribute(x, columns), rows), at::mv(global, x)));
      auto z = distribute(at::zeros({shape[1]}, at::kDouble), columns);
      const auto y = distribute(at::arange(shape[0], at::kDouble), rows);
      {
        const Vector from(sp::to_petsc(y)), to(sp::to_petsc(z));
        CHECK(MatMultTranspose(shell, from, to) == 0);
      }
      CHECK(close(z, at::mv(global.t(), at::arange(shape[0], at::kDouble))));
      if (!layout.split()) continue;
      const auto back = sp::from_petsc(aij);
      CHECK(same_matrix(back, global));
      CHECK(back.layout() == layout);
      CHECK(back.comm().group() == ht::world().group());
    }
}

TEST_CASE("other formats of PETSc's, and objects of one rank", "[sparse][petsc]") {
  const Session petsc;
  const auto global = mostly_zeros(8, 8) + at::eye(8, at::kDouble) * 3;
  const auto symmetric = global + global.t();
  const Matrix aij(sp::to_petsc(sparse_of(symmetric, ht::Layout({8, 8}, 0, ht::world().size()))));
  MatSetOption(aij, MAT_SYMMETRIC, PETSC_TRUE);
  for (const auto format : {MATDENSE, MATBAIJ, MATSBAIJ}) {
    Mat made = nullptr;
    REQUIRE(MatConvert(aij, format, MAT_INITIAL_MATRIX, &made) == 0);
    const Matrix other(made);
    CHECK(same(sp::to_dense(sp::from_petsc(other)), symmetric));
  }
  const auto own = sparse_of(symmetric, ht::Layout({8, 8}, std::nullopt, ht::world().size()));
  const Matrix alone(sp::to_petsc(own));
  const auto back = sp::from_petsc(alone);
  CHECK(back.comm().size() == 1);
  CHECK(back.lnnz() == own.lnnz());
}

TEST_CASE("PETSc and heatpp share memory as long as either needs it", "[sparse][petsc]") {
  const Session petsc;
  const auto ranks = ht::world().size();
  auto x = distribute(at::arange(10, at::kDouble), ht::Layout({10}, 0, ranks));
  {
    const Vector in_place(sp::to_petsc(x));
    VecScale(in_place, 2);
  }
  CHECK(same(x, at::arange(10, at::kDouble) * 2));

  std::optional<Matrix> mat;
  std::optional<Vector> vec;
  {
    const auto a = poisson(4, std::nullopt) * 1.0;
    const auto b = distribute(at::ones({16}, at::kDouble), ht::Layout({16}, std::nullopt, ranks));
    mat.emplace(sp::to_petsc(a));
    vec.emplace(sp::to_petsc(std::as_const(b)));
    PetscScalar* values = nullptr;
    MatSeqAIJGetArray(*mat, &values);
    CHECK(values == a.values().larray().const_data_ptr());
    MatSeqAIJRestoreArray(*mat, &values);
  }
  PetscReal norm = 0;
  MatNorm(*mat, NORM_FROBENIUS, &norm);
  CHECK(norm == Approx(std::sqrt(16 * 16.0 + 48)));
  VecNorm(*vec, NORM_1, &norm);
  CHECK(norm == 16);

  Vec made = nullptr;
  VecCreateMPI(PETSC_COMM_WORLD, 3, PETSC_DETERMINE, &made);
  VecSet(made, 5);
  auto adopted = sp::from_petsc(made);
  adopted *= 2;
  PetscScalar* elements = nullptr;
  VecGetArray(made, &elements);
  VecRestoreArray(made, &elements);
  VecSum(made, &norm);
  CHECK(norm == 30 * ranks);
  VecDestroy(&made);
  CHECK(same(adopted, at::full({3 * ranks}, 10, at::kDouble)));
  Mat other = sp::to_petsc(poisson(4));
  const auto kept = sp::from_petsc(other);
  MatDestroy(&other);
  CHECK(same_matrix(kept, sp::to_dense(poisson(4, std::nullopt)).larray()));
}

TEST_CASE("files of one are read by the other", "[sparse][petsc][files]") {
  const Session petsc;
  const TempDir dir;
  const auto a = poisson(9);
  const auto global = sp::to_dense(poisson(9, std::nullopt)).larray();
  sp::save(a, dir.path("ours.petsc"));
  PetscViewer file = nullptr;
  Mat read = nullptr;
  REQUIRE(PetscViewerBinaryOpen(PETSC_COMM_WORLD, dir.path("ours.petsc").c_str(), FILE_MODE_READ, &file) == 0);
  MatCreate(PETSC_COMM_WORLD, &read);
  MatSetType(read, MATAIJ);
  CHECK(MatLoad(read, file) == 0);
  PetscViewerDestroy(&file);
  CHECK(same_matrix(sp::from_petsc(read), global));
  MatScale(read, 3);
  REQUIRE(PetscViewerBinaryOpen(PETSC_COMM_WORLD, dir.path("theirs.petsc").c_str(), FILE_MODE_WRITE, &file) == 0);
  CHECK(MatView(read, file) == 0);
  PetscViewerDestroy(&file);
  MatDestroy(&read);
  CHECK(same_matrix(sp::load(dir.path("theirs.petsc")), global * 3));
}

TEST_CASE("what PETSc does not have is an error on all ranks", "[sparse][petsc]") {
  const auto a = poisson(3);
  CHECK(message_of<ht::ValueError>([&] { (void)sp::to_petsc(a); }) ==
        "[to_petsc] got a PETSc that is not running; expected one between PetscInitialize and PetscFinalize");
  const Session petsc;
  CHECK(message_of<ht::TypeError>([&] { (void)sp::to_petsc(sp::astype(a, ht::float32)); }) ==
        "[to_petsc] got float32; expected float64, PETSc's scalar: astype gives it");
  CHECK_THROWS_AS(sp::to_petsc(ht::ones({4, 2}, {.dtype = ht::float64})), ht::ValueError);
  CHECK_THROWS_AS(sp::to_petsc(ht::ones({4}, {.dtype = ht::float32})), ht::TypeError);
  if (sizeof(PetscInt) == 4) {
    const auto wide = sp::diags({ht::ones({1}, {.dtype = ht::float64})}, {0}, {2, std::int64_t{1} << 31});
    CHECK_THROWS_WITH(sp::to_petsc(wide), Catch::Contains("indices of 32 bits"));
  }
  const Matrix broken(sp::to_petsc(
      la::LinearOperator({4, 4}, [](const auto&) -> ht::DNDarray { throw ht::ValueError("[host] no product"); })));
  const auto x = ht::ones({4}, {.dtype = ht::float64, .split = 0});
  auto y = ht::zeros({4}, {.dtype = ht::float64, .split = 0});
  const Vector from(sp::to_petsc(x)), to(sp::to_petsc(y));
  CHECK(MatMult(broken, from, to) == PETSC_ERR_LIB);
}

TEST_CASE("handles and matrices of PETSc's that are not ready are an error on all ranks", "[sparse][petsc]") {
  const Session petsc;
  const auto& world = ht::world();
  const auto ones = ht::ones({2 * world.size()}, {.dtype = ht::float64, .split = 0});
  const Vector ready(sp::to_petsc(ones));
  Mat made = nullptr;
  MatCreateAIJ(PETSC_COMM_WORLD, 2, 2, PETSC_DETERMINE, PETSC_DETERMINE, 2, nullptr, 2, nullptr, &made);
  const Matrix a(made);
  const auto refused = [](auto from) { return message_of<ht::ValueError>(from); };
  const auto last = world.rank() == world.size() - 1;

  CHECK_THAT(refused([&] { (void)sp::from_petsc(a); }),
             Catch::StartsWith("[from_petsc] got a matrix that is not assembled; expected it after MatAssemblyBegin"));
  const PetscInt first = 2 * world.rank();
  for (PetscInt row = first; row < first + 2; ++row) MatSetValue(a, row, row, 3, INSERT_VALUES);
  MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY);
  CHECK(same_matrix(sp::from_petsc(a), 3 * at::eye(2 * world.size(), at::kDouble)));
  if (last) MatSetValue(a, first, first, 4, INSERT_VALUES);
  CHECK_THAT(refused([&] { (void)sp::from_petsc(a); }), Catch::Contains("not assembled"));
  MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY);

  for (const bool here : {true, last}) {
    CHECK_THAT(refused([&] { (void)sp::from_petsc(here ? nullptr : static_cast<Mat>(a)); }),
               Catch::StartsWith("[from_petsc] got a null handle"));
    CHECK_THAT(refused([&] { (void)sp::from_petsc(here ? nullptr : static_cast<Vec>(ready)); }),
               Catch::StartsWith("[from_petsc] got a null handle"));
  }
  Vec without = nullptr;
  VecCreate(PETSC_COMM_WORLD, &without);
  const Vector unmade(without);
  CHECK_THAT(refused([&] { (void)sp::from_petsc(unmade); }),
             Catch::StartsWith("[from_petsc] got a vector without a type"));
  CHECK(same(sp::from_petsc(ready), at::ones({2 * world.size()}, at::kDouble)));
}
