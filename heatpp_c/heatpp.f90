! heatpp for hosts in Fortran: arrays of the ranks' memory, files, statistics, domains cut along several axes, networks.
!
! Arrays are used where they lie: integers of kinds int8 to int64, reals and complex numbers of kinds real32 and real64,
! logicals of kind c_bool, of any rank, with strides above 0. Dimensions are Fortran's, from 1 on; files have them in
! reverse, as HDF5 does for Fortran. A handle that is given something else lets go of what it had, and ht_free of the
! last; `y = x` makes y another handle of the same. All ranks call what is collective, with the same numbers and names,
! and all get an error or none, unless a handle is empty on some of them. Where `status` is given it says what kind of
! error there was, HT_OK being none, and ht_message() its text; otherwise an error is printed and ends the program.
module heatpp
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private

  public :: ht_message, ht_begin, ht_end, ht_free
  public :: ht_adopt, ht_shape, ht_block, ht_read, ht_resplit, ht_load, ht_save
  public :: ht_reduce, ht_number, ht_percentiles, ht_histogram
  public :: ht_plan_brick, ht_from_brick, ht_to_brick
  public :: ht_network_load, ht_network_train, ht_network_apply, ht_network_save, ht_network_restore

  enum, bind(c)
    enumerator :: HT_OK = 0, HT_ERROR, HT_ERROR_VALUE, HT_ERROR_INDEX, HT_ERROR_TYPE, HT_ERROR_MEMORY, HT_ERROR_COMM, &
                  HT_ERROR_IO, HT_ERROR_NOT_BUILT
  end enum
  enum, bind(c)
    enumerator :: HT_BOOL = 0, HT_UINT8, HT_INT8, HT_INT16, HT_INT32, HT_INT64, HT_FLOAT16, HT_BFLOAT16, HT_FLOAT32, &
                  HT_FLOAT64, HT_COMPLEX64, HT_COMPLEX128
  end enum
  enum, bind(c)
    enumerator :: HT_SUM = 0, HT_PROD, HT_MIN, HT_MAX, HT_MEAN, HT_VAR, HT_STD
  end enum
  enum, bind(c)
    enumerator :: HT_MEAN_SQUARED_ERROR = 0, HT_MEAN_ABSOLUTE_ERROR, HT_CROSS_ENTROPY
  end enum
  public :: HT_OK, HT_ERROR, HT_ERROR_VALUE, HT_ERROR_INDEX, HT_ERROR_TYPE, HT_ERROR_MEMORY, HT_ERROR_COMM
  public :: HT_ERROR_IO, HT_ERROR_NOT_BUILT
  public :: HT_BOOL, HT_UINT8, HT_INT8, HT_INT16, HT_INT32, HT_INT64, HT_FLOAT16, HT_BFLOAT16, HT_FLOAT32, HT_FLOAT64
  public :: HT_COMPLEX64, HT_COMPLEX128
  public :: HT_SUM, HT_PROD, HT_MIN, HT_MAX, HT_MEAN, HT_VAR, HT_STD
  public :: HT_MEAN_SQUARED_ERROR, HT_MEAN_ABSOLUTE_ERROR, HT_CROSS_ENTROPY

  ! The ranks; an array over them; the way between bricks and an array; a network.
  type, public :: ht_comm
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure, private :: assign_comm
    generic :: assignment(=) => assign_comm
  end type
  type, public :: ht_array
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure, private :: assign_array
    generic :: assignment(=) => assign_array
  end type
  type, public :: ht_plan
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure, private :: assign_plan
    generic :: assignment(=) => assign_plan
  end type
  type, public :: ht_network
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure, private :: assign_network
    generic :: assignment(=) => assign_network
  end type

  ! As in heatpp.h.
  type, bind(c), public :: ht_training
    real(c_double) :: rate = 0
    integer(c_int) :: loss = HT_MEAN_SQUARED_ERROR
    integer(c_int64_t) :: remembered = 0, batch = 0, seed = 0
  end type

  integer, parameter :: most_axes = 16, all_axes = -1000
  type, bind(c) :: description
    integer(c_int) :: dtype, ndim, split
    integer(c_int64_t) :: shape(most_axes), block(most_axes)
  end type

  interface ht_free
    module procedure free_array, free_plan, free_network
  end interface

  interface
    function c_message() bind(c, name="ht_message")
      import; type(c_ptr) :: c_message
    end function
    integer(c_int) function c_begin(comm, ranks) bind(c, name="ht_begin")
      import; integer(c_int), value :: comm; type(c_ptr) :: ranks
    end function
    subroutine c_end(comm) bind(c, name="ht_end")
      import; type(c_ptr), value :: comm
    end subroutine
    integer(c_int) function c_adopt(comm, array, dim, x) bind(c, name="ht_fortran_adopt")
      import; type(c_ptr), value :: comm; type(*), intent(in) :: array(..); integer(c_int), value :: dim; type(c_ptr) :: x
    end function
    integer(c_int) function c_same_comm(comm, same) bind(c, name="ht_fortran_same_comm")
      import; type(c_ptr), value :: comm; type(c_ptr) :: same
    end function
    integer(c_int) function c_same_array(x, same) bind(c, name="ht_fortran_same_array")
      import; type(c_ptr), value :: x; type(c_ptr) :: same
    end function
    integer(c_int) function c_same_plan(plan, same) bind(c, name="ht_fortran_same_plan")
      import; type(c_ptr), value :: plan; type(c_ptr) :: same
    end function
    integer(c_int) function c_same_network(network, same) bind(c, name="ht_fortran_same_network")
      import; type(c_ptr), value :: network; type(c_ptr) :: same
    end function
    integer(c_int) function c_read(x, array) bind(c, name="ht_fortran_read")
      import; type(c_ptr), value :: x; type(*) :: array(..)
    end function
    subroutine c_free(x) bind(c, name="ht_free")
      import; type(c_ptr), value :: x
    end subroutine
    integer(c_int) function c_describe(x, found) bind(c, name="ht_describe")
      import; type(c_ptr), value :: x; type(description) :: found
    end function
    integer(c_int) function c_resplit(x, dim, y) bind(c, name="ht_fortran_resplit")
      import; type(c_ptr), value :: x; integer(c_int), value :: dim; type(c_ptr) :: y
    end function
    integer(c_int) function c_load(comm, path, dataset, split, x) bind(c, name="ht_load")
      import; type(c_ptr), value :: comm; character(kind=c_char) :: path(*), dataset(*)
      integer(c_int), value :: split; type(c_ptr) :: x
    end function
    integer(c_int) function c_save(x, path, dataset) bind(c, name="ht_fortran_save")
      import; type(c_ptr), value :: x; character(kind=c_char) :: path(*), dataset(*)
    end function
    integer(c_int) function c_reduce(x, reduction, dim, y) bind(c, name="ht_fortran_reduce")
      import; type(c_ptr), value :: x; integer(c_int), value :: reduction, dim; type(c_ptr) :: y
    end function
    integer(c_int) function c_number(x, reduction, number) bind(c, name="ht_number")
      import; type(c_ptr), value :: x; integer(c_int), value :: reduction; real(c_double) :: number
    end function
    integer(c_int) function c_percentiles(x, count, q, values) bind(c, name="ht_percentiles")
      import; type(c_ptr), value :: x; integer(c_int), value :: count; real(c_double) :: q(*), values(*)
    end function
    integer(c_int) function c_histogram(x, bins, first, last, counts) bind(c, name="ht_histogram")
      import; type(c_ptr), value :: x; integer(c_int64_t), value :: bins; real(c_double), value :: first, last
      integer(c_int64_t) :: counts(*)
    end function
    integer(c_int) function c_plan(comm, dtype, rank, shape, first, cells, ghosts, dim, plan) bind(c, name="ht_fortran_plan")
      import; type(c_ptr), value :: comm; integer(c_int), value :: dtype, rank, dim
      integer(c_int64_t) :: shape(*), first(*), cells(*), ghosts(*); type(c_ptr) :: plan
    end function
    subroutine c_plan_free(plan) bind(c, name="ht_plan_free")
      import; type(c_ptr), value :: plan
    end subroutine
    integer(c_int) function c_from_brick(plan, array, x) bind(c, name="ht_fortran_from_brick")
      import; type(c_ptr), value :: plan; type(*), intent(in) :: array(..); type(c_ptr) :: x
    end function
    integer(c_int) function c_to_brick(plan, x, array) bind(c, name="ht_fortran_to_brick")
      import; type(c_ptr), value :: plan, x; type(*) :: array(..)
    end function
    integer(c_int) function c_network_load(comm, path, training, network) bind(c, name="ht_network_load")
      import; type(c_ptr), value :: comm; character(kind=c_char) :: path(*); type(ht_training) :: training
      type(c_ptr) :: network
    end function
    subroutine c_network_free(network) bind(c, name="ht_network_free")
      import; type(c_ptr), value :: network
    end subroutine
    integer(c_int) function c_network_train(network, x, y, loss) bind(c, name="ht_fortran_train")
      import; type(c_ptr), value :: network, x, y; real(c_double) :: loss
    end function
    integer(c_int) function c_network_apply(network, x, y) bind(c, name="ht_network_apply")
      import; type(c_ptr), value :: network, x; type(c_ptr) :: y
    end function
    integer(c_int) function c_network_save(network, path) bind(c, name="ht_network_save")
      import; type(c_ptr), value :: network; character(kind=c_char) :: path(*)
    end function
    integer(c_int) function c_network_restore(network, path) bind(c, name="ht_network_restore")
      import; type(c_ptr), value :: network; character(kind=c_char) :: path(*)
    end function
  end interface

