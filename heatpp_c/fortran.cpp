// The C part of heatpp.f90: Fortran's arrays by their addresses. Their axes are reversed, so that the fastest one is
// the last as in C, and nothing is copied.
#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/alike.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp_c/detail/handles.hpp>

#include <sstream>
#include <vector>

using namespace heatpp::c;  // NOLINT: what the functions below are made of
using heatpp::Dtype;
using heatpp::Shape;
using heatpp::detail::formatted;
using heatpp::detail::raise;

extern "C" {
/// This is ht_memory of heatpp.f90.
struct ht_fortran_memory {
  void* address;
  int dtype, bytes, rank;
  std::int64_t extents[15], strides[15];
};
/// This is cut of heatpp.f90: a dimension, or a grid with the numbers in C's order, of which 0 are a balanced grid.
struct ht_fortran_cut {
  int dim, axes, grid[HT_MOST_AXES];
};
}

namespace {

constexpr int characters = -2, no_dim = -1, no_grid = -1, unknown_rank = -1;

/// Returns a dtype's name, or another description of the elements.
std::string type_text(const ht_fortran_memory& a) {
  if (a.dtype >= 0) return dtype_text(a.dtype);
  return a.dtype == characters ? "characters" : formatted("another type or kind, of {} bytes", a.bytes);
}

Dtype dtype_of_kind(const char* op, const ht_fortran_memory& a) {
  if (a.dtype < 0)
    raise<heatpp::TypeError>(op,
                             "got a Fortran array of {}; expected integers of kinds int8 to int64, reals "
                             "or complex numbers of kinds real32 and real64, or logicals of kind c_bool",
                             type_text(a));
  return dtype_of(op, a.dtype);
}

/// A Fortran array in place.
struct Described {
  void* memory;
  Dtype dtype;
  Shape extents, strides;  ///< the last axis is Fortran's first; in elements
};

Described described(const char* op, const ht_fortran_memory& a) {
  Described found{a.address, dtype_of_kind(op, a), {}, {}};
  const auto bytes = static_cast<std::int64_t>(heatpp::itemsize(found.dtype));
  for (int dim = a.rank - 1; dim >= 0; --dim) {
    const auto stride = a.address && a.extents[dim] > 1 ? a.strides[dim] : bytes;  // else there is no second element
    if (stride % bytes != 0 || stride <= 0)
      raise<heatpp::ValueError>(op, "got a stride of {} bytes along dimension {}; expected a multiple of {} above 0",
                                stride, dim + 1, bytes);
    found.extents.push_back(a.extents[dim]);
    found.strides.push_back(stride / bytes);
  }
  return found;
}

at::Tensor tensor_of(const Described& a) {
  return at::from_blob(a.memory, a.extents, a.strides, at::TensorOptions(heatpp::detail::to_torch(a.dtype)));
}

/// The address of each brick of this rank.
struct Bricks {
  const ht_fortran_memory* first;
  int count;
};
std::vector<at::Tensor> tensors_of(const char* op, const Bricks& bricks) {
  std::vector<at::Tensor> tensors;
  for (int b = 0; b < bricks.count; ++b) tensors.push_back(tensor_of(described(op, bricks.first[b])));
  return tensors;
}

/// A dimension as the host names it, from 1 to `rank`, or none.
struct Dimension {
  int number = 0, rank = 0;
  int none = 0, axis_of_none = HT_REPLICATED;
};

void check_dim(const char* op, const Dimension& dim) {
  if (dim.number != dim.none && (dim.number < 1 || dim.number > dim.rank))
    raise<heatpp::IndexError>(op, "got dim {} for an array of rank {}; expected 1 to {}{}", dim.number, dim.rank,
                              dim.rank, dim.none == 0 ? ", or 0 for none" : "");
}

/// Returns the axis of C for a dimension.
int axis_of(const Dimension& dim) { return dim.number == dim.none ? dim.axis_of_none : dim.rank - dim.number; }

/// Returns the axis for a dimension that all ranks have to pass alike. Collective.
int agreed_axis(const char* op, const heatpp::Communicator& comm, const Dimension& dim) {
  const auto text = dim.number == dim.none ? "none" : std::to_string(dim.number);
  heatpp::detail::check_agreed(op, comm, {{"dim", text}}, [&] { check_dim(op, dim); });
  return axis_of(dim);
}
int agreed_axis(const char* op, const heatpp::DNDarray& x, Dimension dim) {
  dim.rank = x.ndim();
  return agreed_axis(op, x.comm(), dim);
}

std::string grid_text(const ht_fortran_cut& cut) {
  if (cut.axes == no_grid) return "none";
  if (cut.axes > HT_MOST_AXES) return formatted("of {} dimensions", cut.axes);
  return to_string(cut.axes == 0 ? heatpp::balanced_grid : heatpp::Grid(std::vector(cut.grid, cut.grid + cut.axes)));
}

/// Throws unless there is a dimension or a grid that an array of this rank has.
void check_cut(const char* op, const ht_fortran_cut& cut, int rank) {
  if (cut.axes == no_grid) return rank == unknown_rank ? void() : check_dim(op, {cut.dim, rank});
  if (cut.dim != no_dim)
    raise<heatpp::ValueError>(op, "got a dimension and grid {}; expected one of them", grid_text(cut));
  if (cut.axes > HT_MOST_AXES || (rank != unknown_rank && cut.axes > 0 && cut.axes != rank))
    raise<heatpp::ValueError>(op, "got grid {} for an array of rank {}; expected the ranks along each dimension",
                              grid_text(cut), rank);
}

/// Checks a cut that all ranks have to pass alike. Collective.
void check_agreed_cut(const char* op, const heatpp::Communicator& comm, const ht_fortran_cut& cut, int rank) {
  heatpp::detail::check_agreed(op, comm, {{"dim", std::to_string(cut.dim)}, {"grid", grid_text(cut)}},
                               [&] { check_cut(op, cut, rank); });
}
const int* ranks_along(const ht_fortran_cut& cut) { return cut.axes == 0 ? nullptr : cut.grid; }

/// Returns the status of `checks`, which count as Fortran does, else of `call`, which counts as C does.
int after(const std::function<void()>& checks, const std::function<int()>& call) {
  const int status = status_of(checks);
  return status == HT_OK ? call() : status;
}

/// Returns a status; if its message is about axes, adds that they are in the order of C.
int in_order_of_c(int status) {
  const std::string_view text = status == HT_OK ? "" : ht_message();
  const auto has = [&](const char* word) { return text.find(word) != std::string_view::npos; };
  if (has("shape") || has("axis") || has("axes") || has("cell"))
    add_to_message(" (shapes and axes are in C's order, and count from 0)");
  return status;
}

/// "y,x" of "x,y".
std::string reversed_names(const char* names) {
  std::istringstream parts(text(names));
  std::string all;
  for (std::string name; std::getline(parts, name, ',');) all = all.empty() ? name : formatted("{},{}", name, all);
  return all;
}

ht_saving with_names(ht_saving how, const std::string& names) {
  if (how.dimensions) how.dimensions = names.c_str();
  return how;
}

/// Makes another handle to the same object; none if there is none.
template <class Handle>
int another(const Handle* handle, Handle** same) {
  return status_of([&] { *same = handle ? new Handle(*handle) : nullptr; });
}

}  // namespace

