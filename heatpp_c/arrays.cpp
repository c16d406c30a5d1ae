#include <mpi.h>

#include <ATen/ATen.h>

#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/alike.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/interop/mpi.hpp>
#include <heatpp_c/detail/handles.hpp>

#include <algorithm>
#include <cstring>

using namespace heatpp::c;  // NOLINT: what the functions below are made of
using heatpp::DNDarray;
using heatpp::ValueError;
using heatpp::detail::check_agreed;
using heatpp::detail::raise;

namespace {

int split_number(const heatpp::Layout& layout) {
  return layout.is_grid() ? HT_GRID : layout.split().value_or(HT_REPLICATED);
}

ht_description description_of(const DNDarray& x) {
  if (x.ndim() > HT_MOST_AXES)
    raise<ValueError>("ht_describe", "got {} axes; expected at most {}", x.ndim(), static_cast<int>(HT_MOST_AXES));
  ht_description found{static_cast<int>(x.dtype()), x.ndim(), split_number(x.layout()), {}, {}, {}};
  std::ranges::copy(x.grid(), found.grid);
  std::ranges::copy(x.shape(), found.shape);
  std::ranges::copy(x.lshape(), found.block);
  return found;
}

void read(const DNDarray& x, void* memory, int dtype, std::int64_t count) {
  if (dtype != static_cast<int>(x.dtype()) || count != heatpp::size_of(x.lshape()))
    raise<ValueError>("ht_read", "got memory for {} elements of dtype {}; expected {} of {}", count, dtype_text(dtype),
                      heatpp::size_of(x.lshape()), name(x.dtype()));
  if (count == 0) return;
  const auto block = x.larray().cpu().resolve_conj().resolve_neg().contiguous();
  std::memcpy(&given("ht_read", "memory", static_cast<char*>(memory)), block.const_data_ptr(),
              static_cast<std::size_t>(count * block.element_size()));
}

/// A block as C passes it.
struct Block {
  void* memory;
  int dtype;
  Numbers extents;
};

int adopt(const char* op, const ht_comm* comm, const Block& block, const CutNumbers& cut, ht_array** x) {
  return status_of([&] {
    const auto& ranks = given(op, "comm", comm).ranks;
    heatpp::Shape shape;
    heatpp::Dtype type{};
    heatpp::LocalOptions options{.comm = ranks};
    check_agreed(op, ranks, {{"dtype", dtype_text(block.dtype)}, setting_of(cut)}, [&] {
      check_given(op, "x", x);
      shape = shape_of(op, block.extents);
      type = dtype_of(op, block.dtype);
      set_cut(op, options, cut);
    });
    *x = new ht_array{heatpp::from_local(block.memory, shape, type, options)};
  });
}

}  // namespace

int ht_begin(int fortran_comm, ht_comm** comm) {
  return status_of([&] {
    heatpp::detail::expect_running("ht_begin");  // before MPI_Comm_f2c, which would end the program
    const auto ranks = heatpp::from_mpi(MPI_Comm_f2c(fortran_comm));
    heatpp::all_or_none(ranks, [&] { check_given("ht_begin", "comm", comm); });
    *comm = new ht_comm{ranks};
  });
}
void ht_end(ht_comm* comm) { delete comm; }

int ht_adopt(const ht_comm* comm, void* memory, int dtype, int ndim, const int64_t* block, int split, ht_array** x) {
  return adopt("ht_adopt", comm, {memory, dtype, {"block", block, ndim}}, {split}, x);
}
int ht_adopt_on_grid(const ht_comm* comm, void* memory, int dtype, int ndim, const int64_t* block, const int* grid,
                     ht_array** x) {
  return adopt("ht_adopt_on_grid", comm, {memory, dtype, {"block", block, ndim}}, on_grid(ndim, grid), x);
}
void ht_free(ht_array* x) { delete x; }

int ht_describe(const ht_array* x, ht_description* description) {
  return status_of(
      [&] { given("ht_describe", "description", description) = description_of(given("ht_describe", "x", x).value); });
}
int ht_read(const ht_array* x, void* memory, int dtype, int64_t count) {
  return status_of([&] { read(given("ht_read", "x", x).value, memory, dtype, count); });
}

int ht_resplit(const ht_array* x, int split, ht_array** result) {
  constexpr auto op = "ht_resplit";
  return status_of([&] {
    const auto& value = given(op, "x", x).value;
    check_agreed(op, value.comm(), {{"split", std::to_string(split)}}, [&] { check_given(op, "result", result); });
    *result = new ht_array{heatpp::resplit(value, split_of(op, split))};
  });
}
int ht_regrid(const ht_array* x, const int* grid, ht_array** result) {
  constexpr auto op = "ht_regrid";
  return status_of([&] {
    const auto& value = given(op, "x", x).value;
    const auto cut = on_grid(value.ndim(), grid);
    check_agreed(op, value.comm(), {setting_of(cut)}, [&] { check_given(op, "result", result); });
    *result = new ht_array{heatpp::regrid(value, grid_of(op, cut))};
  });
}
int ht_astype(const ht_array* x, int dtype, ht_array** result) {
  constexpr auto op = "ht_astype";
  return status_of([&] {
    const auto& value = given(op, "x", x).value;
    check_agreed(op, value.comm(), {{"dtype", dtype_text(dtype)}}, [&] { check_given(op, "result", result); });
    *result = new ht_array{value.astype(dtype_of(op, dtype))};
  });
}
