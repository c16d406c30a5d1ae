/* A host in C, with a communicator of its own, whose last rank has no cells. host <folder> [network.pt] */
#include "../host_state.h"

#include <heatpp.h>

#include <math.h>

static int rank, ranks, failures;
static char host_before[host_state_length];

/* Checks that the host's settings are as before heatpp began. */
static void check_host(const char* call, int line) {
  char now[host_state_length];
  host_state_of(now);
  if (strcmp(now, host_before) == 0) return;
  ++failures;
  fprintf(stderr, "%s:%d: rank %d: %s: got a host with %s; expected %s\n", __FILE__, line, rank, call, now, host_before);
  strcpy(host_before, now);
}

#define CHECK(condition)                                                                   \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      ++failures;                                                                          \
      fprintf(stderr, "%s:%d: rank %d: %s; %s\n", __FILE__, __LINE__, rank, #condition, ht_message()); \
    }                                                                                      \
    check_host(#condition, __LINE__);                                                      \
  } while (0)

static int close_to(double a, double b) { return fabs(a - b) <= 1e-12 * (1 + fabs(b)); }

/* Fills rows 0 to rows - 1 of three columns; the last rank has none unless it is alone. */
static int64_t rows_of(int r) { return ranks > 1 && r == ranks - 1 ? 0 : 2 + r; }

static void arrays_and_files(const ht_comm* comm, const char* folder) {
  int64_t first = 0, rows = 0;
  for (int r = 0; r < ranks; ++r) {
    if (r < rank) first += rows_of(r);
    rows += rows_of(r);
  }
  const int64_t block[2] = {rows_of(rank), 3}, mine = block[0] * 3, all = rows * 3;
  double* memory = malloc((size_t)(mine + 1) * sizeof *memory);
  for (int64_t i = 0; i < mine; ++i) memory[i] = (double)(first * 3 + i);

  ht_array *x = NULL, *y = NULL, *z = NULL;
  CHECK(ht_adopt(comm, memory, HT_FLOAT64, 2, block, 0, &x) == HT_OK);
  ht_description found;
  CHECK(ht_describe(x, &found) == HT_OK);
  CHECK(found.dtype == HT_FLOAT64 && found.ndim == 2 && found.split == 0);
  CHECK(found.shape[0] == rows && found.shape[1] == 3 && found.block[0] == block[0]);

  double number = -1;
  CHECK(ht_number(x, HT_MEAN, &number) == HT_OK && close_to(number, (double)(all - 1) / 2));
  if (mine > 0) memory[0] += 6; /* the array sees it */
  CHECK(ht_number(x, HT_SUM, &number) == HT_OK);
  CHECK(close_to(number, (double)(all * (all - 1)) / 2 + 6.0 * (ranks > 1 ? ranks - 1 : 1)));
  if (mine > 0) memory[0] -= 6;
  CHECK(ht_number(x, HT_MAX, &number) == HT_OK && number == (double)(all - 1));
  double q[2] = {0, 100}, values[2] = {-1, -1};
  CHECK(ht_percentiles(x, 2, q, values) == HT_OK && values[0] == 0 && values[1] == (double)(all - 1));
  int64_t counts[3];
  CHECK(ht_histogram(x, 3, 0, (double)all, counts) == HT_OK);
  CHECK(counts[0] == rows && counts[1] == rows && counts[2] == rows);

  CHECK(ht_reduce(x, HT_MEAN, -2, &y) == HT_OK);
  double means[3];
  CHECK(ht_read(y, means, HT_FLOAT64, 3) == HT_OK);
  for (int c = 0; c < 3; ++c) CHECK(close_to(means[c], (double)(rows - 1) * 1.5 + c));

  char path[4096];
  snprintf(path, sizeof path, "%s/c.h5", folder);
  CHECK(ht_save(x, path, "run/field") == HT_OK);
  CHECK(ht_load(comm, path, "run/field", 1, &z) == HT_OK);
  ht_array* back = NULL;
  CHECK(ht_resplit(z, HT_REPLICATED, &back) == HT_OK);
  double* whole = malloc((size_t)all * sizeof *whole);
  CHECK(ht_read(back, whole, HT_FLOAT64, all) == HT_OK);
  for (int64_t i = 0; i < all; ++i) CHECK(whole[i] == (double)i);
  double thirds[6]; /* float32 would keep 7 digits */
  for (int i = 0; i < 6; ++i) thirds[i] = (rank * 6 + i) / 3.0;
  const int64_t three[2] = {2, 3};
  ht_array *written = NULL, *read = NULL;
  CHECK(ht_adopt(comm, thirds, HT_FLOAT64, 2, three, 0, &written) == HT_OK);
  snprintf(path, sizeof path, "%s/c.csv", folder);
  CHECK(ht_save(written, path, NULL) == HT_OK && ht_load(comm, path, NULL, 0, &read) == HT_OK);
  CHECK(ht_describe(read, &found) == HT_OK && found.dtype == HT_FLOAT64 && found.block[0] == 2);
  double again[6];
  CHECK(ht_read(read, again, HT_FLOAT64, 6) == HT_OK && memcmp(again, thirds, sizeof again) == 0);
  ht_free(written), ht_free(read);
  ht_array* narrow = NULL;
  CHECK(ht_astype(x, HT_FLOAT32, &narrow) == HT_OK && ht_describe(narrow, &found) == HT_OK);
  CHECK(found.dtype == HT_FLOAT32);

  /* Errors do not change results. */
  ht_array* none = NULL;
  CHECK(ht_load(comm, "/nowhere.h5", NULL, 0, &none) == HT_ERROR_IO && none == NULL);
  CHECK(strstr(ht_message(), "/nowhere.h5") != NULL);
  CHECK(ht_reduce(x, HT_SUM, 2, &none) == HT_ERROR_INDEX && none == NULL);
  CHECK(ht_reduce(x, 77, 0, &none) == HT_ERROR_VALUE);
  CHECK(ht_adopt(comm, memory, 99, 2, block, 0, &none) == HT_ERROR_VALUE);
  CHECK(ht_adopt(comm, memory, HT_FLOAT64, 2, block, -7, &none) == HT_ERROR_VALUE);
  CHECK(ht_adopt(NULL, memory, HT_FLOAT64, 2, block, 0, &none) == HT_ERROR_VALUE);
  CHECK(ht_read(x, whole, HT_FLOAT32, mine) == HT_ERROR_VALUE);
  CHECK(ht_number(NULL, HT_SUM, &number) == HT_ERROR_VALUE && strstr(ht_message(), "NULL") != NULL);
  /* Blocks that do not fit on one rank are an error on all, and so are mistakes that only C allows. */
  CHECK(ht_adopt(comm, memory, rank == 0 ? 99 : HT_FLOAT64, 2, block, 0, &none) == HT_ERROR_VALUE);
  const int64_t odd[2] = {1, rank == 0 && ranks > 1 ? 2 : 3};
  double row[3] = {0};
  CHECK(ht_adopt(comm, row, HT_FLOAT64, 2, odd, 0, &none) == (ranks > 1 ? HT_ERROR_VALUE : HT_OK));
  ht_free(none), ht_free(NULL);
  ht_free(x), ht_free(y), ht_free(z), ht_free(back), ht_free(narrow);
  free(memory), free(whole);
}

