#pragma once

#include <petscmat.h>

#include <heatpp/core/dndarray.hpp>

#include <memory>

namespace heatpp::sparse::detail {

/// Throws ValueError unless PETSc is running.
void expect_petsc(const char* op);
/// Throws ValueError for an error code of PETSc.
void check_petsc(const char* op, PetscErrorCode code);
/// Throws TypeError for a dtype other than PetscScalar's.
void check_scalar(const char* op, Dtype dtype);
/// Returns a size as PETSc's integer. Throws ValueError if it does not fit.
[[nodiscard]] PetscInt petsc_int(const char* op, std::int64_t number);

/// Holds a reference to PETSc's object until the last copy of the pointer is destroyed, or PETSc ends.
[[nodiscard]] std::shared_ptr<_p_PetscObject> held(PetscObject object);
/// Makes PETSc's object keep `kept`.
void keep_with(const char* op, PetscObject object, std::shared_ptr<const void> kept);

}  // namespace heatpp::sparse::detail
