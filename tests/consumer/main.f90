program main
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi
  use heatpp
  implicit none
  real(real64), target :: memory(3) = [1, 2, 3]
  real(real64) :: total = 0
  type(ht_comm) :: comm
  type(ht_array) :: x
  integer :: ranks, code
  call MPI_Init(code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  call ht_begin(MPI_COMM_WORLD, comm)
  call ht_adopt(comm, memory, x)
  call ht_number(x, HT_SUM, total)
  call ht_free(x)
  call ht_end(comm)
  call MPI_Finalize(code)
  if (total /= 6 * ranks) stop 1
end program