/* A mistake on the last rank alone is an error on all, and the ranks stay together. */
#define ALL_REFUSE(call)                                             \
  do {                                                               \
    CHECK((call) != HT_OK && out == NULL);                           \
    CHECK(ht_number(x, HT_SUM, &number) == HT_OK && number == ones); \
  } while (0)
/* So is an argument that is right but differs from those of the others. */
#define ALL_COMPARE(call, both)                                  \
  do {                                                           \
    if (ranks == 1) break;                                       \
    ALL_REFUSE(call);                                            \
    CHECK((call) == HT_ERROR_VALUE && strstr(ht_message(), both)); \
  } while (0)

static void one_rank_is_wrong(const ht_comm* comm, const char* folder) {
  const int last = rank == ranks - 1;
  const int64_t block[2] = {2, 3};
  double memory[6] = {1, 1, 1, 1, 1, 1}, q[1] = {50}, number;
  const double ones = 6 * ranks;
  int64_t counts[4];
  char path[4096];
  snprintf(path, sizeof path, "%s/one.h5", folder);
  ht_array *x = NULL, *out = NULL;
  ht_comm* again = NULL;
  CHECK(ht_adopt(comm, memory, HT_FLOAT64, 2, block, 0, &x) == HT_OK);
  ALL_REFUSE(ht_begin(MPI_Comm_c2f(MPI_COMM_WORLD), last ? NULL : &again));
  CHECK(again == NULL);
  ALL_REFUSE(ht_adopt(comm, memory, HT_FLOAT64, 2, last ? NULL : block, 0, &out));
  ALL_REFUSE(ht_adopt(comm, memory, HT_FLOAT64, 2, block, 0, last ? NULL : &out));
  ALL_REFUSE(ht_resplit(x, last ? 5 : 1, &out));
  ALL_REFUSE(ht_resplit(x, last ? -7 : 1, &out));
  ALL_REFUSE(ht_resplit(x, 1, last ? NULL : &out));
  ALL_REFUSE(ht_astype(x, last ? 99 : HT_INT32, &out));
  ALL_REFUSE(ht_astype(x, HT_INT32, last ? NULL : &out));
  ALL_REFUSE(ht_save(x, last ? NULL : path, "x"));
  CHECK(ht_save(x, path, "x") == HT_OK);
  ALL_REFUSE(ht_load(comm, last ? NULL : path, "x", 0, &out));
  ALL_REFUSE(ht_load(comm, path, "x", last ? 2 : 0, &out));
  ALL_REFUSE(ht_load(comm, path, "x", 0, last ? NULL : &out));
  ALL_REFUSE(ht_reduce(x, HT_SUM, last ? 7 : 0, &out));
  ALL_REFUSE(ht_reduce(x, last ? 99 : HT_SUM, 0, &out));
  ALL_REFUSE(ht_reduce(x, HT_SUM, 0, last ? NULL : &out));
  ALL_REFUSE(ht_number(x, last ? 99 : HT_SUM, &number));
  ALL_REFUSE(ht_number(x, HT_SUM, last ? NULL : &number));
  ALL_REFUSE(ht_percentiles(x, last ? -1 : 1, q, &number));
  ALL_REFUSE(ht_percentiles(x, 1, last ? NULL : q, &number));
  ALL_REFUSE(ht_percentiles(x, 1, q, last ? NULL : &number));
  q[0] = last ? 101 : 50;
  ALL_REFUSE(ht_percentiles(x, 1, q, &number));
  ALL_REFUSE(ht_histogram(x, last ? 0 : 4, 0, 8, counts));
  ALL_REFUSE(ht_histogram(x, 4, last ? NAN : 0, 8, counts));
  ALL_REFUSE(ht_histogram(x, 4, 0, 8, last ? NULL : counts));

  ALL_COMPARE(ht_adopt(comm, memory, last ? HT_INT64 : HT_FLOAT64, 2, block, 0, &out),
              "got dtype float64 on rank 0 and int64 on rank");
  ALL_COMPARE(ht_adopt(comm, memory, HT_FLOAT64, 2, block, last ? HT_REPLICATED : 0, &out),
              "got split 0 on rank 0 and -1 on rank");
  ALL_COMPARE(ht_resplit(x, last ? 0 : 1, &out), "got split 1 on rank 0 and 0 on rank");
  if (ranks > 1) {
    CHECK((last ? ht_number(x, HT_SUM, &number) : ht_resplit(x, 0, &out)) == HT_ERROR_COMM);
    CHECK(strstr(ht_message(), "got a call of ht_resplit on rank 0 and of ht_number on rank"));
  }
  ALL_COMPARE(ht_astype(x, last ? HT_INT64 : HT_INT32, &out), "got dtype int32 on rank 0 and int64 on rank");
  ALL_COMPARE(ht_load(comm, path, last ? "y" : "x", 0, &out), "got dataset \"x\" on rank 0 and \"y\" on rank");
  ALL_COMPARE(ht_load(comm, last ? "other.h5" : path, "x", 0, &out), "and \"other.h5\" on rank");
  ALL_COMPARE(ht_save(x, path, last ? NULL : "x"), "got dataset \"x\" on rank 0 and \"\" on rank");
  ALL_COMPARE(ht_reduce(x, HT_SUM, last ? HT_ALL_AXES : 0, &out), "got axis 0 on rank 0 and HT_ALL_AXES on rank");
  ALL_COMPARE(ht_number(x, last ? HT_MAX : HT_SUM, &number), "got reduction 0 on rank 0 and 3 on rank");
  ALL_COMPARE(ht_percentiles(x, last ? 0 : 1, q, &number), "got count 1 on rank 0 and 0 on rank");
  q[0] = last ? 20 : 50;
  ALL_COMPARE(ht_percentiles(x, 1, q, &number), "got q 50 on rank 0 and 20 on rank");
  ALL_COMPARE(ht_histogram(x, last ? 3 : 4, 0, 8, counts), "got bins 4 on rank 0 and 3 on rank");
  ALL_COMPARE(ht_histogram(x, 4, 0, last ? 9 : 8, counts), "got the range 0, 8 on rank 0 and 0, 9 on rank");
  ht_free(x);
}

