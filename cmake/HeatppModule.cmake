# The calls with which every CMakeLists.txt of the project is written.

include(GNUInstallDirs)

# heatpp_use_pch(<target> aten|aten_brief|torch|test|test_torch) compiles the target with one of the shared precompiled
# headers, and with the optimisation of that header: after some #includes, GCC follows the options of the precompiled
# header, not those of the command. The headers are position independent code, as in libraries, so executables have to be,
# too.
function(heatpp_use_pch target pch)
  target_link_libraries(${target} PRIVATE LibTorch::LibTorch)
  heatpp_optimise(${target} "${HEATPP_OPTIMISATION_${pch}}")
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  target_precompile_headers(${target} REUSE_FROM heatpp_pch_${pch})
endfunction()

# heatpp_compile_in_groups(<target>) compiles up to sixteen sources of one folder as one, which costs about as much as two of
# them alone, because headers are read and templates instantiated once. All names of a group must differ, also those in
# unnamed namespaces. Alone stay kernels, whose code must not depend on their neighbours, sources with options of their own,
# those that name their operation `op`, and the SOURCES_ALONE of the target, which may also have a smaller number as
# SOURCES_IN_GROUP. Paths are relative to the project, so that ccache knows a group in any folder.
function(heatpp_compile_in_groups target)
  get_target_property(sources ${target} SOURCES)
  get_target_property(alone ${target} SOURCES_ALONE)
  get_target_property(most ${target} SOURCES_IN_GROUP)
  if(NOT most)
    set(most 16)
  endif()
  foreach(source ${sources})
    if(NOT source MATCHES "^[^$]+[.]cpp$" OR source IN_LIST alone)
      continue()
    endif()
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
    get_source_file_property(generated ${path} GENERATED)
    if(options OR generated)
      continue()
    endif()
    file(STRINGS ${path} own REGEX "HEATPP_SIMD|#pragma GCC|always_inline|<hwy/|^constexpr auto op =" LIMIT_COUNT 1)
    if(NOT own)
      string(REGEX MATCH "[a-z][^/.]*/" family "${source}")
      string(REPLACE "/" "" family "${family}")
      list(APPEND families "${family}_")
      list(APPEND in_${family}_ ${path})
      list(REMOVE_ITEM sources ${source})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES families)
  foreach(family ${families})
    list(LENGTH in_${family} number)
    math(EXPR groups "(${number} + ${most} - 1) / ${most}")
    math(EXPR size "(${number} + ${groups} - 1) / ${groups}")
    foreach(group RANGE 1 ${groups})
      math(EXPR first "(${group} - 1) * ${size}")
      list(SUBLIST in_${family} ${first} ${size} members)
      list(LENGTH members number)
      if(number GREATER 1)
        set(file ${CMAKE_CURRENT_BINARY_DIR}/groups/${target}_${family}${group}.cpp)
        heatpp_write_group(${file} ${members})
        list(APPEND sources ${file})
      else()
        list(APPEND sources ${members})
      endif()
    endforeach()
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES ${sources})
endfunction()

# heatpp_write_group(<file> <sources>) writes a file that includes the sources.
function(heatpp_write_group file)
  set(text "")
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    set(text "#pragma GCC diagnostic ignored \"-Wshadow\"\n#pragma GCC diagnostic ignored \"-Wsubobject-linkage\"\n")
  endif()
  foreach(source ${ARGN})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
    string(APPEND text "#include \"${name}\"\n")
  endforeach()
  file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
endfunction()

# heatpp_group_later(<target>) forms the groups when all properties of the sources are known.
function(heatpp_group_later target)
  if(HEATPP_GROUPS)
    cmake_language(EVAL CODE "cmake_language(DEFER CALL heatpp_compile_in_groups ${target})")
  endif()
endfunction()

# Targets that mostly call the library are compiled with little optimisation, which saves a third of their compile time.
# Tests are compiled with even less, as they are run a few times only.
set(HEATPP_OPTIMISATION_aten_brief -O1)
set(HEATPP_OPTIMISATION_torch -O1)
set(HEATPP_OPTIMISATION_test -Og)
set(HEATPP_OPTIMISATION_test_torch -Og)

# heatpp_optimise(<target> [<option>]) compiles the target with this optimisation instead of CMake's for Release.
function(heatpp_optimise target option)
  if(option)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${option}>)
  endif()
endfunction()

# heatpp_export_only(<target> <version script>) hides all symbols of a shared library except those in the script, and lets
# it load only the libraries that it uses.
function(heatpp_export_only target script)
  target_link_options(${target} PRIVATE LINKER:--as-needed,--version-script=${script})
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${script}
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  set_property(GLOBAL APPEND PROPERTY HEATPP_SHARED_LIBRARIES ${target})
endfunction()

