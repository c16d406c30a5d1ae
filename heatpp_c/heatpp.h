/* heatpp for hosts in C and, through heatpp.f90, in Fortran: their memory as distributed arrays, files, statistics,
 * domains cut along several axes, networks that are trained and applied while a simulation runs.
 *
 * A function returns HT_OK, or the kind of error; ht_message() then has its text. All ranks of the communicator call a
 * collective function, with the same numbers and names, and all get an error or none. The exception is the first
 * argument, which holds the communicator: if it is NULL on some ranks, only these get the error. Results come in the
 * last arguments, which an error does not change. The host frees each object that a function makes, once and in any
 * order, and does not pass it afterwards; free functions take NULL.
 * The host starts MPI before ht_begin and ends it after ht_end. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ht_status {
  HT_OK = 0,
  HT_ERROR,       /* another error */
  HT_ERROR_VALUE, /* a wrong value or shape */
  HT_ERROR_INDEX, /* an axis or position out of range */
  HT_ERROR_TYPE,  /* not defined for this dtype */
  HT_ERROR_MEMORY,
  HT_ERROR_COMM,     /* communication failed, ranks are in different calls, or arguments on different communicators */
  HT_ERROR_IO,       /* a file is missing, is damaged, or has other contents */
  HT_ERROR_NOT_BUILT /* the library was built without it */
};
/* Returns the text of this thread's last error: "[load_hdf5] got ...; expected ...", or "". Local. */
const char* ht_message(void);

enum ht_dtype {
  HT_BOOL = 0,
  HT_UINT8,
  HT_INT8,
  HT_INT16,
  HT_INT32,
  HT_INT64,
  HT_FLOAT16,
  HT_BFLOAT16,
  HT_FLOAT32,
  HT_FLOAT64,
  HT_COMPLEX64,
  HT_COMPLEX128
};
enum { HT_REPLICATED = -1, HT_GRID = -2, HT_ALL_AXES = -1000, HT_MOST_AXES = 16 };

/* Ranks, an array over them, a plan between a host's bricks and an array, and a network that the ranks train. */
typedef struct ht_comm ht_comm;
typedef struct ht_array ht_array;
typedef struct ht_plan ht_plan;
typedef struct ht_network ht_network;

/* ---- the ranks ---------------------------------------------------------------------------------------------------*/

/* Takes an MPI communicator, MPI_Comm_c2f(comm), which is duplicated and stays the host's. Collective. */
int ht_begin(int fortran_comm, ht_comm** comm);
/* Releases the communicator. Arrays that still exist keep it. */
void ht_end(ht_comm* comm);

/* ---- arrays ------------------------------------------------------------------------------------------------------*/

/* Adopts the host's memory, in C order, as an array: the blocks of all ranks form it along axis `split`, or every rank
 * has all of it (HT_REPLICATED). The memory is used in place and has to outlive the array. Collective. */
int ht_adopt(const ht_comm* comm, void* memory, int dtype, int ndim, const int64_t* block, int split, ht_array** x);
/* Does ht_adopt for blocks on a grid of grid[axis] ranks along each axis. The ranks lie in C order: those that differ
 * by 1 are neighbors along the last cut axis. Blocks at the same place along an axis have equal extents along it. */
int ht_adopt_on_grid(const ht_comm* comm, void* memory, int dtype, int ndim, const int64_t* block, const int* grid,
                     ht_array** x);
void ht_free(ht_array* x);

typedef struct ht_description {
  int dtype, ndim, split;                           /* HT_REPLICATED: none; HT_GRID: several axes are cut */
  int64_t shape[HT_MOST_AXES], block[HT_MOST_AXES]; /* of the array, and of this rank's block */
  int grid[HT_MOST_AXES];                           /* the ranks along each axis: 1 if it is not cut */
} ht_description;
/* Describes an array. Local. */
int ht_describe(const ht_array* x, ht_description* description);
/* Copies this rank's block to memory for `count` elements of this dtype, which must be its number. Local. */
int ht_read(const ht_array* x, void* memory, int dtype, int64_t count);

/* Cut the array along another axis, or convert it to another dtype. Collective. */
int ht_resplit(const ht_array* x, int split, ht_array** result);
int ht_astype(const ht_array* x, int dtype, ht_array** result);
/* Cuts the array over a grid of grid[axis] ranks along each axis; NULL: blocks become nearly cubes. Collective. */
int ht_regrid(const ht_array* x, const int* grid, ht_array** result);

/* ---- files -------------------------------------------------------------------------------------------------------*/

/* Loads an array from a file, or from many that a pattern names ("run/part-*.h5"), in the format of the extension. A
 * dataset NULL or "" is the only one in the file; in HDF5, the only one outside of groups. Numbers of .csv files are
 * float64, others have the stored type. Collective. */
int ht_load(const ht_comm* comm, const char* path, const char* dataset, int split, ht_array** x);
/* Does ht_load for an array on a grid, with the ranks along each of `ndim` axes; NULL: blocks become nearly cubes. */
int ht_load_on_grid(const ht_comm* comm, const char* path, const char* dataset, int ndim, const int* grid,
                    ht_array** x);
/* Saves an array. If a dataset is named, the other datasets of the file stay, and one of this name is replaced: .h5,
 * .hdf5, .nc and .nc4. In a format that cannot add to a file, a file that has others is an error. Without a name the
 * file is replaced. Collective. */
int ht_save(const ht_array* x, const char* path, const char* dataset);

