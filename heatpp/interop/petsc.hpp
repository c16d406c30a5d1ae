#pragma once

#include <petscmat.h>

#include <heatpp/sparse/dcsr.hpp>

namespace heatpp::sparse {

// Matrices and arrays as PETSc's, and back: target heatpp::sparse_petsc. PETSc is initialised and finalised by the
// host, within the life of ht::Environment, on `ht::to_mpi(ht::world())` as its PETSC_COMM_WORLD or any other. Objects
// lie on the communicator of what they were made of, or on PETSC_COMM_SELF where that is replicated, are destroyed by
// the caller, and hold what they share, but for vectors to write to. dtypes are PETSc's scalar, float64 as a rule, and
// nothing is converted: TypeError for others. Sizes that PetscInt has not, an uninitialised PETSc, and what PETSc calls
// an error are ValueErrors, on all ranks. All are collective.

/// A matrix in PETSc's AIJ format, for all that PETSc has. On one rank and of a replicated matrix the values, and the
/// columns where PetscInt has their size, stay where they are, so that PETSc writes to `a` and its copies what it
/// writes to the Mat. On several, PETSc keeps the block on the diagonal apart from the rest, and so a copy.
[[nodiscard]] Mat to_petsc(const DCSRMatrix& a);
/// A shell, whose products are the operator's: those of a sparse matrix, `to_petsc(linalg::LinearOperator(a))`, where
/// it lies, on any number of ranks and of a matrix of any dtype. Nothing is copied but results. For Krylov methods, not
/// for factors.
[[nodiscard]] Mat to_petsc(const linalg::LinearOperator& a);

/// This rank's block of a vector (n,), in place, to write to: `x` has to outlive the Vec and must not be assigned or
/// copied to another array that is written meanwhile, as with `x.local<T>()`.
[[nodiscard]] Vec to_petsc(DNDarray& x);
/// The same to read, of a vector whose elements the Vec keeps alive. A PETSc built for debugging refuses to write
/// there.
[[nodiscard]] Vec to_petsc(const DNDarray& x);

/// The matrix cut by rows as the Mat, on default_comm() if that has the same ranks. Of a Mat on one rank it shares the
/// values, and keeps the Mat; of several ranks PETSc merges the parts of each row once (MatMPIAIJGetLocalMat); other
/// formats are converted to AIJ. Call it again after PETSc has changed the matrix. Throws ValueError on all ranks for a
/// matrix that is not assembled, and for a null handle, which belongs to default_comm().
[[nodiscard]] DCSRMatrix from_petsc(Mat a);
/// The vector cut as the Vec, in place, to read and write; it keeps the Vec. PETSc hears of what is written there by
/// VecRestoreArray. Throws ValueError on all ranks for a vector without a type and for a null handle, as for a matrix.
[[nodiscard]] DNDarray from_petsc(Vec x);

}  // namespace heatpp::sparse
