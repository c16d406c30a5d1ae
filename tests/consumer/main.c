#include <heatpp.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double memory[3] = {1, 2, 3}, sum = 0;
  const int64_t block[1] = {3};
  ht_comm* comm = NULL;
  ht_array* x = NULL;
  int failed = ht_begin(MPI_Comm_c2f(MPI_COMM_WORLD), &comm) || ht_adopt(comm, memory, HT_FLOAT64, 1, block, 0, &x) ||
               ht_number(x, HT_SUM, &sum);
  if (failed) fprintf(stderr, "%s\n", ht_message());
  ht_free(x);
  ht_end(comm);
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Finalize();
  return failed || sum != 6.0 * ranks;
}