/* How an array is stored. The format decides fields that are 0 or NULL; a field that it lacks is an error. */
typedef struct ht_saving {
  int grows;               /* 1: ht_append_rows may extend the first axis of a dataset of .h5 and .hdf5 */
  const char* compression; /* "4" (a level of gzip), "zstd", "zstd:9", "lz4", "blosc" */
  const int64_t* chunks;   /* the extents of chunks, one for each axis */
  const char* attributes;  /* a JSON object of texts, numbers, and lists of these: "{\"units\": \"K\"}" */
  const char* dimensions;  /* names of the axes, "y,x" */
} ht_saving;
/* Does ht_save, stored as `how` says; NULL: as ht_save. Collective. */
int ht_save_as(const ht_array* x, const char* path, const char* dataset, const ht_saving* how);
/* Adds the array behind the rows of a stored one of the same dtype and other extents. The first call makes the dataset
 * as `how` says, and later ones follow it. Formats: .h5, .hdf5 and .zarr. Collective. */
int ht_append_rows(const ht_array* x, const char* path, const char* dataset, const ht_saving* how);

/* ---- statistics --------------------------------------------------------------------------------------------------*/

enum ht_reduction { HT_SUM = 0, HT_PROD, HT_MIN, HT_MAX, HT_MEAN, HT_VAR, HT_STD };
/* Reduces along an axis, where a negative one counts from the last, or over all elements. Collective. */
int ht_reduce(const ht_array* x, int reduction, int axis, ht_array** result);
/* Reduces all elements to a number. Collective. */
int ht_number(const ht_array* x, int reduction, double* value);
/* Finds the values below which q[i] percent of the elements lie, for `count` of them, maybe 0. Collective. */
int ht_percentiles(const ht_array* x, int count, const double* q, double* values);
/* Counts the elements in each of `bins` equal intervals from `first` to `last`, both included. Collective. */
int ht_histogram(const ht_array* x, int64_t bins, double first, double last, int64_t* counts);

/* ---- domains cut along several axes ------------------------------------------------------------------------------*/

/* Makes a plan for a domain of this shape. This rank has `bricks` parts: brick b begins at offsets + b * ndim, and its
 * extents are at shapes + b * ndim. Memory has ghosts[axis] more cells on either side; NULL: none. Collective. */
int ht_plan_bricks(const ht_comm* comm, int dtype, int ndim, const int64_t* shape, int bricks, const int64_t* offsets,
                   const int64_t* shapes, const int64_t* ghosts, int split, ht_plan** plan);
/* Makes a plan for memory with `before` ghost cells in front of the cells of each brick and `behind` after them, at
 * before + b * ndim for brick b; NULL: none. PETSc's DM_BOUNDARY_NONE has none at the edges of the domain. */
int ht_plan_ghosted_bricks(const ht_comm* comm, int dtype, int ndim, const int64_t* shape, int bricks,
                           const int64_t* offsets, const int64_t* shapes, const int64_t* before, const int64_t* behind,
                           int split, ht_plan** plan);
/* Does ht_plan_ghosted_bricks for an array on a grid of grid[axis] ranks; NULL: its blocks become nearly cubes. */
int ht_plan_on_grid(const ht_comm* comm, int dtype, int ndim, const int64_t* shape, int bricks, const int64_t* offsets,
                    const int64_t* shapes, const int64_t* before, const int64_t* behind, const int* grid,
                    ht_plan** plan);
void ht_plan_free(ht_plan* plan);
/* Make an array of the memory of all bricks, and write an array of any split back to it. Collective. */
int ht_from_bricks(const ht_plan* plan, const void* const* memory, ht_array** x);
int ht_to_bricks(const ht_plan* plan, const ht_array* x, void* const* memory);
/* Makes the bricks, one of each rank, an array where they lie, between their ghost cells: no element moves. The memory
 * has to outlive the array. Collective. */
int ht_adopt_brick(const ht_plan* plan, void* memory, ht_array** x);
/* Fills the ghost cells of all bricks, also at edges and corners, with the elements that other bricks hold there. The
 * other end of the domain follows along axes with periodic[axis] != 0; NULL: none. Ghost cells that then lie outside
 * the domain keep their values. Collective. */
int ht_refresh_bricks(const ht_plan* plan, const int* periodic, void* const* memory);

/* ---- networks ----------------------------------------------------------------------------------------------------*/

enum ht_loss { HT_MEAN_SQUARED_ERROR = 0, HT_MEAN_ABSOLUTE_ERROR, HT_CROSS_ENTROPY };
typedef struct ht_training {
  double rate;        /* rate of Adam, finite; 0: 0.001 */
  int loss;           /* HT_MEAN_SQUARED_ERROR, ... */
  int64_t remembered; /* rows that each rank keeps to draw batches from; 0: none, a step trains its own rows */
  int64_t batch;      /* rows of each rank in a batch that is drawn; 0: 32 */
  uint64_t seed;      /* seed of the draws */
} ht_training;        /* each rank has its own numbers of remembered rows, batch and seed */
/* Loads a network that Python has exported (torch.export.save(torch.export.export(net, (x,)), "net.pt2")) or scripted
 * (torch.jit.script(net).save("net.pt")), which all ranks train; training NULL: all fields 0. Collective. */
int ht_network_load(const ht_comm* comm, const char* path, const ht_training* training, ht_network** network);
void ht_network_free(ht_network* network);
/* Trains one step on rows that are cut alike along axis 0; ranks may have none. Gives the mean loss of all ranks' rows.
 * Collective. */
int ht_network_train(ht_network* network, const ht_array* inputs, const ht_array* targets, double* loss);
/* Computes the network's outputs for rows, cut as the rows. Collective. */
int ht_network_apply(ht_network* network, const ht_array* inputs, ht_array** outputs);
/* Save and restore weights under PyTorch's names in safetensors format, for load_file. Collective. */
int ht_network_save(ht_network* network, const char* path);
int ht_network_restore(ht_network* network, const char* path);

#ifdef __cplusplus
}
#endif
