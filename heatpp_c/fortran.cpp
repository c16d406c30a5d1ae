// What heatpp.f90 is made of: Fortran's arrays as their descriptors have them. Their axes are taken in reverse, so that
// the one that goes fastest is the last as in C, and nothing is copied.
#include <ISO_Fortran_binding.h>

#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp_c/detail/handles.hpp>

#include <algorithm>

using namespace heatpp::c;  // NOLINT: what the functions below are made of
using heatpp::Dtype;
using heatpp::Shape;
using heatpp::detail::raise;

namespace {

constexpr CFI_type_t logical = CFI_type_Logical + (sizeof(bool) << CFI_type_kind_shift);  // C++ has no _Bool

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
                               "got a Fortran array of type number {}; expected integers of kinds int8 to int64, reals "
                               "or complex numbers of kinds real32 and real64, or logicals of kind c_bool",
                               static_cast<int>(type));
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

/// Dimensions count from 1 on; where `least` is 0, that stands for none.
void check_dim(const char* op, int dim, int least, int rank) {
  if (dim < least || dim > rank)
    raise<heatpp::IndexError>(op, "got dim {} for an array of rank {}; expected 1 to {}{}", dim, rank, rank,
                              least == 0 ? ", or 0 for none" : "");
}

}  // namespace

extern "C" {

/// The axis of C that a dimension of an array of `rank` dimensions is; HT_REPLICATED for none.
int ht_fortran_axis(const char* op, int rank, int dim, int least, int* axis) {
  return status_of([&] {
    check_dim(op, dim, least, rank);
    *axis = dim == 0 ? static_cast<int>(HT_REPLICATED) : rank - dim;
  });
}

/// `dim`: the dimension along which the blocks of all ranks lie, from 1 on; 0: none.
int ht_fortran_adopt(const ht_comm* comm, const CFI_cdesc_t* array, int dim, ht_array** x) {
  constexpr auto op = "ht_adopt";
  return made(op, x, [&] {
    const auto& ranks = given(op, "comm", comm).ranks;
    Described a{};
    heatpp::all_or_none(ranks, [&] {
      a = described(op, array);
      check_dim(op, dim, 0, array->rank);
    });
    const auto split = dim == 0 ? std::nullopt : std::optional(static_cast<int>(a.extents.size()) - dim);
    return heatpp::from_local(a.memory, a.extents, a.strides, a.dtype, {.split = split, .comm = ranks});
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
  return made(op, x, [&] {
    const auto& ways = given(op, "plan", plan).value;
    at::Tensor brick;
    heatpp::all_or_none(ways.comm(), [&] { brick = tensor_of(described(op, array)); });
    return ways.from_blocks(std::span(&brick, 1));
  });
}

int ht_fortran_to_brick(const ht_plan* plan, const ht_array* x, const CFI_cdesc_t* array) {
  constexpr auto op = "ht_to_brick";
  return status_of([&] {
    const auto& ways = given(op, "plan", plan).value;
    at::Tensor brick;
    heatpp::all_or_none(ways.comm(), [&] { brick = tensor_of(described(op, array)); });
    ways.to_blocks(given(op, "x", x).value, std::span(&brick, 1));
  });
}

}  // extern "C"
