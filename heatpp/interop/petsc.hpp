#pragma once

#include <petscmat.h>

#include <heatpp/sparse/dcsr.hpp>

namespace heatpp::sparse {

// Converts matrices and arrays to PETSc's and back: target heatpp::sparse_petsc. The host initializes and finalises
// PETSc within the life of ht::Environment, on `ht::to_mpi(ht::world())` as its PETSC_COMM_WORLD or any other. An
// object lies on the communicator of its origin, or on PETSC_COMM_SELF if that is replicated. The caller destroys it.
// It keeps the memory that it shares, except vectors for writing. dtypes are PETSc's scalar, float64 as a rule; nothing
// is converted, and others are a TypeError. Sizes beyond PetscInt, an uninitialized PETSc, and errors of PETSc are
// ValueErrors, on all ranks. All are collective.

/// Makes a matrix in PETSc's AIJ format, for all functions of PETSc. On one rank and for a replicated matrix, PETSc
/// shares the values, and the columns if PetscInt has their size; what PETSc writes to the Mat it then writes to `a`
/// and its copies. On several ranks PETSc stores the diagonal block apart, and so makes a copy.
[[nodiscard]] Mat to_petsc(const DCSRMatrix& a);
/// Makes a shell matrix whose products are the operator's: those of a sparse matrix,
/// `to_petsc(linalg::LinearOperator(a))`, in place, on any number of ranks and for any dtype. Only results are copied.
/// For Krylov methods, not for factors.
[[nodiscard]] Mat to_petsc(const linalg::LinearOperator& a);

/// Gives this rank's block of a vector (n,) in place for writing. `x` has to outlive the Vec. Meanwhile it must not be
/// assigned to, and no array that is written may be a copy of it, as with `x.local<T>()`.
[[nodiscard]] Vec to_petsc(DNDarray& x);
/// Gives a vector for reading. The Vec keeps its elements alive. A PETSc built for debugging refuses to write
/// there.
[[nodiscard]] Vec to_petsc(const DNDarray& x);

/// Makes a matrix cut by rows as the Mat, on default_comm() if that has the same ranks. From a Mat on one rank it
/// shares the values and keeps the Mat. On several ranks PETSc merges the parts of each row once
/// (MatMPIAIJGetLocalMat); other formats are converted to AIJ. Call it again after PETSc changed the matrix. Throws
/// ValueError on all ranks for a matrix that is not assembled and for a null handle, which belongs to default_comm().
[[nodiscard]] DCSRMatrix from_petsc(Mat a);
/// Makes an array cut as the Vec, in place, for reading and writing; it keeps the Vec. VecRestoreArray tells PETSc of
/// writes. Throws ValueError on all ranks for a vector without a type and for a null handle, as for a matrix.
[[nodiscard]] DNDarray from_petsc(Vec x);

}  // namespace heatpp::sparse
