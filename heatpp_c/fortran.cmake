# The part of heatpp.f90 that repeats for arrays of every rank. Fortran has no standard way, known to all compilers, to pass
# the address, the kind and the strides of any array to C, so each rank has its own procedures.

set(HEATPP_FORTRAN_KINDS
  "integer(int8) HT_INT8" "integer(int16) HT_INT16" "integer(int32) HT_INT32" "integer(int64) HT_INT64"
  "real(real32) HT_FLOAT32" "real(real64) HT_FLOAT64" "complex(real32) HT_COMPLEX64" "complex(real64) HT_COMPLEX128"
  "logical(c_bool) HT_BOOL")

# heatpp_element(<variable> <rank> <dimension>): the first element, or the second along a dimension: "(1, 2)".
function(heatpp_element variable rank dimension)
  set(places "")
  if(rank GREATER 0)
    foreach(at RANGE 1 ${rank})
      if(at EQUAL dimension)
        list(APPEND places 2)
      else()
        list(APPEND places 1)
      endif()
    endforeach()
  endif()
  list(JOIN places ", " text)
  if(rank GREATER 0)
    set(text "(${text})")
  endif()
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# heatpp_fortran_memory(<variable> <rank>): the function that describes the memory of an array of this rank.
function(heatpp_fortran_memory variable rank)
  heatpp_element(first ${rank} 0)
  set(branches "")
  foreach(kind ${HEATPP_FORTRAN_KINDS})
    string(REGEX MATCH "^(.*) (.*)$" unused "${kind}")
    string(APPEND branches "    type is (${CMAKE_MATCH_1})\n      m%dtype = ${CMAKE_MATCH_2}\n      if (any(m%extents(1:${rank}) == 0)) return\n")
    string(APPEND branches "      m%address = c_loc(a${first})\n")
    if(rank GREATER 0)
      foreach(dimension RANGE 1 ${rank})
        heatpp_element(next ${rank} ${dimension})
        string(APPEND branches "      if (m%extents(${dimension}) > 1) m%strides(${dimension}) = between(m%address, c_loc(a${next}))\n")
      endforeach()
    endif()
  endforeach()
  set(${variable} "  function memory_${rank}(a) result(m)
    class(*), intent(in), target :: a${dims}
    type(ht_memory) :: m
    m%rank = ${rank}
    m%extents(1:${rank}) = shape(a, c_int64_t)
    m%bytes = int(storage_size(a) / 8, c_int)
    select type (a)
${branches}    type is (character(*))
      m%dtype = characters
    end select
  end function
" PARENT_SCOPE)
endfunction()

# heatpp_fortran_ranks(<interfaces> <procedures>): the generic names and their procedures.
function(heatpp_fortran_ranks interfaces procedures)
  set(names "")
  set(text "")
  foreach(rank RANGE 15)
    string(REPEAT ":, " ${rank} dims)
    string(REGEX REPLACE "^(.*), $" "(\\1)" dims "${dims}")
    foreach(name memory adopt read from_brick to_brick adopt_brick refresh_brick)
      string(APPEND ${name}_all ", ${name}_${rank}")
    endforeach()
    heatpp_fortran_memory(places ${rank})
    string(APPEND text "${places}
  subroutine adopt_${rank}(ranks, block, x, dim, status, grid)
    type(ht_comm), intent(in) :: ranks
    class(*), intent(in), target :: block${dims}
    type(ht_array), intent(inout) :: x
    integer, intent(in), optional :: dim, grid(:)
    integer, intent(out), optional :: status
    call adopt(ranks, memory_${rank}(block), x, dim, status, grid)
  end subroutine
  subroutine read_${rank}(x, block, status)
    type(ht_array), intent(in) :: x
    class(*), intent(inout), target :: block${dims}
    integer, intent(out), optional :: status
    call answer(c_read(x%handle, memory_${rank}(block)), status)
  end subroutine
  subroutine from_brick_${rank}(plan, brick, x, status)
    type(ht_plan), intent(in) :: plan
    class(*), intent(in), target :: brick${dims}
    type(ht_array), intent(inout) :: x
    integer, intent(out), optional :: status
    call ht_from_bricks(plan, [memory_${rank}(brick)], x, status)
  end subroutine
  subroutine to_brick_${rank}(plan, x, brick, status)
    type(ht_plan), intent(in) :: plan
    type(ht_array), intent(in) :: x
    class(*), intent(inout), target :: brick${dims}
    integer, intent(out), optional :: status
    call ht_to_bricks(plan, x, [memory_${rank}(brick)], status)
  end subroutine
  subroutine adopt_brick_${rank}(plan, brick, x, status)
    type(ht_plan), intent(in) :: plan
    class(*), intent(in), target :: brick${dims}
    type(ht_array), intent(inout) :: x
    integer, intent(out), optional :: status
    call adopt_brick(plan, memory_${rank}(brick), x, status)
  end subroutine
  subroutine refresh_brick_${rank}(plan, brick, periodic, status)
    type(ht_plan), intent(in) :: plan
    class(*), intent(inout), target :: brick${dims}
    logical, intent(in), optional :: periodic(:)
    integer, intent(out), optional :: status
    call ht_refresh_bricks(plan, [memory_${rank}(brick)], periodic, status)
  end subroutine

")
  endforeach()
  foreach(name memory adopt read from_brick to_brick adopt_brick refresh_brick)
    set(generic ht_${name})
    if(name STREQUAL "memory")
      set(generic ht_at)
    endif()
    string(REGEX REPLACE "^, " "" all "${${name}_all}")
    string(REGEX REPLACE "((, )?[^,]+, [^,]+, [^,]+, [^,]+), " "\\1, &\n      " all "${all}")
    string(APPEND names "  interface ${generic}\n    module procedure ${all}\n  end interface\n")
  endforeach()
  set(${interfaces} "${names}" PARENT_SCOPE)
  set(${procedures} "${text}" PARENT_SCOPE)
endfunction()

# heatpp_expect_fortran(): an error if the compiler cannot compile the features of heatpp.f90.
function(heatpp_expect_fortran)
  include(CheckSourceCompiles)
  check_source_compiles(Fortran "
module places
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env
contains
  function address(a) result(at)
    class(*), intent(in), target :: a(:, :)
    type(c_ptr) :: at
    at = c_null_ptr
    select type (a)
    type is (real(real64))
      at = c_loc(a(2, 1))
    end select
  end function
end module
program check
  use places
  real(real64), target :: x(2, 2)
  if (.not. c_associated(address(x(:, ::2)), c_loc(x(2, 1)))) stop 1
end program
" HEATPP_FORTRAN_PASSES_ARRAYS SRC_EXT f90)
  if(NOT HEATPP_FORTRAN_PASSES_ARRAYS)
    message(FATAL_ERROR "[heatpp] got the Fortran compiler ${CMAKE_Fortran_COMPILER} (${CMAKE_Fortran_COMPILER_ID} "
      "${CMAKE_Fortran_COMPILER_VERSION}), which does not compile polymorphic arrays and c_loc of their elements (Fortran 2008); "
      "expected gfortran, flang from 19 on, or another (-DCMAKE_Fortran_COMPILER=...), or none (-DHEATPP_FORTRAN=OFF)")
  endif()
endfunction()
