#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/interop/mpi.hpp>
#include <heatpp/interop/petsc.hpp>
#include <heatpp/sparse/detail/impl.hpp>
#include <heatpp/sparse/petsc/detail/calls.hpp>

namespace heatpp::sparse {

using namespace detail;

namespace {

constexpr auto op = "to_petsc";

template <class T>
PetscObject object_of(T* handle) {
  return reinterpret_cast<PetscObject>(handle);
}

MPI_Comm petsc_comm(const Layout& layout, const Communicator& comm) {
  return layout.split() ? to_mpi(comm) : PETSC_COMM_SELF;
}

/// Returns whole numbers of PETSc's size; the tensor itself if it has them.
at::Tensor petsc_ints(const at::Tensor& numbers) {
  return numbers.to(sizeof(PetscInt) == 4 ? at::kInt : at::kLong).contiguous();
}

/// The cuts of a matrix and its vectors, in PETSc's integers.
struct Cut {
  PetscInt rows, columns, all_rows, all_columns;
  Cut(const Layout& layout, int rank, const Shape& shape)
      : rows(petsc_int(op, layout.local_shape(rank)[0])),
        columns(!layout.split()        ? petsc_int(op, shape[1])
                : shape[0] == shape[1] ? rows
                                       : petsc_int(op, Layout({shape[1]}, 0, layout.ranks()).count(rank))),
        all_rows(petsc_int(op, shape[0])),
        all_columns(petsc_int(op, shape[1])) {}
};

/// What PETSc's matrix on one rank shares.
struct Shared {
  CsrBlock block;
  at::Tensor row_ptr, columns;
};

Mat shared_matrix(const CsrBlock& block, const Cut& cut, MPI_Comm comm) {
  auto shared = std::make_shared<Shared>(Shared{block, petsc_ints(block.row_ptr), petsc_ints(block.columns)});
  Mat made = nullptr;
  check_petsc(op, MatCreateSeqAIJWithArrays(comm, cut.rows, cut.all_columns, shared->row_ptr.data_ptr<PetscInt>(),
                                            shared->columns.data_ptr<PetscInt>(),
                                            static_cast<PetscScalar*>(block.values.data_ptr()), &made));
  keep_with(op, object_of(made), std::move(shared));
  return made;
}

Mat copied_matrix(const CsrBlock& block, const Cut& cut, MPI_Comm comm) {
  const auto row_ptr = petsc_ints(block.row_ptr), columns = petsc_ints(block.columns);
  Mat made = nullptr;
  check_petsc(op, MatCreateMPIAIJWithArrays(comm, cut.rows, cut.columns, cut.all_rows, cut.all_columns,
                                            row_ptr.const_data_ptr<PetscInt>(), columns.const_data_ptr<PetscInt>(),
                                            static_cast<const PetscScalar*>(block.values.const_data_ptr()), &made));
  return made;
}

/// An operator and the layouts of its vectors.
struct Shell {
  linalg::LinearOperator of;
  Layout rows, columns;
  Communicator comm;
  /// y = f(x).
  void apply(const linalg::LinearOperator::Apply& f, Vec x, const Layout& of_x, Vec y, const Layout& of_y) const;
};

/// Returns elements that PETSc lends.
at::Tensor lent(const PetscScalar* elements, std::int64_t count) {
  return at::from_blob(const_cast<PetscScalar*>(elements), {count}, heatpp::detail::to_torch(dtype_of<PetscScalar>()));
}

void Shell::apply(const linalg::LinearOperator::Apply& f, Vec x, const Layout& of_x, Vec y, const Layout& of_y) const {
  const PetscScalar* from = nullptr;
  PetscScalar* to = nullptr;
  const auto rank = comm.rank();
  check_petsc(op, VecGetArrayRead(x, &from));
  const auto found = f(heatpp::detail::wrap(lent(from, of_x.local_shape(rank)[0]), of_x, comm));
  check_petsc(op, VecRestoreArrayRead(x, &from));
  const auto block = heatpp::detail::relayout(found, of_y);
  check_petsc(op, VecGetArrayWrite(y, &to));
  lent(to, of_y.local_shape(rank)[0]).copy_(block);
  check_petsc(op, VecRestoreArrayWrite(y, &to));
}

/// Multiplies as PETSc calls it: errors become codes.
template <bool adjoint>
PetscErrorCode multiply(Mat a, Vec x, Vec y) {
  const Shell* shell = nullptr;
  if (const auto code = MatShellGetContext(a, &shell)) return code;
  try {
    if (adjoint) shell->apply(shell->of.apply_adjoint, x, shell->rows, y, shell->columns);
    else shell->apply(shell->of.apply, x, shell->columns, y, shell->rows);
  } catch (const std::exception& error) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", error.what());
  }
  return 0;
}

void set_operation(Mat shell, MatOperation which, PetscErrorCode (*product)(Mat, Vec, Vec)) {
  check_petsc(op, MatShellSetOperation(shell, which, reinterpret_cast<void (*)()>(product)));
}

/// Makes a Vec of these elements, which are distributed over `comm` by `layout`.
Vec vector_of(const DNDarray& x, const PetscScalar* elements) {
  const auto comm = petsc_comm(x.layout(), x.comm());
  const auto own = petsc_int(op, x.lshape()[0]), all = petsc_int(op, x.shape()[0]);
  Vec made = nullptr;
  check_petsc(op, x.split() && x.comm().size() > 1 ? VecCreateMPIWithArray(comm, 1, own, all, elements, &made)
                                                   : VecCreateSeqWithArray(comm, 1, own, elements, &made));
  return made;
}

void check_vector(const DNDarray& x) {
  expect_petsc(op);
  check_scalar(op, x.dtype());
  if (x.ndim() != 1 || !x.larray().is_cpu())
    raise<ValueError>(op, "got an array of shape {} on {}; expected a vector on the CPU", to_string(x.shape()),
                      to_string(x.device()));
  static_cast<void>(petsc_int(op, x.shape()[0]));
}

}  // namespace

