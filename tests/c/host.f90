! A host in Fortran, cut along its last dimension. host_fortran <folder> <network.pt>
module checks
  use mpi
  use heatpp
  implicit none
  integer :: rank, ranks, failures = 0
contains
  subroutine check(ok, what)
    logical, intent(in) :: ok
    character(*), intent(in) :: what
    if (ok) return
    failures = failures + 1
    print "(a,i0,4a)", "rank ", rank, ": ", what, "; ", ht_message()
  end subroutine
end module

program host
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env
  use mpi
  use heatpp
  use checks
  implicit none
  type(ht_comm) :: comm
  character(4096) :: folder, script
  integer :: code

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  call get_command_argument(1, folder)
  call get_command_argument(2, script)
  call ht_begin(MPI_COMM_WORLD, comm)
  call arrays()
  call one_rank_is_wrong()
  call assignment()
  call kinds()
  call ranks_of_arrays()
  call saving()
  call bricks()
  call several_bricks()
  call grids()
  call networks()
  call ht_end(comm)
  call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  if (rank == 0) print "(i0,a)", failures, " failures"
  call MPI_Finalize(code)
  if (failures > 0) stop 1

contains

  ! This is a field of 3 x 2 x (2 planes on each rank) cells, numbered in Fortran's order.
  subroutine arrays()
    real(real64), target :: field(3, 2, 2)
    real(real64) :: back(3, 2, 2), means(3, 2), number, values(2)
    integer(int64) :: counts(2)
    type(ht_array) :: x, y
    integer :: i, status
    integer, parameter :: cells = size(field)
    field = reshape([(real(i - 1 + rank * cells, real64), i = 1, cells)], shape(field))
    call ht_adopt(comm, field, x)
    call check(all(ht_shape(x) == [3, 2, 2 * ranks]), "shape")
    call check(all(ht_block(x) == [3, 2, 2]), "block")
    call ht_number(x, HT_MEAN, number)
    call check(abs(number - (cells * ranks - 1) / 2d0) < 1d-12, "mean")
    field(1, 1, 1) = field(1, 1, 1) + 5  ! the array sees it
    call ht_number(x, HT_SUM, number)
    call check(abs(number - (cells * ranks * (cells * ranks - 1) / 2d0 + 5 * ranks)) < 1d-9, "sum")
    field(1, 1, 1) = field(1, 1, 1) - 5
    call ht_reduce(x, HT_MEAN, y, dim=3)
    call ht_read(y, means)
    call check(abs(means(2, 2) - (4 + 6 * (2 * ranks - 1) / 2d0)) < 1d-12, "mean along the last dimension")
    call ht_percentiles(x, [0d0, 100d0], values)
    call check(values(1) == 0 .and. values(2) == cells * ranks - 1, "percentiles")
    call ht_histogram(x, 0d0, real(cells * ranks, real64), counts)
    call check(all(counts == cells * ranks / 2), "histogram")
    call ht_save(x, trim(folder)//"/fortran.h5", "field")
    call ht_save(x, trim(folder)//"/fortran.csv", status=status)
    call check(status == HT_ERROR_VALUE .and. index(ht_message(), "C's order") > 0, "three dimensions as text")
    call ht_load(comm, trim(folder)//"/fortran.h5", y)
    call ht_read(y, back)
    call check(all(back == field), "through a file")
    call ht_resplit(y, 1, y)
    call check(all(ht_shape(y) == [3, 2, 2 * ranks]), "shape that is cut along the first dimension")
    call ht_resplit(y, 0, y)
    call check(all(ht_block(y) == ht_shape(y)), "all on every rank")

    call ht_load(comm, "/nowhere.h5", y, status=status)
    call check(status == HT_ERROR_IO .and. index(ht_message(), "/nowhere.h5") > 0, "a missing file")
    call ht_reduce(x, HT_SUM, y, dim=4, status=status)
    call check(status == HT_ERROR_INDEX .and. index(ht_message(), "[ht_reduce] got dim 4 for an array of rank 3") > 0, &
               "a dimension out of range")
    call ht_reduce(x, HT_SUM, y, dim=0, status=status)
    call check(status == HT_ERROR_INDEX, "no dimension to add along")
    call ht_resplit(x, 5, y, status)
    call check(status == HT_ERROR_INDEX .and. index(ht_message(), "[ht_resplit] got dim 5") > 0, "no dimension to cut")
    call ht_reduce(x, HT_SUM, y, dim=-1, status=status)
    call check(status == HT_ERROR_INDEX, "a negative dimension")
    call ht_read(x, means, status)
    call check(status == HT_ERROR_VALUE, "a block of another shape")
    call ht_adopt(comm, field, y, dim=4, status=status)
    call check(status == HT_ERROR_INDEX, "no such dimension")
    call ht_free(x)
    call ht_free(y)
    call ht_free(y)  ! it has no object any more
  end subroutine

  ! A mistake on the last rank alone is an error on all, and the ranks stay together.
  subroutine one_rank_is_wrong()
    real(real64), target :: field(3, 2)
    type(ht_array) :: x, y
    type(ht_plan) :: plan
    integer :: status, dim
    dim = merge(7, 1, rank == ranks - 1)
    field = 1
    call ht_adopt(comm, field, x)
    call ht_resplit(x, dim, y, status)
    call refused(x, status, "resplit", "got dim 7 for an array of rank 2")
    call ht_reduce(x, HT_SUM, y, dim=dim, status=status)
    call refused(x, status, "reduce", "got dim 7 for an array of rank 2")
    call ht_adopt(comm, field, y, dim=dim, status=status)
    call refused(x, status, "adopt", "got dim 7 for an array of rank 2")
    call ht_plan_brick(comm, HT_FLOAT64, [3 * ranks, 4], [3 * rank + 1, 1], [3, 4], plan, dim=dim, status=status)
    call refused(x, status, "plan", "got dim 7 for an array of rank 2")
    if (ranks > 1) then
      if (rank == ranks - 1) then
        call ht_reduce(x, HT_SUM, y, status=status)
      else
        call ht_reduce(x, HT_SUM, y, dim=2, status=status)
      end if
      call refused(x, status, "all dimensions on one", "got dim 2 on rank 0 and none on rank")
    end if
    call ht_free(x)
  end subroutine

  ! Checks that the last call failed with this text, and that the sum of an array of ones is right.
  subroutine refused(x, status, what, text)
    type(ht_array), intent(in) :: x
    integer, intent(in) :: status
    character(*), intent(in) :: what, text
    real(real64) :: number
    call check(status /= HT_OK .and. index(ht_message(), text) > 0, what//" that is wrong on one rank")
    call ht_number(x, HT_SUM, number)
    call check(number == product(ht_shape(x)), "the sum after "//what)
  end subroutine

  ! An assigned handle outlives the original one.
  subroutine assignment()
    type owner
      type(ht_array) :: x
    end type
    real(real64), target :: field(3, 2), other(2), back(3, 2)
    type(ht_array) :: x, y, many(2), empty
    type(ht_comm) :: same
    type(ht_plan) :: plan, kept
    type(owner) :: a, b
    integer :: status
    real(real64) :: number
    field = 1
    other = 5
    call ht_adopt(comm, field, x)
    call ht_adopt(comm, other, y)
    y = x  ! this releases the other
    call ht_free(x)
    call ht_number(y, HT_SUM, number)
    call check(number == 6 * ranks, "a handle after its first was freed")
    y = y
    call ht_number(y, HT_SUM, number)
    call check(number == 6 * ranks, "a handle of itself")
    many = y
    call ht_free(many(1))
    b%x = many(2)
    a = b
    call ht_free(b%x)
    call ht_number(a%x, HT_SUM, number)
    call check(number == 6 * ranks, "a handle in a type")
    call ht_free(a%x)
    call ht_number(many(2), HT_SUM, number)
    call check(number == 6 * ranks, "a handle in an array")
    call ht_free(many(2))
    same = comm
    call ht_adopt(same, field, x)
    call ht_end(same)
    call ht_number(x, HT_SUM, number)
    call check(number == 6 * ranks, "another handle of the ranks")
    call ht_plan_brick(comm, HT_FLOAT64, [3, 2 * ranks], [1, 2 * rank + 1], [3, 2], plan)
    kept = plan
    call ht_free(plan)
    call ht_to_brick(kept, x, back)
    call check(all(back == field), "another handle of a plan")
    call ht_free(kept)
    y = empty
    call ht_number(y, HT_SUM, number, status)
    call check(status == HT_ERROR_VALUE, "a handle of nothing")
    call ht_free(x)
  end subroutine

  ! Checks arrays of other kinds, and with strides.
  subroutine kinds()
    integer(int32), target :: whole(4, 6) = 1
    complex(real64), target :: waves(5) = (1d0, 2d0)
    logical(c_bool), target :: flags(3) = .true._c_bool
    logical, target :: wide(3) = .true.
    real(real128), target :: long(3) = 1
    character(3), target :: letters(4) = "abc"
    type(ht_array) :: x
    real(real64) :: number
    integer :: status
    whole(2, ::2) = 3
    call ht_adopt(comm, whole(2, ::2), x)  ! a row of every other column
    call ht_number(x, HT_SUM, number)
    call check(number == 9 * ranks, "a section")
    call ht_adopt(comm, waves, x)
    call check(all(ht_shape(x) == [5 * ranks]), "complex numbers")
    call ht_adopt(comm, flags, x)
    call ht_number(x, HT_SUM, number)
    call check(number == 3 * ranks, "logicals")
    call ht_adopt(comm, long, x, status=status)
    call check(status == HT_ERROR_TYPE .and. index(ht_message(), "another type or kind, of 16 bytes") > 0, "real128")
    call ht_adopt(comm, wide, x, status=status)
    call check(status == HT_ERROR_TYPE .and. index(ht_message(), "another type or kind, of 4 bytes") > 0, "default logicals")
    call ht_adopt(comm, letters, x, status=status)
    call check(status == HT_ERROR_TYPE .and. index(ht_message(), "array of characters;") > 0, "characters")
    call ht_adopt(comm, waves(5:1:-1), x, status=status)
    call check(status == HT_ERROR_VALUE .and. index(ht_message(), "got a stride of -16 bytes") > 0, "a stride below 0")
    if (ranks > 1) then
      if (rank == 0) then
        call ht_adopt(comm, whole, x, status=status)
      else
        call ht_adopt(comm, waves, x, status=status)
      end if
      call check(status == HT_ERROR_VALUE .and. index(ht_message(), &
                 "[ht_adopt] got an array of int32 on rank 0 and complex128 on rank") > 0, "kinds that differ by rank")
    end if
    call ht_free(x)
  end subroutine

  ! Checks arrays without dimensions, with many, and without elements, from their memory and back.
  subroutine ranks_of_arrays()
    real(real64), target :: one = 3, cube(2, 1, 3, 1, 2), back(2, 1, 3, 1, 2), none(3, 0)
    type(ht_array) :: x, y
    real(real64) :: number
    integer :: i
    cube = reshape([(real(i + 12 * rank, real64), i = 1, 12)], shape(cube))
    call ht_adopt(comm, one, x, dim=0)
    call ht_number(x, HT_SUM, number)
    call check(number == 3, "a number")
    call ht_adopt(comm, cube, x)
    call ht_astype(x, HT_FLOAT32, y)
    call ht_astype(y, HT_FLOAT64, y)
    call ht_read(y, back)
    call check(all(back == cube), "five dimensions in another dtype and back")
    call ht_adopt(comm, cube(2, :, 1:3:2, 1, :), x)
    call ht_number(x, HT_MAX, number)
    call check(number == 12 * ranks .and. all(ht_block(x) == [1, 2, 2]), "a section of five dimensions")
    call ht_adopt(comm, none, x)
    call check(all(ht_shape(x) == [3, 0]), "no columns")
    call ht_free(x)
    call ht_free(y)
  end subroutine

  ! Checks fields in one file, how they are stored, and files that grow.
  subroutine saving()
    real(real64), target :: u(3, 2), v(3, 2)
    real(real64) :: number
    type(ht_array) :: x, y, out
    integer :: step, status
    character(:), allocatable :: path
    u = rank + 1
    v = -u
    call ht_adopt(comm, u, x)
    call ht_adopt(comm, v, y)
    path = trim(folder)//"/fields_fortran.h5"
    call ht_save(x, path, "u", compression="zstd", chunks=[3, 1], attributes='{"units": "K"}', dimensions="x,y")
    call ht_save(y, path, "v")
    call ht_load(comm, path, out, "u")
    call ht_number(out, HT_MAX, number)
    call check(number == ranks .and. all(ht_shape(out) == [3, 2 * ranks]), "the first of two fields in a file")
    call ht_save(x, path, "w", attributes="units", status=status)
    call check(status == HT_ERROR_VALUE .and. index(ht_message(), "got attributes units; expected a JSON object") > 0, &
               "attributes that are none")
    path = trim(folder)//"/grown_fortran.h5"
    do step = 1, 3
      call ht_append_rows(x, path, "t")
    end do
    call ht_load(comm, path, out)
    call check(all(ht_shape(out) == [3, 6 * ranks]), "a file that grows along the last dimension")
    call ht_free(x)
    call ht_free(y)
    call ht_free(out)
  end subroutine

  ! Checks two bricks a rank, with ghost cells on the inner sides of the domain only, by extents of 64 bits.
  subroutine several_bricks()
    real(real64), target :: left(3, 3), right(3, 4)
    integer(int64) :: first(2, 2), cells(2, 2), before(2, 2), behind(2, 2)
    type(ht_plan) :: plan
    type(ht_array) :: x
    real(real64) :: number
    integer :: status
    first = reshape([1, 4 * rank + 1, 1, 4 * rank + 3], [2, 2])
    cells = reshape([3, 2, 3, 2], [2, 2])
    before = reshape([0, 0, 0, 1], [2, 2])
    behind = reshape([0, 1, 0, 1], [2, 2])
    left = -1000
    right = -1000
    left(:, 1:2) = rank + 1
    right(:, 2:3) = -rank - 1
    call ht_plan_bricks(comm, HT_FLOAT64, int([3, 4 * ranks], int64), first, cells, plan, before, behind)
    call ht_from_bricks(plan, [ht_at(left), ht_at(right)], x)
    call ht_number(x, HT_SUM, number)
    call check(number == 0 .and. all(ht_shape(x) == [3, 4 * ranks]), "several bricks")
    left(:, 1:2) = 0
    call ht_to_bricks(plan, x, [ht_at(left), ht_at(right)])
    call check(all(left(:, 1:2) == rank + 1) .and. all(left(:, 3) == -1000), "several bricks and back")
    call ht_from_bricks(plan, [ht_at(left)], x, status)
    call check(status == HT_ERROR_VALUE .and. index(ht_message(), "got memory for 1 bricks; expected 2") > 0, "one of two")
    call ht_free(x)
    call ht_free(plan)
  end subroutine

  ! Checks a plane of 3 x 4 ranks cells cut along its first dimension, with ghost cells.
  subroutine bricks()
    real(real32), target :: brick(0:4, 0:5), back(0:4, 0:5)
    real(real64) :: number
    type(ht_plan) :: plan
    type(ht_array) :: x
    integer :: i, j, status
    brick = -7
    do j = 1, 4
      brick(1:3, j) = [(real(3 * rank + i + 1000 * j), i = 1, 3)]
    end do
    call ht_plan_brick(comm, HT_FLOAT32, [3 * ranks, 4], [3 * rank + 1, 1], [3, 4], plan, ghosts=[1, 1])
    call ht_plan_brick(comm, HT_FLOAT32, [3 * ranks, 4], [3 * rank + 1, 1], [3, 4], plan, [1, 1], dim=3, status=status)
    call check(status == HT_ERROR_INDEX .and. index(ht_message(), "[ht_plan_brick] got dim 3") > 0, "no dimension of bricks")
    call ht_from_brick(plan, brick, x)
    call check(all(ht_shape(x) == [3 * ranks, 4]), "shape of bricks")
    call ht_number(x, HT_MAX, number)
    call check(number == 3 * ranks + 4000, "largest of bricks")
    back = brick
    back(1:3, 1:4) = 0
    call ht_to_brick(plan, x, back)
    call check(all(back == brick), "bricks and back")
    call ht_adopt_brick(plan, brick, x)
    call ht_number(x, HT_MIN, number)
    call check(all(ht_block(x) == [3, 4]) .and. number == 1001, "a brick in place")
    call ht_refresh_brick(plan, brick, [.false., .true.])
    call check(all(brick(1:3, 0) == brick(1:3, 4)) .and. all(brick(1:3, 5) == brick(1:3, 1)), "periodic ghost cells")
    call check(all(brick(4, 1:4) == merge(-7., back(3, 1:4) + 1, rank + 1 == ranks)), "ghost cells of a neighbour")
    call check(brick(4, 0) == merge(-7., back(3, 4) + 1, rank + 1 == ranks), "ghost cells at corners")
    call ht_refresh_brick(plan, back, [.false., .true., .true.], status)
    call check(status == HT_ERROR_VALUE .and. index(ht_message(), "for 2 axes") > 0, "periodic in three dimensions")
    call ht_refresh_bricks(plan, [ht_at(back)], [.false., .true.])
    call check(all(back == brick), "ghost cells of several bricks")
    call ht_from_brick(plan, brick(1:3, :), x, status)
    call check(status == HT_ERROR_VALUE, "a brick without its ghosts")
    call ht_plan_brick(comm, HT_FLOAT32, [3 * ranks, 4], [3 * rank + 1, 0], [3, 4], plan, status=status)
    call check(status == HT_ERROR_VALUE .and. index(ht_message(), "C's order") > 0, "a brick beside the domain")
    call ht_free(x)
    call ht_free(plan)
  end subroutine

  ! Checks a plane on a grid of along(1) x along(2) ranks, each with 3 x 2 cells; ranks follow along dimension 1.
  subroutine grids()
    real(real64), target :: block(3, 2)
    real(real64) :: back(3, 2), number
    type(ht_array) :: x, y, rows
    type(ht_plan) :: plan
    integer :: along(2), first(2), i, j, status
    along = [ranks, 1]
    if (modulo(ranks, 2) == 0) along = [ranks / 2, 2]
    first = [3 * modulo(rank, along(1)), 2 * (rank / along(1))]
    block = reshape([((real(first(1) + i + 100 * (first(2) + j), real64), i = 1, 3), j = 1, 2)], shape(block))
    call ht_adopt(comm, block, x, grid=along)
    call check(all(ht_grid(x) == along) .and. all(ht_shape(x) == [3, 2] * along) .and. all(ht_block(x) == [3, 2]), "a grid")
    call ht_number(x, HT_MAX, number)
    call check(number == 3 * along(1) + 200 * along(2), "largest on a grid")
    call ht_resplit(x, 2, rows)
    call check(all(ht_grid(rows) == [1, ranks]), "the grid of a split")
    call ht_regrid(rows, along, y)
    call ht_read(y, back)
    call check(all(ht_grid(y) == along) .and. all(back == block), "recut to a grid")
    call ht_regrid(x, HT_BALANCED, y)
    call check(product(ht_grid(y)) == ranks, "a balanced grid")
    call ht_save(x, trim(folder)//"/fortran_grid.h5")
    call ht_load(comm, trim(folder)//"/fortran_grid.h5", y, grid=along)
    call ht_read(y, back)
    call check(all(ht_grid(y) == along) .and. all(back == block), "loaded on a grid")
    call ht_load(comm, trim(folder)//"/fortran_grid.h5", y, grid=HT_BALANCED)
    call check(product(ht_grid(y)) == ranks, "loaded on a balanced grid")
    call ht_plan_brick(comm, HT_FLOAT64, [3, 2] * along, first + 1, [3, 2], plan, grid=along)
    call ht_from_brick(plan, block, y)
    call ht_read(y, back)
    call check(all(ht_grid(y) == along) .and. all(back == block), "bricks on a grid")

    call ht_adopt(comm, block, y, dim=1, grid=along, status=status)
    call refused_grid(x, status, "[ht_adopt] got a dimension and grid (")
    call ht_load(comm, trim(folder)//"/fortran_grid.h5", y, replicated=.true., grid=along, status=status)
    call refused_grid(x, status, "[ht_load] got a dimension and grid (")
    call ht_plan_brick(comm, HT_FLOAT64, [3, 2] * along, first + 1, [3, 2], plan, dim=1, grid=along, status=status)
    call refused_grid(x, status, "[ht_plan_brick] got a dimension and grid (")
    call ht_regrid(x, [along, 1], y, status)
    call refused_grid(x, status, "for an array of rank 2")
    call ht_regrid(x, [(1, i = 1, 17)], y, status)
    call refused_grid(x, status, "of 17 dimensions")
    call ht_regrid(x, along + 1, y, status)
    call refused_grid(x, status, "whose product is the number of ranks")
    call ht_regrid(x, merge(along + 1, along, rank == ranks - 1), y, status)
    call refused_grid(x, status, "got grid (")
    call ht_free(plan)
    call ht_free(rows)
    call ht_free(x)
    call ht_free(y)
  end subroutine

  ! Checks that all ranks got an error, and stay together.
  subroutine refused_grid(x, status, text)
    type(ht_array), intent(in) :: x
    integer, intent(in) :: status
    character(*), intent(in) :: text
    real(real64) :: number
    call check(status == HT_ERROR_VALUE .and. index(ht_message(), text) > 0, text)
    call ht_number(x, HT_MIN, number)
    call check(number == 101, text)
  end subroutine

  ! Rows are the last dimension: y = 2 a - b + 1 of the columns (a, b).
  subroutine networks()
    real(real32), target :: inputs(2, 16), targets(1, 16)
    real(real32) :: outputs(1, 16)
    real(real64) :: loss, first
    type(ht_training) :: how
    type(ht_network) :: net, same
    type(ht_array) :: x, y, found
    integer :: i, step, status
    do i = 1, 16
      inputs(:, i) = [modulo(i * 7 + rank * 3, 11) / 11.0, modulo(i * 5 + rank, 13) / 13.0]
    end do
    targets(1, :) = 2 * inputs(1, :) - inputs(2, :) + 1
    call ht_adopt(comm, inputs, x)
    call ht_adopt(comm, targets, y)
    how%rate = 0.05
    call ht_network_load(comm, script, net, how)
    do step = 1, 300
      call ht_network_train(net, x, y, loss)
      if (step == 1) first = loss
    end do
    call check(loss < 1d-3 * first, "loss")
    call ht_network_apply(net, x, found)
    call ht_read(found, outputs)
    call check(all(abs(outputs - targets) < 0.1), "outputs")
    call ht_network_save(net, trim(folder)//"/fortran.safetensors")
    call ht_network_restore(net, trim(folder)//"/fortran.safetensors")
    call ht_network_restore(net, trim(folder)//"/none.safetensors", status)
    call check(status == HT_ERROR_IO, "no weights")
    same = net
    call ht_free(net)
    call ht_network_apply(same, x, found)
    call ht_read(found, outputs)
    call check(all(abs(outputs - targets) < 0.1), "outputs by another handle of the network")
    call ht_free(same)
    call ht_free(x)
    call ht_free(y)
    call ht_free(found)
  end subroutine

end program
