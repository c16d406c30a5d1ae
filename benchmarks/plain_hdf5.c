/* Measures parallel HDF5 without heatpp, for a comparison of loading and saving:
 *   mpirun -n 2 plain_hdf5 load FILE DATASET SPLIT collective|independent [REPEATS]
 *   mpirun -n 2 plain_hdf5 save FILE ROWS COLUMNS collective|independent [REPEATS]
 * Each rank reads its part of a 2-d float32 dataset, or writes its rows of one. It reads into memory that was touched
 * before, which is faster than new memory. Prints the least seconds of the repeats, each with a barrier before it and
 * the maximum over the ranks. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static hid_t shared_access(void) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  return access;
}

static hid_t transfer(const char* mode) {
  const hid_t list = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(list, strcmp(mode, "collective") == 0 ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
  return list;
}

/* Selects this rank's part along `split`; its extents go to `count`. */
static void select_part(hid_t space, int split, hsize_t count[2]) {
  hsize_t start[2] = {0, 0};
  H5Sget_simple_extent_dims(space, count, NULL);
  const hsize_t n = count[split], p = (hsize_t)ranks, r = (hsize_t)rank;
  start[split] = r * (n / p) + (r < n % p ? r : n % p);
  count[split] = n / p + (r < n % p);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
}

static herr_t load(const char* path, const char* name, int split, const char* mode, float** data) {
  const hid_t access = shared_access(), list = transfer(mode);
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, access), set = H5Dopen2(file, name, H5P_DEFAULT);
  const hid_t space = H5Dget_space(set);
  hsize_t count[2];
  select_part(space, split, count);
  const hid_t memory = H5Screate_simple(2, count, NULL);
  if (!*data) *data = calloc(count[0] * count[1], sizeof **data);
  const herr_t failed = H5Dread(set, H5T_NATIVE_FLOAT, memory, space, list, *data);
  H5Sclose(memory), H5Sclose(space), H5Dclose(set), H5Fclose(file), H5Pclose(list), H5Pclose(access);
  return failed;
}

/* Memory that was never written is one page of zeros, which stays in the cache: writing it would need no memory traffic. */
static float* numbers(hsize_t count) {
  float* data = malloc(count * sizeof *data);
  for (hsize_t i = 0; i < count; ++i) data[i] = (float)(i & 255);
  return data;
}

static herr_t save(const char* path, const hsize_t extents[2], const char* mode, float** data) {
  const hid_t access = shared_access(), list = transfer(mode), create = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_fill_time(create, H5D_FILL_TIME_NEVER);
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hid_t space = H5Screate_simple(2, extents, NULL);
  const hid_t set = H5Dcreate2(file, "data", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, create, H5P_DEFAULT);
  hsize_t count[2];
  select_part(space, 0, count);
  const hid_t memory = H5Screate_simple(2, count, NULL);
  if (!*data) *data = numbers(count[0] * count[1]);
  const herr_t failed = H5Dwrite(set, H5T_NATIVE_FLOAT, memory, space, list, *data);
  H5Sclose(memory), H5Sclose(space), H5Dclose(set), H5Pclose(create), H5Fclose(file), H5Pclose(list), H5Pclose(access);
  return failed;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 6) {
    if (rank == 0) fprintf(stderr, "got %d arguments; expected load|save FILE ... (see the source)\n", argc - 1);
    MPI_Finalize();
    return 2;
  }
  const int loads = strcmp(argv[1], "load") == 0, repeats = argc > 6 ? atoi(argv[6]) : 5;
  const hsize_t extents[2] = {loads ? 0 : strtoull(argv[3], NULL, 10), loads ? 0 : strtoull(argv[4], NULL, 10)};
  float* data = NULL;
  double best = 1e30;
  int failed = 0;
  for (int i = 0; i <= repeats; ++i) { /* the first one warms up */
    if (!loads && rank == 0) remove(argv[2]);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    failed |= (loads ? load(argv[2], argv[3], atoi(argv[4]), argv[5], &data) : save(argv[2], extents, argv[5], &data)) < 0;
    double seconds = MPI_Wtime() - start;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (i > 0 && seconds < best) best = seconds;
  }
  free(data);
  if (rank == 0 && !failed) printf("%.4f\n", best);
  MPI_Finalize();
  return failed;
}