# heatpp_add_library(<name> SOURCES ... HEADERS ... [LINK ...] [LINK_PRIVATE ...] [PCH aten|aten_brief|torch] [INCLUDE_AS <folder>])
# makes the target heatpp_<name> with the alias heatpp::<name>, warnings, installation and a check of the headers.
# Headers are named relative to the module's folder; those in detail/ are installed, too, because templates need them.
function(heatpp_add_library name)
  cmake_parse_arguments(ARG "" "PCH;INCLUDE_AS" "SOURCES;HEADERS;LINK;LINK_PRIVATE" ${ARGN})
  set(target heatpp_${name})
  add_library(${target} ${ARG_SOURCES})
  add_library(heatpp::${name} ALIAS ${target})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/io> $<INSTALL_INTERFACE:include>)
  target_link_libraries(${target} PUBLIC ${ARG_LINK} PRIVATE heatpp_options ${ARG_LINK_PRIVATE})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  if(BUILD_SHARED_LIBS)  # made of the objects of static libraries
    set_target_properties(${target} PROPERTIES DEFINE_SYMBOL "")
    heatpp_export_only(${target} ${PROJECT_SOURCE_DIR}/cmake/exports.map)
  endif()
  if(ARG_PCH)
    heatpp_use_pch(${target} ${ARG_PCH})
  endif()
  heatpp_group_later(${target})

  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(REGEX REPLACE "^io/" "" folder "${folder}")
  foreach(header ${ARG_HEADERS})
    get_filename_component(sub ${header} DIRECTORY)
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder}/${sub})
    if(NOT header MATCHES "detail/")
      set_property(GLOBAL APPEND PROPERTY HEATPP_PUBLIC_HEADERS ${folder}/${header})
    endif()
  endforeach()
  add_dependencies(heatpp_installed ${target})
  install(TARGETS ${target} EXPORT heatpp-${name} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT heatpp-${name} NAMESPACE heatpp:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/heatpp)
endfunction()

# heatpp_add_test(<name> SOURCES ... [RANKS 1 2 3 4] [LINK ...] [PCH test|test_torch] [TIMEOUT seconds])
# makes one binary test_<name> and one ctest entry <name>.np<ranks> for each number of ranks.
function(heatpp_add_test name)
  cmake_parse_arguments(ARG "" "PCH;TIMEOUT" "SOURCES;RANKS;LINK" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  set(target test_${name})
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE ${ARG_LINK} heatpp_test_main heatpp_options MPI::MPI_C)
  if(ARG_PCH)
    heatpp_use_pch(${target} ${ARG_PCH})
  else()
    heatpp_optimise(${target} ${HEATPP_OPTIMISATION_test})
  endif()
  heatpp_group_later(${target})
  foreach(ranks ${ARG_RANKS})
    set(threads 1)
    if(ranks EQUAL 1)  # a single process uses threads
      set(threads 3)
    endif()
    heatpp_add_mpi_test(${name}.np${ranks} RANKS ${ranks} TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT OMP_NUM_THREADS=${threads}
      COMMAND $<TARGET_FILE:${target}> --order lex --rng-seed 1)
    if(ranks EQUAL 1)  # alone on its cores, because threads that wait for each other occupy those of others
      set_tests_properties(${name}.np1 PROPERTIES PROCESSORS ${threads})
    endif()
  endforeach()
endfunction()

# heatpp_add_mpi_test(<ctest name> RANKS <n> COMMAND ... [ENVIRONMENT ...] [RANK_0 ...] [OTHERS ...] [TIMEOUT seconds])
# runs a command under mpirun, with variables of the environment on all ranks, on rank 0, or on the others.
function(heatpp_add_mpi_test name)
  cmake_parse_arguments(ARG "" "RANKS;TIMEOUT" "COMMAND;ENVIRONMENT;RANK_0;OTHERS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(ARG_RANK_0 OR ARG_OTHERS)
    math(EXPR others "${ARG_RANKS} - 1")
    add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 1 env ${ARG_RANK_0} ${ARG_COMMAND}
      : ${MPIEXEC_NUMPROC_FLAG} ${others} env ${ARG_OTHERS} ${ARG_COMMAND})
  else()
    add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ARG_RANKS} ${ARG_COMMAND})
  endif()
  file(STRINGS ${PROJECT_SOURCE_DIR}/scripts/openmpi.env environment REGEX "^(OMPI|PRTE)")
  if(HEATPP_HYDRA)  # MPICH's ranks occupy cores that others need while MPI-IO and HDF5 make them wait
    math(EXPR ARG_TIMEOUT "3 * ${ARG_TIMEOUT}")
  endif()
  set_tests_properties(${name} PROPERTIES PROCESSORS ${ARG_RANKS} TIMEOUT ${ARG_TIMEOUT}
    ENVIRONMENT "${environment};OMP_NUM_THREADS=1;ASAN_OPTIONS=detect_leaks=0;${ARG_ENVIRONMENT}")
endfunction()
