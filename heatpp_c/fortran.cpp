// What heatpp.f90 is made of: Fortran's arrays as their descriptors have them. Their axes are taken in reverse, so that
// the one that goes fastest is the last as in C, and nothing is copied.
#include <ISO_Fortran_binding.h>

#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/alike.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp_c/detail/handles.hpp>

#include <algorithm>

using namespace heatpp::c;  // NOLINT: what the functions below are made of
using heatpp::Dtype;
using heatpp::Shape;
using heatpp::detail::formatted;
using heatpp::detail::raise;

namespace {

constexpr CFI_type_t logical = CFI_type_Logical + (sizeof(bool) << CFI_type_kind_shift);  // C++ has no _Bool

/// What a type's code means, "logicals of kind 4".
std::string type_text(CFI_type_t type) {
  const int kind = type >> CFI_type_kind_shift;
  switch (type & CFI_type_mask) {
    case CFI_type_Integer: return formatted("integers of kind {}", kind);
    case CFI_type_Logical: return formatted("logicals of kind {}", kind);
    case CFI_type_Real: return formatted("reals of kind {}", kind);
    case CFI_type_Complex: return formatted("complex numbers of kind {}", kind);
    case CFI_type_Character: return "characters";
    case CFI_type_struct: return "a derived type";
    default: return "another type";
  }
}

Dtype dtype_of_kind(const char* op, CFI_type_t type) {
  switch (type) {
    case CFI_type_int8_t: return heatpp::int8;
    case CFI_type_int16_t: return heatpp::int16;
    case CFI_type_int32_t: return heatpp::int32;
    case CFI_type_int64_t: return heatpp::int64;
    case CFI_type_float: return heatpp::float32;
    case CFI_type_double: return heatpp::float64;
    case CFI_type_float_Complex: return heatpp::complex64;
    case CFI_type_double_Complex: return heatpp::complex128;
    case logical: return heatpp::bool_;
    default:
      raise<heatpp::TypeError>(op,
                               "got a Fortran array of {}; expected integers of kinds int8 to int64, reals "
                               "or complex numbers of kinds real32 and real64, or logicals of kind c_bool",
                               type_text(type));
  }
}

/// A Fortran array where it lies.
struct Described {
  void* memory;
  Dtype dtype;
  Shape extents, strides;  ///< the last one of Fortran's first; in elements
};

Described described(const char* op, const CFI_cdesc_t* array) {
  const auto& a = given(op, "array", array);
  Described found{a.base_addr, dtype_of_kind(op, a.type), {}, {}};
  const auto bytes = static_cast<CFI_index_t>(a.elem_len);
  for (int dim = a.rank - 1; dim >= 0; --dim) {
    if (a.dim[dim].extent < 0)
      raise<heatpp::ValueError>(op, "got an array without an extent along dimension {}; expected one of known shape",
                                dim + 1);
    if (a.dim[dim].sm % bytes != 0 || (a.dim[dim].sm < 0 && a.dim[dim].extent > 1))
      raise<heatpp::ValueError>(op, "got a stride of {} bytes along dimension {}; expected a multiple of {} above 0",
                                a.dim[dim].sm, dim + 1, bytes);
    found.extents.push_back(a.dim[dim].extent);
    found.strides.push_back(a.dim[dim].sm / bytes);
  }
  return found;
}

at::Tensor tensor_of(const Described& a) {
  return at::from_blob(a.memory, a.extents, a.strides, at::TensorOptions(heatpp::detail::to_torch(a.dtype)));
}

/// A dimension as the host names it, from 1 to `rank`, or none of them.
struct Dimension {
  int number = 0, rank = 0;
  int none = 0, axis_of_none = HT_REPLICATED;
};

void check_dim(const char* op, const Dimension& dim) {
  if (dim.number != dim.none && (dim.number < 1 || dim.number > dim.rank))
    raise<heatpp::IndexError>(op, "got dim {} for an array of rank {}; expected 1 to {}{}", dim.number, dim.rank,
                              dim.rank, dim.none == 0 ? ", or 0 for none" : "");
}

/// The axis of C that a dimension is.
int axis_of(const Dimension& dim) { return dim.number == dim.none ? dim.axis_of_none : dim.rank - dim.number; }

/// The same for one that all ranks have to pass alike. Collective.
int agreed_axis(const char* op, const heatpp::Communicator& comm, const Dimension& dim) {
  const auto text = dim.number == dim.none ? "none" : std::to_string(dim.number);
  heatpp::detail::check_agreed(op, comm, {{"dim", text}}, [&] { check_dim(op, dim); });
  return axis_of(dim);
}
int agreed_axis(const char* op, const heatpp::DNDarray& x, Dimension dim) {
  dim.rank = x.ndim();
  return agreed_axis(op, x.comm(), dim);
}

/// The status of `call`, which counts as C does, after that of `checks`, which counts as Fortran does.
int after(const std::function<void()>& checks, const std::function<int()>& call) {
  const int status = status_of(checks);
  return status == HT_OK ? call() : status;
}

/// The status of what knows no Fortran, and says so where its message is about axes.
int in_order_of_c(int status) {
  const std::string_view text = status == HT_OK ? "" : ht_message();
  const auto has = [&](const char* word) { return text.find(word) != std::string_view::npos; };
  if (has("shape") || has("axis") || has("axes") || has("cell"))
    add_to_message(" (shapes and axes are in C's order, and count from 0)");
  return status;
}

/// Another handle of the same, or none of none.
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

/// `dim`: the dimension along which the blocks of all ranks lie, from 1 on; 0: none.
int ht_fortran_adopt(const ht_comm* comm, const CFI_cdesc_t* array, int dim, ht_array** x) {
  constexpr auto op = "ht_adopt";
  Described a{};
  const auto checks = [&] {
    heatpp::all_or_none(given(op, "comm", comm).ranks, [&] {
      a = described(op, array);
      check_dim(op, {dim, array->rank});
    });
  };
  const auto adopt = [&] {
    const auto split = split_of(op, axis_of({dim, array->rank}));
    const heatpp::LocalOptions options{.split = split, .comm = comm->ranks};
    *x = new ht_array{heatpp::from_local(a.memory, a.extents, a.strides, a.dtype, options)};
  };
  return after(checks, [&] { return in_order_of_c(status_of(adopt)); });
}

int ht_fortran_resplit(const ht_array* x, int dim, ht_array** y) {
  int split = 0;
  const auto checks = [&] { split = agreed_axis("ht_resplit", given("ht_resplit", "x", x).value, {.number = dim}); };
  return after(checks, [&] { return in_order_of_c(ht_resplit(x, split, y)); });
}

/// `dim`: HT_ALL_AXES where the host names none.
int ht_fortran_reduce(const ht_array* x, int reduction, int dim, ht_array** y) {
  int axis = 0;
  const auto checks = [&] {
    axis = agreed_axis("ht_reduce", given("ht_reduce", "x", x).value,
                       {.number = dim, .none = HT_ALL_AXES, .axis_of_none = HT_ALL_AXES});
  };
  return after(checks, [&] { return in_order_of_c(ht_reduce(x, reduction, axis, y)); });
}

int ht_fortran_save(const ht_array* x, const char* path, const char* dataset) {
  return in_order_of_c(ht_save(x, path, dataset));
}

int ht_fortran_train(ht_network* network, const ht_array* x, const ht_array* y, double* loss) {
  return in_order_of_c(ht_network_train(network, x, y, loss));
}

/// For one brick of each rank. Numbers are in C's order, but `dim` is Fortran's.
int ht_fortran_plan(const ht_comm* comm, int dtype, int rank, const int64_t* shape, const int64_t* first,
                    const int64_t* cells, const int64_t* ghosts, int dim, ht_plan** plan) {
  int split = 0;
  const auto checks = [&] {
    split = agreed_axis("ht_plan_brick", given("ht_plan_brick", "comm", comm).ranks, {dim, rank});
  };
  return after(checks, [&] {
    return in_order_of_c(ht_plan_bricks(comm, dtype, rank, shape, 1, first, cells, ghosts, split, plan));
  });
}

int ht_fortran_read(const ht_array* x, const CFI_cdesc_t* array) {
  constexpr auto op = "ht_read";
  return status_of([&] {
    const auto& value = given(op, "x", x).value;
    const auto a = described(op, array);
    if (a.extents != value.lshape() || a.dtype != value.dtype())
      raise<heatpp::ValueError>(op, "got {} of extents {}, the last dimension first; expected {} of {}", name(a.dtype),
                                heatpp::to_string(a.extents), name(value.dtype()), heatpp::to_string(value.lshape()));
    if (heatpp::size_of(a.extents) > 0) tensor_of(a).copy_(value.larray());
  });
}

int ht_fortran_from_brick(const ht_plan* plan, const CFI_cdesc_t* array, ht_array** x) {
  constexpr auto op = "ht_from_brick";
  at::Tensor brick;
  const auto checks = [&] {
    heatpp::all_or_none(given(op, "plan", plan).value.comm(), [&] { brick = tensor_of(described(op, array)); });
  };
  const auto take = [&] { *x = new ht_array{plan->value.from_blocks(std::span(&brick, 1))}; };
  return after(checks, [&] { return in_order_of_c(status_of(take)); });
}

int ht_fortran_to_brick(const ht_plan* plan, const ht_array* x, const CFI_cdesc_t* array) {
  constexpr auto op = "ht_to_brick";
  at::Tensor brick;
  const auto checks = [&] {
    heatpp::all_or_none(given(op, "plan", plan).value.comm(), [&] {
      check_given(op, "x", x);
      brick = tensor_of(described(op, array));
    });
  };
  const auto give = [&] { plan->value.to_blocks(x->value, std::span(&brick, 1)); };
  return after(checks, [&] { return in_order_of_c(status_of(give)); });
}

}  // extern "C"