Mat to_petsc(const DCSRMatrix& a) {
  expect_petsc(op);
  check_scalar(op, a.dtype());
  const Cut cut(a.layout(), a.comm().rank(), a.shape());
  Mat made = nullptr;
  all_or_none(a.comm(), [&] { static_cast<void>(petsc_int(op, a.lnnz())); });
  const auto comm = petsc_comm(a.layout(), a.comm());
  const bool alone = !a.split() || a.comm().size() == 1;
  made = alone ? shared_matrix(block_of(a), cut, comm) : copied_matrix(block_of(a), cut, comm);
  return made;
}

Mat to_petsc(const linalg::LinearOperator& a) {
  expect_petsc(op);
  const auto comm = a.cut ? a.cut->comm : default_comm();
  const auto rows = a.cut ? a.cut->layout : Layout({a.shape[0]}, 0, comm.size());
  const auto columns = a.shape[0] == a.shape[1] ? rows : Layout({a.shape[1]}, rows.split(), comm.size());
  const Cut cut(rows, comm.rank(), a.shape);
  const auto shell = std::make_shared<Shell>(Shell{a, rows, columns, comm});
  Mat made = nullptr;
  check_petsc(op, MatCreateShell(petsc_comm(rows, comm), cut.rows, cut.columns, cut.all_rows, cut.all_columns,
                                 shell.get(), &made));
  keep_with(op, object_of(made), shell);
  set_operation(made, MATOP_MULT, multiply<false>);
  if (a.apply_adjoint)
    set_operation(made, is_complex(dtype_of<PetscScalar>()) ? MATOP_MULT_HERMITIAN_TRANSPOSE : MATOP_MULT_TRANSPOSE,
                  multiply<true>);
  return made;
}

Vec to_petsc(DNDarray& x) {
  check_vector(x);
  return vector_of(x, x.local<PetscScalar>().data());
}

Vec to_petsc(const DNDarray& x) {
  check_vector(x);
  const auto block = std::make_shared<at::Tensor>(x.larray().contiguous());
  const auto made = vector_of(x, static_cast<const PetscScalar*>(block->const_data_ptr()));
  keep_with(op, object_of(made), block);
  check_petsc(op, VecLockReadPush(made));
  return made;
}

}  // namespace heatpp::sparse
