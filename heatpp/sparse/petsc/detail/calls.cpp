#include <heatpp/sparse/petsc/detail/calls.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/promotion.hpp>

#include <limits>

namespace heatpp::sparse {

using heatpp::detail::raise;

namespace {

bool petsc_runs() {
  PetscBool began = PETSC_FALSE, ended = PETSC_FALSE;
  return PetscInitialized(&began) == 0 && PetscFinalized(&ended) == 0 && began && !ended;
}

PetscErrorCode release(void* kept) {
  delete static_cast<std::shared_ptr<const void>*>(kept);
  return 0;
}

}  // namespace

void detail::expect_petsc(const char* op) {
  if (!petsc_runs())
    raise<ValueError>(op, "got a PETSc that is not running; expected one between PetscInitialize and PetscFinalize");
}

void detail::check_petsc(const char* op, PetscErrorCode code) {
  if (code == 0) return;
  const char* text = nullptr;
  static_cast<void>(PetscErrorMessage(code, &text, nullptr));
  raise<ValueError>(op, "got PETSc's error {}: {}", static_cast<int>(code), text ? text : "unknown");
}

void detail::check_scalar(const char* op, Dtype dtype) {
  constexpr auto scalar = dtype_of<PetscScalar>();
  if (dtype != scalar)
    raise<TypeError>(op, "got {}; expected {}, PETSc's scalar: astype gives it", name(dtype), name(scalar));
}

PetscInt detail::petsc_int(const char* op, std::int64_t number) {
  constexpr auto most = static_cast<std::int64_t>(std::numeric_limits<PetscInt>::max());
  if (number > most)
    raise<ValueError>(op, "got {} rows, columns or entries; expected at most {}, as PETSc has indices of {} bits",
                      number, most, 8 * sizeof(PetscInt));
  return static_cast<PetscInt>(number);
}

std::shared_ptr<_p_PetscObject> detail::held(PetscObject object) {
  return {object, [](PetscObject last) {
            if (petsc_runs()) static_cast<void>(PetscObjectDestroy(&last));
          }};
}

void detail::keep_with(const char* op, PetscObject object, std::shared_ptr<const void> kept) {
  PetscContainer container = nullptr;
  check_petsc(op, PetscContainerCreate(PETSC_COMM_SELF, &container));
  check_petsc(op, PetscContainerSetPointer(container, new std::shared_ptr<const void>(std::move(kept))));
  check_petsc(op, PetscContainerSetUserDestroy(container, release));
  check_petsc(op, PetscObjectCompose(object, "heatpp", reinterpret_cast<PetscObject>(container)));
  check_petsc(op, PetscContainerDestroy(&container));
}

}  // namespace heatpp::sparse