/* Checks mistakes on all ranks, and the texts of their errors. */
static void messages(const ht_comm* comm) {
  const int64_t numbers[1] = {ranks}, offset[1] = {rank}, cells[1] = {1};
  double memory[1] = {0};
  ht_plan* plan = NULL;
  ht_array* x = NULL;
  CHECK(ht_plan_bricks(comm, HT_FLOAT64, 1, NULL, 1, offset, cells, NULL, 0, &plan) == HT_ERROR_VALUE);
  CHECK(strstr(ht_message(), "got NULL for shape;") != NULL);
  CHECK(ht_plan_bricks(comm, HT_FLOAT64, 1, numbers, 1, NULL, cells, NULL, 0, &plan) == HT_ERROR_VALUE);
  CHECK(strstr(ht_message(), "got NULL for offsets;") != NULL);
  CHECK(ht_plan_bricks(comm, HT_FLOAT64, 1, numbers, 1, offset, NULL, NULL, 0, &plan) == HT_ERROR_VALUE);
  CHECK(strstr(ht_message(), "got NULL for shapes;") != NULL && plan == NULL);
  CHECK(ht_adopt(comm, memory, HT_FLOAT64, 1, cells, 0, &x) == HT_OK);
  CHECK(ht_read(x, memory, HT_FLOAT32, 9) == HT_ERROR_VALUE);
  CHECK(strstr(ht_message(), "got memory for 9 elements of dtype float32; expected 1 of float64") != NULL);
  CHECK(ht_percentiles(x, -1, memory, memory) == HT_ERROR_VALUE && strstr(ht_message(), "got a count of -1") != NULL);
  CHECK(ht_percentiles(x, 0, NULL, NULL) == HT_OK);
  ht_free(x);
}

