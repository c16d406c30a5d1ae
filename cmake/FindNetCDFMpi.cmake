# Finds netCDF's library built for MPI-IO: Debian's (libnetcdf-mpi-dev), whose headers have a directory of their own, or
# one with the plain name whose header says that it is parallel.
# Result: NetCDFMpi_FOUND, NetCDFMpi_VERSION, and the imported target NetCDF::MPI.

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(_netcdf QUIET netcdf-mpi)
endif()
find_path(NetCDFMpi_INCLUDE_DIR netcdf_par.h HINTS ${_netcdf_INCLUDE_DIRS}
  PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} PATH_SUFFIXES netcdf/mpi/include)
find_library(NetCDFMpi_LIBRARY NAMES netcdf_mpi netcdf HINTS ${_netcdf_LIBRARY_DIRS})
if(EXISTS ${NetCDFMpi_INCLUDE_DIR}/netcdf_meta.h)
  file(STRINGS ${NetCDFMpi_INCLUDE_DIR}/netcdf_meta.h NetCDFMpi_PARALLEL REGEX "define NC_HAS_PARALLEL +1")
endif()
set(NetCDFMpi_VERSION ${_netcdf_VERSION})

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NetCDFMpi REQUIRED_VARS NetCDFMpi_LIBRARY NetCDFMpi_INCLUDE_DIR NetCDFMpi_PARALLEL
  VERSION_VAR NetCDFMpi_VERSION)
if(NetCDFMpi_FOUND AND NOT TARGET NetCDF::MPI)
  add_library(NetCDF::MPI SHARED IMPORTED)
  set_target_properties(NetCDF::MPI PROPERTIES IMPORTED_LOCATION ${NetCDFMpi_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${NetCDFMpi_INCLUDE_DIR})
endif()
