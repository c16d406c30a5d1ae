! A solver in Fortran whose plane is split along both dimensions. heatpp uses its bricks, with their ghost cells, as an array. It computes
! mean, extremes, median and histogram while the solver runs, and writes files that any number of ranks can read.
!     mpirun -n 4 heat_fortran [folder]
program heat
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi
  use heatpp
  implicit none
  integer, parameter :: nx = 200, ny = 160, steps = 100, look_every = 25
  real(real64), parameter :: rate = 0.2
  real(real64), allocatable :: t(:, :), new(:, :)
  integer :: cart, rank, ranks, parts(2), place(2), first(2), cells(2), left, right, below, above, step, code
  character(1024) :: folder = "."
  type(ht_comm) :: comm
  type(ht_plan) :: plan

  call MPI_Init(code)
  if (command_argument_count() > 0) call get_command_argument(1, folder)
  call set_up()
  call ht_begin(cart, comm)
  call ht_plan_brick(comm, HT_FLOAT64, [nx, ny], first, cells, plan, ghosts=[1, 1])
  do step = 1, steps
    call exchange_ghosts()
    call advance()
    if (mod(step, look_every) == 0) call look()
  end do
  call ht_free(plan)
  call ht_end(comm)
  call MPI_Finalize(code)

contains

  ! A warm square in the middle of a cold plane.
  subroutine set_up()
    integer :: i, j
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
    parts = 0
    call MPI_Dims_create(ranks, 2, parts, code)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, parts, [.false., .false.], .true., cart, code)
    call MPI_Comm_rank(cart, rank, code)
    call MPI_Cart_coords(cart, rank, 2, place, code)
    call MPI_Cart_shift(cart, 0, 1, left, right, code)
    call MPI_Cart_shift(cart, 1, 1, below, above, code)
    first = [nx, ny] * place / parts + 1
    cells = [nx, ny] * (place + 1) / parts - first + 1
    allocate (t(0:cells(1) + 1, 0:cells(2) + 1), new(0:cells(1) + 1, 0:cells(2) + 1))
    t = 0
    do j = 1, cells(2)
      do i = 1, cells(1)
        if (abs(first(1) + i - 1 - nx / 2) < nx / 8 .and. abs(first(2) + j - 1 - ny / 2) < ny / 8) t(i, j) = 100
      end do
    end do
  end subroutine

  subroutine exchange_ghosts()
    integer :: n(2)
    real(real64) :: row(cells(2)), got(cells(2))
    n = cells
    row = t(n(1), 1:n(2)); got = t(1, 1:n(2))  ! no neighbor: no heat flows over the edge
    call MPI_Sendrecv(row, n(2), MPI_DOUBLE_PRECISION, right, 0, got, n(2), MPI_DOUBLE_PRECISION, left, 0, cart, MPI_STATUS_IGNORE, code)
    t(0, 1:n(2)) = got
    row = t(1, 1:n(2)); got = t(n(1), 1:n(2))
    call MPI_Sendrecv(row, n(2), MPI_DOUBLE_PRECISION, left, 1, got, n(2), MPI_DOUBLE_PRECISION, right, 1, cart, MPI_STATUS_IGNORE, code)
    t(n(1) + 1, 1:n(2)) = got
    t(1:n(1), 0) = t(1:n(1), 1)
    call MPI_Sendrecv(t(1, n(2)), n(1), MPI_DOUBLE_PRECISION, above, 2, t(1, 0), n(1), MPI_DOUBLE_PRECISION, below, 2, cart, MPI_STATUS_IGNORE, code)
    t(1:n(1), n(2) + 1) = t(1:n(1), n(2))
    call MPI_Sendrecv(t(1, 1), n(1), MPI_DOUBLE_PRECISION, below, 3, t(1, n(2) + 1), n(1), MPI_DOUBLE_PRECISION, above, 3, cart, MPI_STATUS_IGNORE, code)
  end subroutine

  subroutine advance()
    integer :: i, j
    do j = 1, cells(2)
      do i = 1, cells(1)
        new(i, j) = t(i, j) + rate * (t(i - 1, j) + t(i + 1, j) + t(i, j - 1) + t(i, j + 1) - 4 * t(i, j))
      end do
    end do
    t(1:cells(1), 1:cells(2)) = new(1:cells(1), 1:cells(2))
  end subroutine

  ! Compares results of heatpp for the plane with sums of the host.
  subroutine look()
    type(ht_array) :: x
    real(real64) :: mean, least, most, quantiles(2), own(2)
    integer(int64) :: counts(4)
    character(32) :: file
    call ht_from_brick(plan, t, x)
    call ht_number(x, HT_MEAN, mean)
    call ht_number(x, HT_MIN, least)
    call ht_number(x, HT_MAX, most)
    call ht_percentiles(x, [50d0, 95d0], quantiles)
    call ht_histogram(x, 0d0, 100d0, counts)
    write (file, "(a,i4.4,a)") "/heat-", step, ".h5"
    call ht_save(x, trim(folder)//file, "temperature")
    call ht_free(x)

    own = [sum(t(1:cells(1), 1:cells(2))) / (nx * ny), maxval(t(1:cells(1), 1:cells(2)))]
    call MPI_Allreduce(MPI_IN_PLACE, own(1), 1, MPI_DOUBLE_PRECISION, MPI_SUM, cart, code)
    call MPI_Allreduce(MPI_IN_PLACE, own(2), 1, MPI_DOUBLE_PRECISION, MPI_MAX, cart, code)
    if (abs(own(1) - mean) > 1d-12 * mean .or. own(2) /= most .or. sum(counts) /= nx * ny) error stop "heatpp and the host disagree"
    if (rank == 0) print "(a,i4,4(a,f8.4),a,4i7)", "step", step, ": mean", mean, ", from", least, " to", most, ", median", quantiles(1), &
      ", histogram", counts
  end subroutine

end program