/* A plane cut into columns of `width` cells, with one ghost cell around each. */
static void bricks(const ht_comm* comm) {
  enum { height = 4, width = 3 };
  const int64_t shape[2] = {height, width * ranks}, offset[2] = {0, width * rank}, cells[2] = {height, width};
  const int64_t ghosts[2] = {1, 1};
  double memory[height + 2][width + 2], back[height + 2][width + 2];
  for (int i = 0; i < height + 2; ++i)
    for (int j = 0; j < width + 2; ++j)
      memory[i][j] = back[i][j] = i == 0 || j == 0 || i > height || j > width ? -7 : (i - 1) * 100 + width * rank + j - 1;
  ht_plan* plan = NULL;
  ht_array *x = NULL, *rows = NULL;
  CHECK(ht_plan_bricks(comm, HT_FLOAT64, 2, shape, 1, offset, cells, ghosts, 0, &plan) == HT_OK);
  const void* from = memory;
  CHECK(ht_from_bricks(plan, &from, &x) == HT_OK);
  CHECK(ht_reduce(x, HT_MAX, 1, &rows) == HT_OK);
  ht_description found;
  CHECK(ht_describe(x, &found) == HT_OK && found.shape[0] == height && found.shape[1] == width * ranks);
  double number = 0;
  CHECK(ht_number(rows, HT_MIN, &number) == HT_OK && number == width * ranks - 1);
  for (int i = 1; i <= height; ++i) memset(&back[i][1], 0, width * sizeof(double));
  void* to = back;
  CHECK(ht_to_bricks(plan, x, &to) == HT_OK);
  CHECK(memcmp(memory, back, sizeof back) == 0);
  /* The array in place, and its ghost cells filled along the periodic axis 1. */
  ht_array* adopted = NULL;
  CHECK(ht_adopt_brick(plan, memory, &adopted) == HT_OK);
  CHECK(ht_describe(adopted, &found) == HT_OK && found.shape[1] == width * ranks && found.block[1] == width);
  CHECK(found.split == (ranks > 1 ? 1 : HT_REPLICATED) || found.split == HT_GRID);
  CHECK(ht_number(adopted, HT_MAX, &number) == HT_OK && number == 300 + width * ranks - 1);
  const int periodic[2] = {0, 1};
  CHECK(ht_refresh_bricks(plan, periodic, &to) == HT_OK);
  CHECK(ht_refresh_bricks(plan, periodic, (void* const[1]){memory}) == HT_OK);
  CHECK(memcmp(memory, back, sizeof back) == 0 && memory[0][0] == -7 && memory[height + 1][1] == -7);
  const int left = (width * (rank + ranks) - 1) % (width * ranks), right = width * (rank + 1) % (width * ranks);
  for (int i = 1; i <= height; ++i)
    CHECK(memory[i][0] == (i - 1) * 100 + left && memory[i][width + 1] == (i - 1) * 100 + right);
  CHECK(ht_refresh_bricks(plan, NULL, NULL) == HT_ERROR_VALUE);
  CHECK(ht_adopt_brick(plan, memory, rank == ranks - 1 ? NULL : &adopted) == HT_ERROR_VALUE);
  ht_free(adopted);
  const int64_t beside[2] = {0, width * rank + (rank == ranks - 1)};
  ht_plan* none = NULL;
  CHECK(ht_plan_bricks(comm, HT_FLOAT64, 2, shape, 1, beside, cells, NULL, 0, &none) == HT_ERROR_VALUE && !none);
  CHECK(ht_plan_bricks(comm, HT_FLOAT64, 2, shape, rank == 0 ? -1 : 1, offset, cells, NULL, 0, &none) == HT_ERROR_VALUE);
  CHECK(ht_from_bricks(plan, NULL, &x) == HT_ERROR_VALUE);
  const int last = rank == ranks - 1;
  CHECK(ht_plan_bricks(comm, HT_FLOAT64, 2, shape, 1, offset, cells, NULL, 0, last ? NULL : &none) && !none);
  CHECK(ht_from_bricks(plan, &from, last ? NULL : &x) == HT_ERROR_VALUE);
  CHECK(ht_to_bricks(plan, last ? NULL : x, &to) == HT_ERROR_VALUE);
  CHECK(ht_number(rows, HT_MIN, &number) == HT_OK && number == width * ranks - 1);
  ht_free(x), ht_free(rows), ht_plan_free(plan);
}