contains

  ! What the last error was.
  function ht_message() result(text)
    character(:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    integer :: length
    call c_f_pointer(c_message(), characters, [4096])
    length = 0
    do while (characters(length + 1) /= c_null_char .and. length < 4095)
      length = length + 1
    end do
    allocate (character(length) :: text)
    text = transfer(characters(1:length), text)
  end function

  subroutine answer(code, status)
    integer(c_int), intent(in) :: code
    integer, intent(out), optional :: status
    if (present(status)) then
      status = code
    else if (code /= HT_OK) then
      write (error_unit, "(a)") ht_message()
      error stop 1
    end if
  end subroutine

  ! Puts what was made into a handle, which lets go of what it had; an error leaves it as it was.
  subroutine keep(code, made, handle, free, status)
    integer(c_int), intent(in) :: code
    type(c_ptr), intent(in) :: made
    type(c_ptr), intent(inout) :: handle
    procedure(c_free) :: free
    integer, intent(out), optional :: status
    if (code == HT_OK) then
      call free(handle)
      handle = made
    end if
    call answer(code, status)
  end subroutine

  ! Assignment makes another handle of what the right one has, which lives until the last of them is freed. It is made
  ! before the left one lets go, as both may be the same. Local.
  impure elemental subroutine assign_comm(left, right)
    class(ht_comm), intent(inout) :: left
    type(ht_comm), intent(in) :: right
    type(c_ptr) :: made
    integer(c_int) :: code
    code = c_same_comm(right%handle, made)
    call keep(code, made, left%handle, c_end)
  end subroutine
  impure elemental subroutine assign_array(left, right)
    class(ht_array), intent(inout) :: left
    type(ht_array), intent(in) :: right
    type(c_ptr) :: made
    integer(c_int) :: code
    code = c_same_array(right%handle, made)
    call keep(code, made, left%handle, c_free)
  end subroutine
  impure elemental subroutine assign_plan(left, right)
    class(ht_plan), intent(inout) :: left
    type(ht_plan), intent(in) :: right
    type(c_ptr) :: made
    integer(c_int) :: code
    code = c_same_plan(right%handle, made)
    call keep(code, made, left%handle, c_plan_free)
  end subroutine
  impure elemental subroutine assign_network(left, right)
    class(ht_network), intent(inout) :: left
    type(ht_network), intent(in) :: right
    type(c_ptr) :: made
    integer(c_int) :: code
    code = c_same_network(right%handle, made)
    call keep(code, made, left%handle, c_network_free)
  end subroutine

  ! The ranks of an MPI communicator: comm of `use mpi`, comm%mpi_val of `use mpi_f08`. Collective.
  subroutine ht_begin(comm, ranks, status)
    integer, intent(in) :: comm
    type(ht_comm), intent(inout) :: ranks
    integer, intent(out), optional :: status
    type(c_ptr) :: made
    integer(c_int) :: code
    code = c_begin(int(comm, c_int), made)
    call keep(code, made, ranks%handle, c_end, status)
  end subroutine

  subroutine ht_end(ranks)
    type(ht_comm), intent(inout) :: ranks
    call c_end(ranks%handle)
    ranks%handle = c_null_ptr
  end subroutine

  ! The array that the ranks' blocks form along a dimension, the last one unless `dim` says another, 0 being none. It is
  ! the block's memory, which has to outlive it, and have the target attribute or be a pointer. Collective.
  subroutine ht_adopt(ranks, block, x, dim, status)
    type(ht_comm), intent(in) :: ranks
    type(*), intent(in), target :: block(..)
    type(ht_array), intent(inout) :: x
    integer, intent(in), optional :: dim
    integer, intent(out), optional :: status
    type(c_ptr) :: made
    integer(c_int) :: code, along
    along = rank(block)
    if (present(dim)) along = int(dim, c_int)
    code = c_adopt(ranks%handle, block, along, made)
    call keep(code, made, x%handle, c_free, status)
  end subroutine

  subroutine free_array(x)
    type(ht_array), intent(inout) :: x
    call c_free(x%handle)
    x%handle = c_null_ptr
  end subroutine

  ! The extents of the array, and of this rank's block. Local.
  function ht_shape(x) result(extents)
    type(ht_array), intent(in) :: x
    integer(c_int64_t), allocatable :: extents(:)
    type(description) :: found
    call answer(c_describe(x%handle, found))
    extents = found%shape(found%ndim:1:-1)
  end function
  function ht_block(x) result(extents)
    type(ht_array), intent(in) :: x
    integer(c_int64_t), allocatable :: extents(:)
    type(description) :: found
    call answer(c_describe(x%handle, found))
    extents = found%block(found%ndim:1:-1)
  end function

  ! Copies this rank's block to an array of its shape and kind. Local.
  subroutine ht_read(x, block, status)
    type(ht_array), intent(in) :: x
    type(*) :: block(..)
    integer, intent(out), optional :: status
    call answer(c_read(x%handle, block), status)
  end subroutine

  ! The array cut along another dimension; 0: every rank has all of it. Collective.
  subroutine ht_resplit(x, dim, y, status)
    type(ht_array), intent(in) :: x
    integer, intent(in) :: dim
    type(ht_array), intent(inout) :: y
    integer, intent(out), optional :: status
    type(c_ptr) :: made
    integer(c_int) :: code
    code = c_resplit(x%handle, int(dim, c_int), made)
    call keep(code, made, y%handle, c_free, status)
  end subroutine

  ! An array from a file or a pattern of them, cut along its last dimension, or by no means; of .csv files in doubles.
  ! Collective.
  subroutine ht_load(ranks, path, x, dataset, replicated, status)
    type(ht_comm), intent(in) :: ranks
    character(*), intent(in) :: path
    type(ht_array), intent(inout) :: x
    character(*), intent(in), optional :: dataset
    logical, intent(in), optional :: replicated
    integer, intent(out), optional :: status
    type(c_ptr) :: made
    integer(c_int) :: code, split
    split = 0
    if (present(replicated)) split = merge(-1_c_int, 0_c_int, replicated)
    code = c_load(ranks%handle, for_c(path), for_c(dataset), split, made)
    call keep(code, made, x%handle, c_free, status)
  end subroutine

  subroutine ht_save(x, path, dataset, status)
    type(ht_array), intent(in) :: x
    character(*), intent(in) :: path
    character(*), intent(in), optional :: dataset
    integer, intent(out), optional :: status
    call answer(c_save(x%handle, for_c(path), for_c(dataset)), status)
  end subroutine

  function for_c(text) result(characters)
    character(*), intent(in), optional :: text
    character(:, c_char), allocatable :: characters
    characters = c_null_char
    if (present(text)) characters = trim(text)//c_null_char
  end function

  ! HT_SUM, HT_MEAN ... along a dimension, or of all elements. Collective.
  subroutine ht_reduce(x, reduction, y, dim, status)
    type(ht_array), intent(in) :: x
    integer(kind(HT_SUM)), intent(in) :: reduction
    type(ht_array), intent(inout) :: y
    integer, intent(in), optional :: dim
    integer, intent(out), optional :: status
    type(c_ptr) :: made
    integer(c_int) :: code, along
    along = all_axes
    if (present(dim)) along = int(dim, c_int)
    code = c_reduce(x%handle, int(reduction, c_int), along, made)
    call keep(code, made, y%handle, c_free, status)
  end subroutine

  ! The same of all elements, as a number. Collective.
  subroutine ht_number(x, reduction, number, status)
    type(ht_array), intent(in) :: x
    integer(kind(HT_SUM)), intent(in) :: reduction
    real(c_double), intent(inout) :: number
    integer, intent(out), optional :: status
    call answer(c_number(x%handle, int(reduction, c_int), number), status)
  end subroutine

  ! The values below which q percent of the elements are. Collective.
  subroutine ht_percentiles(x, q, values, status)
    type(ht_array), intent(in) :: x
    real(c_double), intent(in) :: q(:)
    real(c_double), intent(inout) :: values(size(q))
    integer, intent(out), optional :: status
    call answer(c_percentiles(x%handle, size(q, kind=c_int), q, values), status)
  end subroutine

  ! How many elements lie in each interval of equal width from first to last, as many as counts has. Collective.
  subroutine ht_histogram(x, first, last, counts, status)
    type(ht_array), intent(in) :: x
    real(c_double), intent(in) :: first, last
    integer(c_int64_t), intent(inout), contiguous :: counts(:)
    integer, intent(out), optional :: status
    call answer(c_histogram(x%handle, size(counts, kind=c_int64_t), first, last, counts), status)
  end subroutine

  ! For a domain of this shape of which this rank has the cells from `first` on, `cells` of them along each dimension,
  ! in memory with `ghosts` cells more on either side. The array is cut along `dim`, the last one unless given.
  ! Collective.
  subroutine ht_plan_brick(ranks, dtype, shape, first, cells, plan, ghosts, dim, status)
    type(ht_comm), intent(in) :: ranks
    integer(kind(HT_BOOL)), intent(in) :: dtype
    integer, intent(in) :: shape(:), first(size(shape)), cells(size(shape))
    type(ht_plan), intent(inout) :: plan
    integer, intent(in), optional :: ghosts(size(shape)), dim
    integer, intent(out), optional :: status
    type(c_ptr) :: made
    integer(c_int) :: code, along
    integer(c_int64_t) :: around(size(shape))
    along = size(shape, kind=c_int)
    if (present(dim)) along = int(dim, c_int)
    around = 0
    if (present(ghosts)) around = reversed(ghosts)
    code = c_plan(ranks%handle, int(dtype, c_int), size(shape, kind=c_int), reversed(shape), reversed(first - 1), &
                  reversed(cells), around, along, made)
    call keep(code, made, plan%handle, c_plan_free, status)
  end subroutine

  pure function reversed(numbers)
    integer, intent(in) :: numbers(:)
    integer(c_int64_t) :: reversed(size(numbers))
    reversed = numbers(size(numbers):1:-1)
  end function

  subroutine free_plan(plan)
    type(ht_plan), intent(inout) :: plan
    call c_plan_free(plan%handle)
    plan%handle = c_null_ptr
  end subroutine

  ! The array of what lies in the bricks, and back into them, but not into their ghost cells. Collective.
  subroutine ht_from_brick(plan, brick, x, status)
    type(ht_plan), intent(in) :: plan
    type(*), intent(in) :: brick(..)
    type(ht_array), intent(inout) :: x
    integer, intent(out), optional :: status
    type(c_ptr) :: made
    integer(c_int) :: code
    code = c_from_brick(plan%handle, brick, made)
    call keep(code, made, x%handle, c_free, status)
  end subroutine
  subroutine ht_to_brick(plan, x, brick, status)
    type(ht_plan), intent(in) :: plan
    type(ht_array), intent(in) :: x
    type(*) :: brick(..)
    integer, intent(out), optional :: status
    call answer(c_to_brick(plan%handle, x%handle, brick), status)
  end subroutine

  ! A network that Python has scripted. Rows are the last dimension of what it is trained on and applied to. Collective.
  subroutine ht_network_load(ranks, path, network, training, status)
    type(ht_comm), intent(in) :: ranks
    character(*), intent(in) :: path
    type(ht_network), intent(inout) :: network
    type(ht_training), intent(in), optional :: training
    integer, intent(out), optional :: status
    type(c_ptr) :: made
    type(ht_training) :: how
    integer(c_int) :: code
    if (present(training)) how = training
    code = c_network_load(ranks%handle, for_c(path), how, made)
    call keep(code, made, network%handle, c_network_free, status)
  end subroutine

  subroutine free_network(network)
    type(ht_network), intent(inout) :: network
    call c_network_free(network%handle)
    network%handle = c_null_ptr
  end subroutine

  ! One step on rows that are cut alike; the mean loss of all ranks' rows. Collective.
  subroutine ht_network_train(network, inputs, targets, loss, status)
    type(ht_network), intent(inout) :: network
    type(ht_array), intent(in) :: inputs, targets
    real(c_double), intent(inout) :: loss
    integer, intent(out), optional :: status
    call answer(c_network_train(network%handle, inputs%handle, targets%handle, loss), status)
  end subroutine

  subroutine ht_network_apply(network, inputs, outputs, status)
    type(ht_network), intent(inout) :: network
    type(ht_array), intent(in) :: inputs
    type(ht_array), intent(inout) :: outputs
    integer, intent(out), optional :: status
    type(c_ptr) :: made
    integer(c_int) :: code
    code = c_network_apply(network%handle, inputs%handle, made)
    call keep(code, made, outputs%handle, c_free, status)
  end subroutine

  ! The weights as safetensors. Collective.
  subroutine ht_network_save(network, path, status)
    type(ht_network), intent(inout) :: network
    character(*), intent(in) :: path
    integer, intent(out), optional :: status
    call answer(c_network_save(network%handle, for_c(path)), status)
  end subroutine
  subroutine ht_network_restore(network, path, status)
    type(ht_network), intent(inout) :: network
    character(*), intent(in) :: path
    integer, intent(out), optional :: status
    call answer(c_network_restore(network%handle, for_c(path)), status)
  end subroutine

end module heatpp
