#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/adopt.hpp>
#include <heatpp/interop/mpi.hpp>
#include <heatpp/interop/petsc.hpp>
#include <heatpp/sparse/detail/adopted.hpp>
#include <heatpp/sparse/petsc/detail/calls.hpp>

namespace heatpp::sparse {

using namespace detail;

namespace {

constexpr auto op = "from_petsc";
using Held = std::shared_ptr<_p_PetscObject>;

/// Returns default_comm() if the object has the same ranks in their order.
Communicator comm_of(PetscObject object) {
  int relation = MPI_UNEQUAL;
  const auto comm = PetscObjectComm(object);
  const auto ours = default_comm();
  static_cast<void>(MPI_Comm_compare(comm, to_mpi(ours), &relation));
  return relation == MPI_IDENT || relation == MPI_CONGRUENT ? ours : from_mpi(comm);
}

/// Returns comm_of an object. Throws ValueError on all ranks if `check` throws on any, or one has a null handle, which
/// belongs to default_comm(). Collective.
Communicator checked_comm(PetscObject object, const std::function<void()>& check) {
  const auto comm = object ? comm_of(object) : default_comm();
  all_or_none(comm, [&] {
    if (!object) heatpp::detail::raise<ValueError>(op, "got a null handle; expected an object of PETSc on all ranks");
    check();
  });
  return comm;
}

void check_assembled(Mat a) {
  PetscBool assembled = PETSC_FALSE;
  check_petsc(op, MatAssembled(a, &assembled));
  if (!assembled)
    heatpp::detail::raise<ValueError>(
        op, "got a matrix that is not assembled; expected it after MatAssemblyBegin and MatAssemblyEnd");
}

void check_made(Vec x) {
  VecType type = nullptr;
  check_petsc(op, VecGetType(x, &type));
  if (!type)
    heatpp::detail::raise<ValueError>(op,
                                      "got a vector without a type; expected it after VecSetUp or VecSetFromOptions");
}

/// Returns memory of an object, which lives as long as the tensor.
template <class T>
at::Tensor memory_of(const Held& object, const T* data, std::int64_t count, at::ScalarType type) {
  return at::from_blob(
      const_cast<T*>(data), {count}, [object](void*) {}, type);
}

Held shared(Mat a) {
  check_petsc(op, PetscObjectReference(reinterpret_cast<PetscObject>(a)));
  return held(reinterpret_cast<PetscObject>(a));
}

bool is_one_of(Mat a, const char* one, const char* other) {
  PetscBool is = PETSC_FALSE;
  check_petsc(op, PetscObjectBaseTypeCompareAny(reinterpret_cast<PetscObject>(a), &is, one, other, ""));
  return is;
}

Held as_aij(Mat a) {
  if (is_one_of(a, MATSEQAIJ, MATMPIAIJ)) return shared(a);
  Mat converted = nullptr;
  check_petsc(op, MatConvert(a, MATAIJ, MAT_INITIAL_MATRIX, &converted));
  return held(reinterpret_cast<PetscObject>(converted));
}

/// Returns this rank's rows, with the columns of the whole matrix.
Held own_rows(const Held& aij) {
  const auto a = reinterpret_cast<Mat>(aij.get());
  if (is_one_of(a, MATSEQAIJ, MATSEQAIJ)) return aij;
  Mat rows = nullptr;
  check_petsc(op, MatMPIAIJGetLocalMat(a, MAT_INITIAL_MATRIX, &rows));
  return held(reinterpret_cast<PetscObject>(rows));
}

CsrBlock block_in(const Held& rows) {
  constexpr auto whole = sizeof(PetscInt) == 4 ? at::kInt : at::kLong;
  const auto a = reinterpret_cast<Mat>(rows.get());
  PetscInt count = 0;
  const PetscInt *row_ptr = nullptr, *columns = nullptr;
  const PetscScalar* values = nullptr;
  PetscBool done = PETSC_FALSE;
  check_petsc(op, MatGetRowIJ(a, 0, PETSC_FALSE, PETSC_FALSE, &count, &row_ptr, &columns, &done));
  check_petsc(op, MatSeqAIJGetArrayRead(a, &values));
  const std::int64_t entries = row_ptr[count];
  CsrBlock block{memory_of(rows, row_ptr, count + 1, whole).to(at::kLong), memory_of(rows, columns, entries, whole),
                 memory_of(rows, values, entries, heatpp::detail::to_torch(dtype_of<PetscScalar>()))};
  check_petsc(op, MatSeqAIJRestoreArrayRead(a, &values));
  check_petsc(op, MatRestoreRowIJ(a, 0, PETSC_FALSE, PETSC_FALSE, &count, &row_ptr, &columns, &done));
  return block;
}

}  // namespace

DCSRMatrix from_petsc(Mat a) {
  expect_petsc(op);
  const auto comm = checked_comm(reinterpret_cast<PetscObject>(a), [&] { check_assembled(a); });
  PetscInt columns = 0;
  check_petsc(op, MatGetSize(a, nullptr, &columns));
  const auto rows = own_rows(as_aij(a));
  return adopted_rows([&] { return block_in(rows); }, columns, {.split = 0, .comm = comm});
}

DNDarray from_petsc(Vec x) {
  expect_petsc(op);
  const auto object = reinterpret_cast<PetscObject>(x);
  const auto comm = checked_comm(object, [&] { check_made(x); });
  check_petsc(op, PetscObjectReference(object));
  const auto kept = held(object);
  const auto lent = [&] {
    PetscInt count = 0;
    PetscScalar* elements = nullptr;
    check_petsc(op, VecGetLocalSize(x, &count));
    check_petsc(op, VecGetArray(x, &elements));
    const auto block = memory_of(kept, elements, count, heatpp::detail::to_torch(dtype_of<PetscScalar>()));
    check_petsc(op, VecRestoreArray(x, &elements));
    return heatpp::detail::LocalBlock{block};
  };
  return heatpp::detail::adopt({.split = 0, .comm = comm}, lent);
}

}  // namespace heatpp::sparse