/* Learns y = 2 a - b + 1 of rows (a, b), by steps on each rank's own rows, and by rows that are remembered. */
static void network(const ht_comm* comm, const char* folder, const char* script) {
  enum { rows = 16 };
  const int64_t mine = ranks > 1 && rank == ranks - 1 ? 0 : rows, in[2] = {mine, 2}, out[2] = {mine, 1};
  float inputs[rows][2], targets[rows][1];
  for (int i = 0; i < rows; ++i) {
    inputs[i][0] = (float)((i * 7 + rank * 3) % 11) / 11, inputs[i][1] = (float)((i * 5 + rank) % 13) / 13;
    targets[i][0] = 2 * inputs[i][0] - inputs[i][1] + 1;
  }
  ht_array *x = NULL, *y = NULL, *found = NULL, *again = NULL;
  CHECK(ht_adopt(comm, inputs, HT_FLOAT32, 2, in, 0, &x) == HT_OK);
  CHECK(ht_adopt(comm, targets, HT_FLOAT32, 2, out, 0, &y) == HT_OK);
  char path[4096];
  snprintf(path, sizeof path, "%s/c.safetensors", folder);
  for (int remembered = 0; remembered < 2; ++remembered) {
    const ht_training how = {.rate = 0.05, .remembered = remembered ? 64 : 0, .batch = 16};
    ht_network* net = NULL;
    CHECK(ht_network_load(comm, script, &how, &net) == HT_OK);
    double loss = 0, first = 0;
    for (int step = 0; step < 300; ++step) {
      CHECK(ht_network_train(net, x, y, &loss) == HT_OK);
      if (step == 0) first = loss;
    }
    CHECK(loss < 1e-3 * first);
    double all[1] = {loss};
    MPI_Bcast(all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    CHECK(all[0] == loss); /* the mean of all, on all */
    CHECK(ht_network_save(net, path) == HT_OK);
    ht_network_free(net);
  }
  ht_network* net = NULL;
  CHECK(ht_network_load(comm, script, NULL, &net) == HT_OK);
  CHECK(ht_network_restore(net, path) == HT_OK);
  CHECK(ht_network_apply(net, x, &found) == HT_OK);
  float outputs[rows];
  CHECK(ht_read(found, outputs, HT_FLOAT32, mine) == HT_OK);
  for (int i = 0; i < mine; ++i) CHECK(fabsf(outputs[i] - targets[i][0]) < 0.1F);
  const ht_training wrong = {.rate = rank == 0 ? -1 : 0};
  ht_network* none = NULL;
  CHECK(ht_network_load(comm, script, &wrong, &none) == HT_ERROR_VALUE && !none);
  const ht_training undefined = {.rate = NAN}, endless = {.rate = INFINITY};
  CHECK(ht_network_load(comm, script, &undefined, &none) == HT_ERROR_VALUE && !none);
  CHECK(ht_network_load(comm, script, &endless, &none) == HT_ERROR_VALUE && !none);
  const ht_training other = {.remembered = rank == 0 ? 8 : 0};
  CHECK(ranks == 1 || (ht_network_load(comm, script, &other, &none) == HT_ERROR_VALUE && !none));
  CHECK(ht_network_load(comm, path, NULL, &none) == HT_ERROR_IO && !none);
  CHECK(ht_network_train(net, y, y, NULL) == HT_ERROR_VALUE); /* one column does not fit two */
  CHECK(ht_network_apply(net, x, &again) == HT_OK);           /* the network still works */
  const int last = rank == ranks - 1;
  CHECK(ht_network_load(comm, last ? NULL : script, NULL, &none) == HT_ERROR_VALUE && !none);
  CHECK(ht_network_load(comm, script, NULL, last ? NULL : &none) == HT_ERROR_VALUE && !none);
  CHECK(ht_network_train(net, x, last ? NULL : y, NULL) == HT_ERROR_VALUE);
  ht_array* outputs_of_none = NULL;
  CHECK(ht_network_apply(net, last ? NULL : x, &outputs_of_none) == HT_ERROR_VALUE && !outputs_of_none);
  CHECK(ht_network_apply(net, x, last ? NULL : &outputs_of_none) == HT_ERROR_VALUE && !outputs_of_none);
  CHECK(ht_network_save(net, last ? NULL : path) == HT_ERROR_VALUE);
  CHECK(ht_network_restore(net, last ? NULL : path) == HT_ERROR_VALUE);
  CHECK(ht_network_restore(net, path) == HT_OK); /* the ranks are still together */
  const ht_training classes = {.loss = HT_CROSS_ENTROPY};
  CHECK(ht_network_load(comm, script, &classes, &none) == HT_OK);
  CHECK(ht_network_train(none, x, y, NULL) == HT_ERROR_VALUE); /* LibTorch wants classes without a second axis */
  CHECK(strstr(ht_message(), "[ht_network_train] got targets of shape") && !strstr(ht_message(), "raised from"));
  CHECK(ht_network_train(net, x, x, NULL) == HT_ERROR_VALUE && strstr(ht_message(), "expected the same shape"));
  ht_array* vector = NULL; /* LibTorch would broadcast it to every row */
  CHECK(ht_adopt(comm, targets, HT_FLOAT32, 1, out, 0, &vector) == HT_OK);
  CHECK(ht_network_train(net, x, vector, NULL) == HT_ERROR_VALUE && strstr(ht_message(), "got targets of shape"));
  ht_free(vector);
  ht_network_free(none);
  ht_network_free(net), ht_free(x), ht_free(y), ht_free(found), ht_free(again);
}

/* Checks fields in one file, how they are stored, and files that grow. */
static void saving(const ht_comm* comm, const char* folder) {
  const int64_t block[2] = {2, 3}, chunks[2] = {1, 3};
  double u[6], v[6];
  char path[4096], other[4096];
  for (int i = 0; i < 6; ++i) u[i] = 6 * rank + i, v[i] = -u[i];
  ht_array *x = NULL, *y = NULL, *out = NULL;
  double number = 0;
  const double all = 6 * ranks, sum = all * (all - 1) / 2;
  CHECK(ht_adopt(comm, u, HT_FLOAT64, 2, block, 0, &x) == HT_OK && ht_adopt(comm, v, HT_FLOAT64, 2, block, 0, &y) == HT_OK);
  for (int format = 0; format < 2; ++format) {
    snprintf(path, sizeof path, "%s/fields.%s", folder, format ? "nc" : "h5");
    for (int step = 0; step < 3; ++step) { /* as a host that writes the same file again and again */
      CHECK(ht_save(x, path, "u") == HT_OK);
      CHECK(ht_save(y, path, "v") == HT_OK);
    }
    CHECK(ht_load(comm, path, "u", 0, &out) == HT_OK && ht_number(out, HT_SUM, &number) == HT_OK && number == sum);
    ht_free(out), out = NULL;
    CHECK(ht_load(comm, path, "v", 0, &out) == HT_OK && ht_number(out, HT_SUM, &number) == HT_OK && number == -sum);
    ht_free(out), out = NULL;
  }
  snprintf(other, sizeof other, "%s/fields.npz", folder);
  CHECK(ht_save(x, other, "u") == HT_OK && ht_save(x, other, "u") == HT_OK);
  CHECK(ht_save(y, other, "v") == HT_ERROR_VALUE && strstr(ht_message(), "[ht_save] got dataset \"v\" for"));

  snprintf(path, sizeof path, "%s/fields.h5", folder);
  const ht_saving stored = {.compression = "4", .chunks = chunks, .attributes = "{\"units\": \"K\", \"levels\": [1, 2]}",
                            .dimensions = "y,x"};
  CHECK(ht_save_as(x, path, "stored", &stored) == HT_OK);
  const ht_saving wrong = {.attributes = rank == ranks - 1 ? "{units}" : NULL};
  CHECK(ht_save_as(x, path, "stored", &wrong) == HT_ERROR_VALUE && strstr(ht_message(), "expected a JSON object"));
  const ht_saving codec = {.compression = rank == 0 ? "best" : "zstd"};
  CHECK(ht_save_as(x, path, "stored", &codec) == HT_ERROR_VALUE);
  const ht_saving apart = {.compression = rank == 0 ? "1" : "2"};
  CHECK(ranks == 1 || ht_save_as(x, path, "stored", &apart) == HT_ERROR_VALUE);

  for (int format = 0; format < 2; ++format) {
    snprintf(path, sizeof path, "%s/grown.%s", folder, format ? "zarr" : "h5");
    for (int step = 0; step < 3; ++step) CHECK(ht_append_rows(x, path, format ? NULL : "t", NULL) == HT_OK);
    CHECK(ht_load(comm, path, NULL, 0, &out) == HT_OK && ht_number(out, HT_SUM, &number) == HT_OK && number == 3 * sum);
    ht_free(out), out = NULL;
  }
  const ht_saving grows = {.grows = 1};
  CHECK(ht_save_as(x, path, "t", &grows) == HT_ERROR_VALUE); /* .zarr does not have it */
  snprintf(path, sizeof path, "%s/grows.h5", folder);
  CHECK(ht_save_as(x, path, "t", &grows) == HT_OK && ht_append_rows(y, path, "t", NULL) == HT_OK);
  CHECK(ht_load(comm, path, NULL, 0, &out) == HT_OK && ht_number(out, HT_SUM, &number) == HT_OK && number == 0);
  ht_free(out), ht_free(x), ht_free(y);
}

/* Columns of two bricks a rank, whose memory has ghost cells on the inner sides of the domain only. */
static void ghosts_on_some_sides(const ht_comm* comm) {
  const int64_t shape[2] = {3, 4 * ranks}, offsets[4] = {0, 4 * rank, 0, 4 * rank + 2}, shapes[4] = {3, 2, 3, 2};
  const int64_t before[4] = {0, rank > 0, 0, 1}, behind[4] = {0, 1, 0, rank + 1 < ranks};
  double memory[2][12], number = 0;
  for (int b = 0; b < 2; ++b) {
    const int64_t width = before[2 * b + 1] + 2 + behind[2 * b + 1];
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < width; ++j) {
        const int64_t cell = j - before[2 * b + 1];
        memory[b][i * width + j] = cell < 0 || cell > 1 ? -1000 : (double)(offsets[2 * b + 1] + cell);
      }
  }
  ht_plan* plan = NULL;
  ht_array* x = NULL;
  CHECK(ht_plan_ghosted_bricks(comm, HT_FLOAT64, 2, shape, 2, offsets, shapes, before, behind, 1, &plan) == HT_OK);
  const void* const from[2] = {memory[0], memory[1]};
  CHECK(ht_from_bricks(plan, from, &x) == HT_OK);
  CHECK(ht_number(x, HT_SUM, &number) == HT_OK && number == 3.0 * 4 * ranks * (4 * ranks - 1) / 2);
  void* const to[2] = {memory[0], memory[1]};
  CHECK(ht_to_bricks(plan, x, to) == HT_OK && memory[0][0] == (rank > 0 ? -1000 : 0));
  ht_free(x), ht_plan_free(plan);
}

