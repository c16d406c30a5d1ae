#pragma once

#include <petscmat.h>

#include <heatpp/core/dndarray.hpp>

#include <memory>

namespace heatpp::sparse::detail {

/// Throws ValueError where PETSc is not running.
void expect_petsc(const char* op);
/// Throws ValueError for what PETSc calls an error.
void check_petsc(const char* op, PetscErrorCode code);
/// Throws TypeError for a dtype other than PetscScalar's.
void check_scalar(const char* op, Dtype dtype);
/// A size as PETSc's whole number. Throws ValueError where it does not fit.
[[nodiscard]] PetscInt petsc_int(const char* op, std::int64_t number);

/// PETSc's object of whose references one is held until the last copy of the pointer goes, or PETSc ends.
[[nodiscard]] std::shared_ptr<_p_PetscObject> held(PetscObject object);
/// Makes PETSc's object keep `kept`.
void keep_with(const char* op, PetscObject object, std::shared_ptr<const void> kept);

}  // namespace heatpp::sparse::detail