extern "C" {

// For assignment.
int ht_fortran_same_comm(const ht_comm* comm, ht_comm** same) { return another(comm, same); }
int ht_fortran_same_array(const ht_array* x, ht_array** same) { return another(x, same); }
int ht_fortran_same_plan(const ht_plan* plan, ht_plan** same) { return another(plan, same); }
int ht_fortran_same_network(const ht_network* network, ht_network** same) { return another(network, same); }

/// The dimension is that along which the blocks of all ranks lie, from 1 on; 0: none.
int ht_fortran_adopt(const ht_comm* comm, const ht_fortran_memory* array, const ht_fortran_cut* cut, ht_array** x) {
  constexpr auto op = "ht_adopt";
  Described a{};
  const auto checks = [&] {
    const auto& ranks = given(op, "comm", comm).ranks;
    const std::vector<heatpp::detail::Setting> alike{
        {"an array of", type_text(*array)}, {"dim", std::to_string(cut->dim)}, {"grid", grid_text(*cut)}};
    heatpp::detail::check_agreed(op, ranks, alike, [&] {
      a = described(op, *array);
      check_cut(op, *cut, array->rank);
    });
  };
  const auto adopt = [&] {
    heatpp::LocalOptions options{.comm = comm->ranks};
    const bool grid = cut->axes != no_grid;
    set_cut(op, options, grid ? on_grid(cut->axes, ranks_along(*cut)) : CutNumbers{axis_of({cut->dim, array->rank})});
    *x = new ht_array{heatpp::from_local(a.memory, a.extents, a.strides, a.dtype, options)};
  };
  return after(checks, [&] { return in_order_of_c(status_of(adopt)); });
}

int ht_fortran_resplit(const ht_array* x, int dim, ht_array** y) {
  int split = 0;
  const auto checks = [&] { split = agreed_axis("ht_resplit", given("ht_resplit", "x", x).value, {.number = dim}); };
  return after(checks, [&] { return in_order_of_c(ht_resplit(x, split, y)); });
}

int ht_fortran_regrid(const ht_array* x, const ht_fortran_cut* cut, ht_array** y) {
  const auto checks = [&] {
    const auto& value = given("ht_regrid", "x", x).value;
    check_agreed_cut("ht_regrid", value.comm(), *cut, value.ndim());
  };
  return after(checks, [&] { return in_order_of_c(ht_regrid(x, ranks_along(*cut), y)); });
}

/// The dimension is 0 for an array that every rank has.
int ht_fortran_load(const ht_comm* comm, const char* path, const char* dataset, const ht_fortran_cut* cut,
                    ht_array** x) {
  const auto checks = [&] { check_agreed_cut("ht_load", given("ht_load", "comm", comm).ranks, *cut, unknown_rank); };
  return after(checks, [&] {
    return in_order_of_c(cut->axes == no_grid ? ht_load(comm, path, dataset, cut->dim == 0 ? HT_REPLICATED : 0, x)
                                              : ht_load_on_grid(comm, path, dataset, cut->axes, ranks_along(*cut), x));
  });
}

/// `dim` is HT_ALL_AXES if the host names none.
int ht_fortran_reduce(const ht_array* x, int reduction, int dim, ht_array** y) {
  int axis = 0;
  const auto checks = [&] {
    axis = agreed_axis("ht_reduce", given("ht_reduce", "x", x).value,
                       {.number = dim, .none = HT_ALL_AXES, .axis_of_none = HT_ALL_AXES});
  };
  return after(checks, [&] { return in_order_of_c(ht_reduce(x, reduction, axis, y)); });
}

/// Names of dimensions are in the order of Fortran.
int ht_fortran_save(const ht_array* x, const char* path, const char* dataset, const ht_saving* how) {
  const auto names = reversed_names(how->dimensions);
  const auto of_c = with_names(*how, names);
  return in_order_of_c(ht_save_as(x, path, dataset, &of_c));
}
int ht_fortran_append_rows(const ht_array* x, const char* path, const char* dataset, const ht_saving* how) {
  const auto names = reversed_names(how->dimensions);
  const auto of_c = with_names(*how, names);
  return in_order_of_c(ht_append_rows(x, path, dataset, &of_c));
}

int ht_fortran_train(ht_network* network, const ht_array* x, const ht_array* y, double* loss) {
  return in_order_of_c(ht_network_train(network, x, y, loss));
}

/// Numbers are in C's order, but the dimension of the cut is Fortran's.
int ht_fortran_plan(const ht_comm* comm, int dtype, int rank, const int64_t* shape, int bricks, const int64_t* first,
                    const int64_t* cells, const int64_t* before, const int64_t* behind, const ht_fortran_cut* cut,
                    ht_plan** plan) {
  const auto checks = [&] {
    check_agreed_cut("ht_plan_brick", given("ht_plan_brick", "comm", comm).ranks, *cut, rank);
  };
  return after(checks, [&] {
    return in_order_of_c(cut->axes == no_grid ? ht_plan_ghosted_bricks(comm, dtype, rank, shape, bricks, first, cells,
                                                                       before, behind, axis_of({cut->dim, rank}), plan)
                                              : ht_plan_on_grid(comm, dtype, rank, shape, bricks, first, cells, before,
                                                                behind, ranks_along(*cut), plan));
  });
}

int ht_fortran_read(const ht_array* x, const ht_fortran_memory* array) {
  constexpr auto op = "ht_read";
  return status_of([&] {
    const auto& value = given(op, "x", x).value;
    const auto a = described(op, *array);
    if (a.extents != value.lshape() || a.dtype != value.dtype())
      raise<heatpp::ValueError>(op, "got {} of extents {}, the last dimension first; expected {} of {}", name(a.dtype),
                                heatpp::to_string(a.extents), name(value.dtype()), heatpp::to_string(value.lshape()));
    if (heatpp::size_of(a.extents) > 0) tensor_of(a).copy_(value.larray());
  });
}

int ht_fortran_from_bricks(const ht_plan* plan, int count, const ht_fortran_memory* memory, ht_array** x) {
  constexpr auto op = "ht_from_brick";
  std::vector<at::Tensor> bricks;
  const auto checks = [&] {
    heatpp::all_or_none(given(op, "plan", plan).value.comm(), [&] { bricks = tensors_of(op, {memory, count}); });
  };
  const auto take = [&] { *x = new ht_array{plan->value.from_blocks(bricks)}; };
  return after(checks, [&] { return in_order_of_c(status_of(take)); });
}

int ht_fortran_adopt_brick(const ht_plan* plan, const ht_fortran_memory* memory, ht_array** x) {
  constexpr auto op = "ht_adopt_brick";
  std::vector<at::Tensor> brick;
  const auto checks = [&] {
    heatpp::all_or_none(given(op, "plan", plan).value.comm(), [&] { brick = tensors_of(op, {memory, 1}); });
  };
  const auto take = [&] { *x = new ht_array{heatpp::adopt_blocks(brick.front(), plan->value)}; };
  return after(checks, [&] { return in_order_of_c(status_of(take)); });
}

/// `periodic` has a number for each axis in C's order.
int ht_fortran_refresh_bricks(const ht_plan* plan, int axes, const int* periodic, int count,
                              const ht_fortran_memory* memory) {
  constexpr auto op = "ht_refresh_brick";
  std::vector<at::Tensor> bricks;
  const auto checks = [&] {
    heatpp::all_or_none(given(op, "plan", plan).value.comm(), [&] { bricks = tensors_of(op, {memory, count}); });
  };
  const auto refresh = [&] {
    heatpp::refresh_ghosts(bricks, plan->value, {.periodic = std::vector<bool>(periodic, periodic + axes)});
  };
  return after(checks, [&] { return in_order_of_c(status_of(refresh)); });
}

int ht_fortran_to_bricks(const ht_plan* plan, const ht_array* x, int count, const ht_fortran_memory* memory) {
  constexpr auto op = "ht_to_brick";
  std::vector<at::Tensor> bricks;
  const auto checks = [&] {
    heatpp::all_or_none(given(op, "plan", plan).value.comm(), [&] {
      check_given(op, "x", x);
      bricks = tensors_of(op, {memory, count});
    });
  };
  const auto give = [&] { plan->value.to_blocks(x->value, bricks); };
  return after(checks, [&] { return in_order_of_c(status_of(give)); });
}

}  // extern "C"