/* A plane on a grid of rows x columns of ranks, each with 2 x 3 cells. */
static void grids(const ht_comm* comm, const char* folder) {
  const int rows = ranks % 2 ? 1 : 2, columns = ranks / rows, last = rank == ranks - 1;
  const int grid[2] = {rows, columns}, turned[2] = {columns, rows}, too_many[2] = {rows, columns + 1};
  const int64_t block[2] = {2, 3}, shape[2] = {2 * rows, 3 * columns};
  const int64_t first[2] = {2 * (rank / columns), 3 * (rank % columns)};
  double memory[2][3], back[6], number, ones = 0;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) memory[i][j] = (double)((first[0] + i) * 100 + first[1] + j);
  ht_array *x = NULL, *y = NULL, *out = NULL;
  ht_description found;
  CHECK(ht_adopt_on_grid(comm, memory, HT_FLOAT64, 2, block, grid, &x) == HT_OK);
  CHECK(ht_describe(x, &found) == HT_OK && found.ndim == 2 && found.shape[0] == shape[0] && found.shape[1] == shape[1]);
  CHECK(found.grid[0] == rows && found.grid[1] == columns && found.block[0] == 2 && found.block[1] == 3);
  CHECK(found.split == (rows > 1 && columns > 1 ? HT_GRID : ranks == 1 ? HT_REPLICATED : rows > 1 ? 0 : 1));
  CHECK(ht_number(x, HT_MAX, &number) == HT_OK && number == (double)((shape[0] - 1) * 100 + shape[1] - 1));
  memory[0][0] += 1000; /* the array sees it */
  CHECK(ht_number(x, HT_MAX, &number) == HT_OK && number >= 1000);
  memory[0][0] -= 1000;
  CHECK(ht_number(x, HT_SUM, &ones) == HT_OK);

  CHECK(ht_resplit(x, 0, &y) == HT_OK && ht_describe(y, &found) == HT_OK && found.grid[0] == ranks && found.grid[1] == 1);
  CHECK(ht_regrid(y, grid, &out) == HT_OK && ht_describe(out, &found) == HT_OK && found.grid[1] == columns);
  CHECK(ht_read(out, back, HT_FLOAT64, 6) == HT_OK && memcmp(back, memory, sizeof back) == 0);
  ht_free(out), out = NULL;
  CHECK(ht_regrid(y, NULL, &out) == HT_OK && ht_describe(out, &found) == HT_OK);
  CHECK(found.grid[0] * found.grid[1] == ranks);
  ht_free(out), out = NULL;

  char path[4096];
  snprintf(path, sizeof path, "%s/grid.h5", folder);
  CHECK(ht_save(x, path, "x") == HT_OK);
  CHECK(ht_load_on_grid(comm, path, "x", 2, grid, &out) == HT_OK && ht_describe(out, &found) == HT_OK);
  CHECK(found.grid[0] == rows && found.grid[1] == columns);
  CHECK(ht_read(out, back, HT_FLOAT64, 6) == HT_OK && memcmp(back, memory, sizeof back) == 0);
  ht_free(out), out = NULL;
  CHECK(ht_load_on_grid(comm, path, "x", 0, NULL, &out) == HT_OK && ht_describe(out, &found) == HT_OK);
  CHECK(found.grid[0] * found.grid[1] == ranks);
  ht_free(out), out = NULL;

  ht_plan *plan = NULL, *none = NULL;
  CHECK(ht_plan_on_grid(comm, HT_FLOAT64, 2, shape, 1, first, block, NULL, NULL, grid, &plan) == HT_OK);
  const void* from = memory;
  CHECK(ht_from_bricks(plan, &from, &out) == HT_OK && ht_describe(out, &found) == HT_OK && found.grid[0] == rows);
  CHECK(ht_read(out, back, HT_FLOAT64, 6) == HT_OK && memcmp(back, memory, sizeof back) == 0);
  ht_free(out), out = NULL, ht_plan_free(plan);

  /* A grid that does not fit, or that differs on one rank, is an error on all. */
  ALL_REFUSE(ht_regrid(x, too_many, &out));
  CHECK(strstr(ht_message(), "expected the ranks along each axis") != NULL);
  ALL_REFUSE(ht_regrid(x, last ? too_many : grid, &out));
  ALL_REFUSE(ht_regrid(x, grid, last ? NULL : &out));
  ALL_REFUSE(ht_adopt_on_grid(comm, memory, HT_FLOAT64, 2, block, NULL, &out));
  ALL_REFUSE(ht_adopt_on_grid(comm, memory, HT_FLOAT64, last ? 17 : 2, block, grid, &out));
  ALL_REFUSE(ht_load_on_grid(comm, path, "x", 3, (const int[3]){rows, columns, 1}, &out));
  ALL_REFUSE(ht_load_on_grid(comm, path, "x", -1, grid, &out));
  ALL_REFUSE(ht_load_on_grid(comm, path, "x", 2, too_many, &out));
  CHECK(ht_plan_on_grid(comm, HT_FLOAT64, 2, shape, 1, first, block, NULL, NULL, too_many, &none) == HT_ERROR_VALUE);
  if (columns > 1) {
    const int64_t odd[2] = {2, last ? 2 : 3}, beside[2] = {first[0], last ? first[1] - 1 : first[1]};
    if (rows > 1) ALL_REFUSE(ht_adopt_on_grid(comm, memory, HT_FLOAT64, 2, odd, grid, &out));
    CHECK(ht_plan_on_grid(comm, HT_FLOAT64, 2, shape, 1, first, odd, NULL, NULL, grid, &none) == HT_ERROR_VALUE);
    CHECK(ht_plan_on_grid(comm, HT_FLOAT64, 2, shape, 1, beside, block, NULL, NULL, grid, &none) == HT_ERROR_VALUE);
  }
  if (rows != columns) {
    ALL_COMPARE(ht_regrid(x, last ? turned : grid, &out), "got grid (");
    ALL_COMPARE(ht_adopt_on_grid(comm, memory, HT_FLOAT64, 2, block, last ? turned : grid, &out), "got grid (");
    ALL_COMPARE(ht_load_on_grid(comm, path, "x", 2, last ? turned : grid, &out), "got grid (");
  }
  ALL_COMPARE(ht_load_on_grid(comm, path, "x", 2, last ? NULL : grid, &out), "balanced");
  CHECK(none == NULL);
  /* Ghost cells may not be wider than a brick, and each rank needs memory. */
  const int64_t wide[2] = {0, 4};
  CHECK(ht_plan_on_grid(comm, HT_FLOAT64, 2, shape, 1, first, block, wide, wide, grid, &plan) == HT_OK);
  double around[2][11] = {{0}};
  const int periodic[2] = {0, 1};
  CHECK(ht_refresh_bricks(plan, periodic, (void* const[1]){around}) == HT_ERROR_VALUE);
  CHECK(strstr(ht_message(), "got 4 ghost cells") && strstr(ht_message(), "expected at most 3"));
  ALL_REFUSE(ht_adopt_brick(plan, last ? NULL : around, &out));
  CHECK(ht_refresh_bricks(plan, periodic, (void* const[1]){last ? NULL : around}) == HT_ERROR_VALUE);
  ht_free(x), ht_free(y), ht_plan_free(plan);
}

