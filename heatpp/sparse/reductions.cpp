#include <heatpp/sparse/reductions.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/linalg/matrices/norm.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/reductions/arg.hpp>
#include <heatpp/ops/reductions/nan.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/sparse/detail/extremum_places.hpp>
#include <heatpp/sparse/detail/structure.hpp>
#include <heatpp/sparse/elementwise.hpp>
#include <heatpp/sparse/product.hpp>

namespace heatpp::sparse {

using namespace detail;

namespace {

std::optional<int> checked(const char* op, std::optional<int> axis) {
  return axis ? std::optional(sanitize_axis(*axis, 2, op)) : std::nullopt;
}

/// Returns this rank's row numbers of its entries.
at::Tensor row_of_entries(const DCSRMatrix& a) { return triples_of(block_of(a), 0).rows; }

/// Makes an array of a number for each of this rank's rows.
DNDarray of_rows(const DCSRMatrix& a, const at::Tensor& numbers) {
  return heatpp::detail::wrap(numbers, a.layout().with({a.rows()}, a.split()), a.comm());
}

DCSRMatrix summable(const DCSRMatrix& a) { return heatpp::is_whole(a.dtype()) ? astype(a, Dtype::int64) : a; }

/// Returns the extremum of each row, among its entries and 0 if some elements have none.
DNDarray extrema_of_rows(const DCSRMatrix& a, bool largest) {
  const auto& block = block_of(a);
  const auto values = block.values.scalar_type() == at::kBool ? block.values.to(at::kByte) : block.values;
  const auto full = block.row_ptr.diff().eq(a.columns());
  auto result = at::zeros({block.rows()}, values.options());
  result.scatter_reduce_(0, row_of_entries(a), values, largest ? "amax" : "amin", false);
  const auto with_zero = largest ? result.clamp_min(0) : result.clamp_max(0);
  return of_rows(a, at::where(full, result, with_zero).to(block.values.scalar_type()));
}

void check_has_extrema(const char* op, const DCSRMatrix& a, std::optional<int> axis) {
  if (is_complex(a.dtype())) raise<TypeError>(op, "got complex numbers; expected real ones");
  if ((axis != 1 && a.rows() == 0) || (axis != 0 && a.columns() == 0))
    raise<ValueError>(op, "got a matrix of shape {} with nothing to reduce; expected at least one element",
                      to_string(a.shape()));
}

DNDarray extrema(const char* op, const DCSRMatrix& a, std::optional<int> given, bool largest) {
  const auto axis = checked(op, given);
  check_has_extrema(op, a, axis);
  const auto of_each = extrema_of_rows(axis == 0 ? transpose(a) : a, largest);
  if (axis) return of_each;
  return largest ? heatpp::max(of_each) : heatpp::min(of_each);
}

/// Throws ValueError if 63 bits do not number all elements.
void check_numbered(const char* op, const DCSRMatrix& a) {
  std::int64_t elements = 0;
  if (__builtin_mul_overflow(a.rows(), a.columns(), &elements))
    raise<ValueError>(op, "got shape {}, which has more elements than 63 bits count; expected an axis",
                      heatpp::to_string(a.shape()));
}

DNDarray places_of_extrema(const char* op, const DCSRMatrix& a, std::optional<int> given, bool largest) {
  const auto axis = checked(op, given);
  check_has_extrema(op, a, axis);
  if (!axis) check_numbered(op, a);
  const auto by_rows = axis == 0 ? transpose(a) : a;
  const auto places = of_rows(by_rows, extremum_places(block_of(by_rows), by_rows.columns(), largest));
  if (axis) return places;
  const auto of_each = extrema_of_rows(a, largest);
  const auto row = (largest ? heatpp::argmax(of_each) : heatpp::argmin(of_each)).item<std::int64_t>();
  return places(row) + row * a.columns();
}

/// Sums at least in float32, and float32 in float64, because a row's entries are added one after another.
at::Tensor sums_of_rows(const DCSRMatrix& a) {
  const auto& block = block_of(a);
  const auto type = block.values.scalar_type();
  const auto wide = at::isComplexType(type) ? at::kComplexDouble : at::isFloatingType(type) ? at::kDouble : type;
  return at::zeros({block.rows()}, at::TensorOptions(wide))
      .index_add_(0, row_of_entries(a), block.values.to(wide))
      .to(type);
}

}  // namespace

DNDarray sum(const DCSRMatrix& a, std::optional<int> given) {
  const auto axis = checked("sum", given);
  const auto numbers = summable(a);
  if (!axis) return heatpp::sum(numbers.values());
  if (*axis == 0)
    return rmatmul(conj(numbers), ones({a.rows()}, {.dtype = numbers.dtype(), .split = a.split(), .comm = a.comm()}));
  return of_rows(a, sums_of_rows(numbers));
}

DNDarray mean(const DCSRMatrix& a, std::optional<int> given) {
  const auto axis = checked("mean", given);
  const auto rows = static_cast<double>(a.rows()), columns = static_cast<double>(a.columns());
  return sum(a, axis) / (axis ? *axis == 0 ? rows : columns : rows * columns);
}

DNDarray max(const DCSRMatrix& a, std::optional<int> axis) { return extrema("max", a, axis, true); }
DNDarray min(const DCSRMatrix& a, std::optional<int> axis) { return extrema("min", a, axis, false); }

DNDarray argmax(const DCSRMatrix& a, std::optional<int> axis) { return places_of_extrema("argmax", a, axis, true); }
DNDarray argmin(const DCSRMatrix& a, std::optional<int> axis) { return places_of_extrema("argmin", a, axis, false); }

std::int64_t count_nonzero(const DCSRMatrix& a) {
  return a.nnz() == 0 ? 0 : heatpp::sum(a.values() != 0).item<std::int64_t>();
}

double norm(const DCSRMatrix& a) { return linalg::norm(a.values()).item<double>(); }

}  // namespace heatpp::sparse
