# Finds PETSc by its pkg-config file (Debian: petsc-dev), from 3.17 on, with real or complex scalars.
# Result: PETSc_FOUND, PETSc_VERSION, and the imported target PETSc::PETSc.

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_search_module(_petsc QUIET PETSc petsc)
endif()
find_path(PETSc_INCLUDE_DIR petscmat.h HINTS ${_petsc_INCLUDE_DIRS})
find_library(PETSc_LIBRARY NAMES ${_petsc_LIBRARIES} petsc HINTS ${_petsc_LIBRARY_DIRS})
set(PETSc_VERSION ${_petsc_VERSION})

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PETSc REQUIRED_VARS PETSc_LIBRARY PETSc_INCLUDE_DIR VERSION_VAR PETSc_VERSION)
if(PETSc_FOUND AND NOT TARGET PETSc::PETSc)
  add_library(PETSc::PETSc SHARED IMPORTED)
  set_target_properties(PETSc::PETSc PROPERTIES IMPORTED_LOCATION ${PETSc_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES "${PETSc_INCLUDE_DIR};${_petsc_INCLUDE_DIRS}")
endif()
mark_as_advanced(PETSc_INCLUDE_DIR PETSc_LIBRARY)