/* Before MPI begins and after it has ended, the library gives an error. */
static void without_mpi(void) {
  ht_comm* none = NULL;
  if (ht_begin(0, &none) != HT_ERROR_COMM || none || !strstr(ht_message(), "[ht_begin] got a program in which MPI is not"))
    ++failures, fprintf(stderr, "ht_begin without MPI: %s\n", ht_message());
}

int main(int argc, char** argv) {
  without_mpi();
  MPI_Init(&argc, &argv);
  host_state_of(host_before);
  MPI_Comm mine;
  MPI_Comm_dup(MPI_COMM_WORLD, &mine);
  MPI_Comm_rank(mine, &rank), MPI_Comm_size(mine, &ranks);
  ht_comm* comm = NULL;
  CHECK(argc == 3);
  CHECK(ht_begin(MPI_Comm_c2f(mine), &comm) == HT_OK);
  MPI_Comm_free(&mine);
  arrays_and_files(comm, argv[1]);
  one_rank_is_wrong(comm, argv[1]);
  messages(comm);
  saving(comm, argv[1]);
  bricks(comm);
  ghosts_on_some_sides(comm);
  grids(comm, argv[1]);
  network(comm, argv[1], argv[2]);
  ht_end(comm);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d failures\n", failures);
  MPI_Finalize();
  without_mpi();
  return failures > 0;
}
