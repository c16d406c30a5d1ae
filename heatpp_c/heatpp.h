/* heatpp for hosts in C and, by way of heatpp.f90, in Fortran: their memory as distributed arrays, files, statistics,
 * domains cut along several axes, networks that are trained and applied while a simulation runs.
 *
 * A function returns HT_OK, or what kind of error there was, whose text ht_message() has then. Where one is collective
 * all ranks of the communicator call it, with the same numbers and names, and all get an error or none. The exception is
 * the first argument, which knows the communicator: ranks on which it is NULL get the error alone. Results come in the
 * last arguments, which an error leaves as they are. Whatever a function makes is freed by the host, once and in any
 * order, and not passed after that; free functions take NULL.
 * The host starts MPI before ht_begin and ends it after ht_end. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ht_status {
  HT_OK = 0,
  HT_ERROR,           /* another error */
  HT_ERROR_VALUE,     /* a wrong value or shape */
  HT_ERROR_INDEX,     /* an axis or position out of range */
  HT_ERROR_TYPE,      /* not defined for this dtype */
  HT_ERROR_MEMORY,
  HT_ERROR_COMM,      /* communication failed, ranks are in different calls, or arguments on different communicators */
  HT_ERROR_IO,        /* a file is missing, damaged, or not what was asked for */
  HT_ERROR_NOT_BUILT  /* the library was built without it */
};
/* What the last error of this thread was: "[load_hdf5] got ...; expected ...", or "". Local. */
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
enum { HT_REPLICATED = -1, HT_ALL_AXES = -1000, HT_MOST_AXES = 16 };

/* Ranks, an array over them, the way between a host's bricks and an array, a network that they train. */
typedef struct ht_comm ht_comm;
typedef struct ht_array ht_array;
typedef struct ht_plan ht_plan;
typedef struct ht_network ht_network;

/* ---- the ranks ---------------------------------------------------------------------------------------------------*/

/* The ranks of an MPI communicator, MPI_Comm_c2f(comm), which is duplicated and stays the host's. Collective. */
int ht_begin(int fortran_comm, ht_comm** comm);
/* Lets go of it. Arrays that are still there keep it. */
void ht_end(ht_comm* comm);

/* ---- arrays ------------------------------------------------------------------------------------------------------*/

/* The host's memory, in C order, as the array that the blocks of all ranks form along axis `split`, or of which every
 * rank has all (HT_REPLICATED). It is used where it lies and has to outlive the array. Collective. */
int ht_adopt(const ht_comm* comm, void* memory, int dtype, int ndim, const int64_t* block, int split, ht_array** x);
void ht_free(ht_array* x);

typedef struct ht_description {
  int dtype, ndim, split; /* HT_REPLICATED: none */
  int64_t shape[HT_MOST_AXES], block[HT_MOST_AXES]; /* of the array, and of this rank's block */
} ht_description;
/* Local. */
int ht_describe(const ht_array* x, ht_description* description);
/* Copies this rank's block to memory for `count` elements of this dtype, which must be as many as it has. Local. */
int ht_read(const ht_array* x, void* memory, int dtype, int64_t count);

/* The array cut along another axis, or in another dtype. Collective. */
int ht_resplit(const ht_array* x, int split, ht_array** result);
int ht_astype(const ht_array* x, int dtype, ht_array** result);

/* ---- files -------------------------------------------------------------------------------------------------------*/

/* An array from a file, or many that a pattern names ("run/part-*.h5"), in the format that the extension says; dataset
 * NULL or "" is the only one in it, in an HDF5 file of those outside of groups. Of .csv files they are float64, else of
 * the type that is stored. Collective. */
int ht_load(const ht_comm* comm, const char* path, const char* dataset, int split, ht_array** x);
/* Where a dataset is named the other datasets of the file stay as they are, and one of this name is replaced: .h5, .hdf5,
 * .nc and .nc4. In a format that cannot add to a file, a file that has others is an error. Without a name the file is
 * replaced. Collective. */
int ht_save(const ht_array* x, const char* path, const char* dataset);

