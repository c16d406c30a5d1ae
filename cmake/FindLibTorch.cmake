# Finds LibTorch's CPU libraries without its own CMake package, which requires a CUDA toolkit and links the CUDA
# libraries (0.5 GB to map at start-up) to every program.
#
# Looks in Torch_DIR, in the folder HEATPP_LIBTORCH and the virtual environment HEATPP_VENV (each a cache or environment
# variable), and in CMAKE_PREFIX_PATH, a variable of the cache or the environment.
# Result: LibTorch_FOUND, LibTorch_VERSION, and the imported target LibTorch::LibTorch. If LibTorch was built with
# CUDA and HEATPP_CUDA is on, LibTorch::CUDA loads the CUDA libraries into the program that links it.

set(_hints ${Torch_DIR}/../../.. $ENV{Torch_DIR}/../../.. ${HEATPP_LIBTORCH} $ENV{HEATPP_LIBTORCH})
foreach(_venv ${HEATPP_VENV} $ENV{HEATPP_VENV})
  file(GLOB _site ${_venv}/lib/python3*/site-packages/torch)
  list(APPEND _hints ${_site})
endforeach()
string(REPLACE ":" ";" _prefixes "$ENV{CMAKE_PREFIX_PATH}")
foreach(_prefix ${CMAKE_PREFIX_PATH} ${_prefixes})
  list(APPEND _hints ${_prefix} ${_prefix}/../..)  # torch.utils.cmake_prefix_path is <torch>/share/cmake
endforeach()

find_path(LibTorch_INCLUDE_DIR ATen/ATen.h HINTS ${_hints} PATH_SUFFIXES include)
find_library(LibTorch_CPU_LIBRARY torch_cpu HINTS ${_hints} PATH_SUFFIXES lib)
find_library(LibTorch_C10_LIBRARY c10 HINTS ${_hints} PATH_SUFFIXES lib)
find_library(LibTorch_CUDA_LIBRARY torch_cuda HINTS ${_hints} PATH_SUFFIXES lib)
foreach(_header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
  if(LibTorch_INCLUDE_DIR AND NOT LibTorch_VERSION AND EXISTS ${LibTorch_INCLUDE_DIR}/${_header})
    file(STRINGS ${LibTorch_INCLUDE_DIR}/${_header} _lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH)")
    string(REGEX MATCHALL "[0-9]+" _numbers "${_lines}")
    list(JOIN _numbers "." LibTorch_VERSION)
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_INCLUDE_DIR
  VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE "run scripts/setup, or pass -DCMAKE_PREFIX_PATH=<directory of LibTorch>")
mark_as_advanced(LibTorch_INCLUDE_DIR LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_CUDA_LIBRARY)

if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  add_library(LibTorch::c10 SHARED IMPORTED)
  set_target_properties(LibTorch::c10 PROPERTIES IMPORTED_LOCATION ${LibTorch_C10_LIBRARY})
  add_library(LibTorch::LibTorch SHARED IMPORTED)
  set_target_properties(LibTorch::LibTorch PROPERTIES
    IMPORTED_LOCATION ${LibTorch_CPU_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES "${LibTorch_INCLUDE_DIR};${LibTorch_INCLUDE_DIR}/torch/csrc/api/include"
    INTERFACE_LINK_LIBRARIES LibTorch::c10)
  # The wheel of 2.15 holds a libgfortran of GCC 8 that nothing there needs. The linker would find it before the system's,
  # and miss what libraries written in Fortran need.
  cmake_path(GET LibTorch_CPU_LIBRARY PARENT_PATH _lib)
  find_library(LibTorch_SYSTEM_GFORTRAN libgfortran.so.5 HINTS ${CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES})
  mark_as_advanced(LibTorch_SYSTEM_GFORTRAN)
  if(EXISTS ${_lib}/libgfortran.so.5 AND LibTorch_SYSTEM_GFORTRAN)
    cmake_path(GET LibTorch_SYSTEM_GFORTRAN PARENT_PATH _system)
    set_property(TARGET LibTorch::LibTorch PROPERTY INTERFACE_LINK_OPTIONS LINKER:-rpath-link,${_system})
  endif()
  if(LibTorch_CUDA_LIBRARY)
    add_library(LibTorch::CUDA INTERFACE IMPORTED)
    set_target_properties(LibTorch::CUDA PROPERTIES INTERFACE_LINK_LIBRARIES
      "LibTorch::LibTorch;-Wl,--no-as-needed,\"${LibTorch_CUDA_LIBRARY}\" -Wl,--as-needed")
  endif()
endif()
