/* The least that a first sum over ranks takes: MPI started as heatpp does, 0 + 1 + ... + 9 with each rank's share, the end. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int threads = 0, rank = 0, ranks = 1, sum = 0;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &threads) != MPI_SUCCESS) return 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = rank; i < 10; i += ranks) sum += i;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d\n", sum);
  return MPI_Finalize() != MPI_SUCCESS;
}