/* How an array is stored. What is 0 or NULL is left to the format, and what it has not is an error. */
typedef struct ht_saving {
  int grows;               /* 1: ht_append_rows may extend the first axis of a dataset of .h5 and .hdf5 */
  const char* compression; /* "4" (a level of gzip), "zstd", "zstd:9", "lz4", "blosc" */
  const int64_t* chunks;   /* the extents of chunks, one for each axis */
  const char* attributes;  /* a JSON object of texts, numbers, and lists of these: "{\"units\": \"K\"}" */
  const char* dimensions;  /* names of the axes, "y,x" */
} ht_saving;
/* As ht_save, stored as `how` says; NULL: as ht_save. Collective. */
int ht_save_as(const ht_array* x, const char* path, const char* dataset, const ht_saving* how);
/* Adds the array behind the rows of a stored one of the same dtype and further extents. The first call makes it, as `how`
 * says, later ones go on as it was made. Formats: .h5, .hdf5 and .zarr. Collective. */
int ht_append_rows(const ht_array* x, const char* path, const char* dataset, const ht_saving* how);

/* ---- statistics --------------------------------------------------------------------------------------------------*/

enum ht_reduction { HT_SUM = 0, HT_PROD, HT_MIN, HT_MAX, HT_MEAN, HT_VAR, HT_STD };
/* Of the elements along an axis, negative ones counted from the last, or of all of them. Collective. */
int ht_reduce(const ht_array* x, int reduction, int axis, ht_array** result);
/* Of all elements, as a number. Collective. */
int ht_number(const ht_array* x, int reduction, double* value);
/* The values below which q[i] percent of the elements are, for `count` of them; 0: nothing is done. Collective. */
int ht_percentiles(const ht_array* x, int count, const double* q, double* values);
/* How many elements lie in each of `bins` intervals of equal width from `first` to `last`, both included. Collective.*/
int ht_histogram(const ht_array* x, int64_t bins, double first, double last, int64_t* counts);

/* ---- domains cut along several axes ------------------------------------------------------------------------------*/

/* For a domain of this shape of which this rank has `bricks` parts: the cells of brick b begin at offsets + b * ndim,
 * and there are shapes + b * ndim of them. Memory has ghosts[axis] cells more on either side; NULL: none. Collective.*/
int ht_plan_bricks(const ht_comm* comm, int dtype, int ndim, const int64_t* shape, int bricks, const int64_t* offsets,
                   const int64_t* shapes, const int64_t* ghosts, int split, ht_plan** plan);
/* As this, for memory that has `before` ghost cells in front of the cells of each brick and `behind` after them, from
 * before + b * ndim on for brick b; NULL: none. PETSc's DM_BOUNDARY_NONE has none at the edges of the domain. */
int ht_plan_ghosted_bricks(const ht_comm* comm, int dtype, int ndim, const int64_t* shape, int bricks,
                           const int64_t* offsets, const int64_t* shapes, const int64_t* before, const int64_t* behind,
                           int split, ht_plan** plan);
void ht_plan_free(ht_plan* plan);
/* The array of what lies in the memory of each brick, and back into it from an array of any split. Collective. */
int ht_from_bricks(const ht_plan* plan, const void* const* memory, ht_array** x);
int ht_to_bricks(const ht_plan* plan, const ht_array* x, void* const* memory);

/* ---- networks ----------------------------------------------------------------------------------------------------*/

enum ht_loss { HT_MEAN_SQUARED_ERROR = 0, HT_MEAN_ABSOLUTE_ERROR, HT_CROSS_ENTROPY };
typedef struct ht_training {
  double rate;        /* of Adam, finite; 0: 0.001 */
  int loss;           /* HT_MEAN_SQUARED_ERROR, ... */
  int64_t remembered; /* rows that each rank keeps to draw batches from; 0: none, a step trains its own rows */
  int64_t batch;      /* rows of each rank in a batch that is drawn; 0: 32 */
  uint64_t seed;      /* of what is drawn */
} ht_training;        /* how many rows are remembered, batch and seed are each rank's own */
/* A network that Python has scripted (torch.jit.script(net).save("net.pt")), to be trained by all ranks together;
 * training NULL: as of zeros. Collective. */
int ht_network_load(const ht_comm* comm, const char* path, const ht_training* training, ht_network** network);
void ht_network_free(ht_network* network);
/* One step on rows that are cut alike along axis 0, of which ranks may have none; the mean loss of all ranks' rows.
 * Collective. */
int ht_network_train(ht_network* network, const ht_array* inputs, const ht_array* targets, double* loss);
/* The network's outputs for rows, cut as they are. Collective. */
int ht_network_apply(ht_network* network, const ht_array* inputs, ht_array** outputs);
/* Weights under PyTorch's names in safetensors format, for Python's load_file. Collective. */
int ht_network_save(ht_network* network, const char* path);
int ht_network_restore(ht_network* network, const char* path);

#ifdef __cplusplus
}
#endif
