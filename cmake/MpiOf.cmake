# heatpp_expect_same_mpi(<name> <library> <remedy>): an error if a shared library was built with another MPI than that of
# the compiler, because programs would then load both. Libraries that name no MPI pass.

# heatpp_mpi_of(<variable> <library>): the name of the MPI library that a shared library needs, "libmpi.so.40"; or nothing.
function(heatpp_mpi_of variable library)
  execute_process(COMMAND ${CMAKE_READELF} --dynamic ${library} OUTPUT_VARIABLE dynamic ERROR_QUIET)
  string(REGEX MATCH "NEEDED[^\n]*\\[(lib(mpi|mpich|mpi_abi)\\.so[^]]*)\\]" unused "${dynamic}")
  set(${variable} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

# heatpp_compilers_mpi(<variable>): the name of the MPI library that the compiler links.
function(heatpp_compilers_mpi variable)
  set(folder ${PROJECT_BINARY_DIR}/CMakeFiles/mpi_of_compiler)
  file(WRITE ${folder}/mpi.c "#include <mpi.h>\nint main(void) { return MPI_Finalize(); }\n")
  try_compile(linked ${folder} ${folder}/mpi.c LINK_LIBRARIES MPI::MPI_C COPY_FILE ${folder}/program)
  heatpp_mpi_of(found ${folder}/program)
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()

# Returns the name of an MPI for that of its library.
function(heatpp_mpi_name variable library)
  set(name "MPICH or one with its ABI")
  if(library MATCHES "^libmpi\\.so\\.[2-9][0-9]$")
    set(name "Open MPI")
  elseif(library MATCHES "abi")
    set(name "MPI's standard ABI")
  endif()
  set(${variable} "${name}, ${library}" PARENT_SCOPE)
endfunction()

function(heatpp_expect_same_mpi name library remedy)
  if(NOT library)
    return()
  endif()
  heatpp_compilers_mpi(ours)
  heatpp_mpi_of(theirs ${library})
  if(NOT ours OR NOT theirs OR ours STREQUAL theirs)
    return()
  endif()
  heatpp_mpi_name(ours "${ours}")
  heatpp_mpi_name(theirs "${theirs}")
  message(FATAL_ERROR "[heatpp] got ${name} (${library}) built with ${theirs}, beside the compiler ${MPI_C_COMPILER} of ${ours}; "
    "expected both of one MPI: ${remedy}")
endfunction()
