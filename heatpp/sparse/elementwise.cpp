#include <heatpp/sparse/elementwise.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/bounds.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/sparse/detail/placed.hpp>

namespace heatpp::sparse {

using namespace detail;

namespace {

/// Cuts `b` as `a`.
DCSRMatrix beside(const char* op, const DCSRMatrix& a, const DCSRMatrix& b) {
  if (a.shape() != b.shape())
    raise<ValueError>(op, "got shapes {} and {}; expected the same", to_string(a.shape()), to_string(b.shape()));
  heatpp::detail::check_same_comm(op, a.comm(), b.comm());
  return relayout(op, b, a.layout());
}

/// Returns a dtype in which numbers are added; bool has none.
at::ScalarType sum_type(const DCSRMatrix& a, const DCSRMatrix& b) {
  return heatpp::detail::to_torch(promote_types(a.dtype(), b.dtype()));
}

DCSRMatrix sum(const char* op, const DCSRMatrix& a, const DCSRMatrix& given, bool minus) {
  const auto b = beside(op, a, given);
  const auto type = sum_type(a, b);
  if (type == at::kBool && minus) raise<TypeError>(op, "got matrices of bool; expected numbers");
  const auto places = merged(block_of(a), block_of(b), true);
  const auto as_sum = type == at::kBool ? at::kInt : type;
  const auto of = [&](const DCSRMatrix& x, const at::Tensor& from) {
    return block_of(x).values.index_select(0, from).to(as_sum);
  };
  auto values = at::zeros({places.columns.numel()}, as_sum);
  values.index_copy_(0, places.to_a, of(a, places.from_a));
  const auto others = of(b, places.from_b);
  values.index_add_(0, places.to_b, minus ? others.neg() : others);
  return wrap({places.row_ptr, places.columns, type == at::kBool ? values.ne(0) : values}, a.layout(), a.comm());
}

DCSRMatrix filtered_by(const DCSRMatrix& a, const std::function<bool(std::int64_t row, std::int64_t column)>& keep) {
  const auto first = first_row(a);
  auto block = filtered(block_of(a),
                        [&](std::int64_t row, std::int64_t column, std::int64_t) { return keep(first + row, column); });
  return wrap(std::move(block), a.layout(), a.comm());
}

DCSRMatrix scaled(const DCSRMatrix& a, const at::Tensor& factors) {
  const auto type =
      heatpp::detail::to_torch(promote_types(a.dtype(), heatpp::detail::from_torch(factors.scalar_type())));
  return with_values(a, block_of(a).values.to(type) * factors.to(type));
}

/// Returns both values for every place where one of the two has an entry, cut alike.
std::pair<DNDarray, DNDarray> paired(const char* op, const DCSRMatrix& a, const DCSRMatrix& given) {
  const auto b = beside(op, a, given);
  const auto places = merged(block_of(a), block_of(b), true);
  const auto of = [&](const DCSRMatrix& x, const at::Tensor& from, const at::Tensor& to) {
    const auto& values = block_of(x).values;
    return at::zeros({places.columns.numel()}, values.options()).index_copy(0, to, values.index_select(0, from));
  };
  const auto of_a = wrap({places.row_ptr, places.columns, of(a, places.from_a, places.to_a)}, a.layout(), a.comm());
  return {of_a.values(), with_values(of_a, of(b, places.from_b, places.to_b)).values()};
}

void check_factors(const char* op, const DCSRMatrix& a, const DNDarray& factors, std::int64_t count) {
  if (factors.shape() != Shape{count})
    raise<ValueError>(op, "got factors of shape {} for a matrix of shape {}; expected ({},)",
                      to_string(factors.shape()), to_string(a.shape()), count);
  heatpp::detail::check_same_comm(op, a.comm(), factors.comm());
}

}  // namespace

DCSRMatrix add(const DCSRMatrix& a, const DCSRMatrix& b) { return sum("add", a, b, false); }
DCSRMatrix subtract(const DCSRMatrix& a, const DCSRMatrix& b) { return sum("subtract", a, b, true); }

DCSRMatrix multiply(const DCSRMatrix& a, const DCSRMatrix& given) {
  const auto b = beside("multiply", a, given);
  const auto type = sum_type(a, b);
  const auto places = merged(block_of(a), block_of(b), false);
  const auto of = [&](const DCSRMatrix& x, const at::Tensor& from) {
    return block_of(x).values.index_select(0, from).to(type);
  };
  const auto left = of(a, places.from_a), right = of(b, places.from_b);
  return wrap({places.row_ptr, places.columns, left * right}, a.layout(), a.comm());
}

DCSRMatrix multiply(const DCSRMatrix& a, const Scalar& factor) {
  return with_values(a, (a.values() * factor).larray().contiguous());
}

DCSRMatrix operator-(const DCSRMatrix& a) { return with_values(a, (-a.values()).larray()); }

DCSRMatrix map_values(const DCSRMatrix& a, const std::function<DNDarray(const DNDarray&)>& f) {
  at::Tensor values;
  const auto types = heatpp::detail::bounds_or_error(a.comm(), 1, [&] {
    const auto made = f(a.values());
    if (!(made.layout() == Access::impl(a).entries))
      raise<ValueError>("map_values", "got values of shape {} with another layout; expected ({},), cut as the entries",
                        to_string(made.shape()), a.nnz());
    values = made.larray().cpu();
    return std::vector{static_cast<std::int64_t>(made.dtype())};
  });
  if (!types.equal(0))
    raise<ValueError>("map_values", "got values of {} and {} on the ranks; expected one dtype",
                      name(static_cast<Dtype>(types.least[0])), name(static_cast<Dtype>(types.most[0])));
  return with_values(a, values);
}

DCSRMatrix astype(const DCSRMatrix& a, Dtype dtype) {
  return with_values(a, block_of(a).values.to(heatpp::detail::to_torch(dtype)));
}
DCSRMatrix abs(const DCSRMatrix& a) { return with_values(a, block_of(a).values.abs()); }
DCSRMatrix conj(const DCSRMatrix& a) { return with_values(a, block_of(a).values.conj().resolve_conj()); }
DCSRMatrix power(const DCSRMatrix& a, const Scalar& exponent) {
  if (exponent.is_complex() || !(exponent.to<double>() > 0))
    raise<ValueError>("power", "got the exponent {}; expected a real one above 0, which leaves what has no entry 0",
                      exponent.to<double>());
  return with_values(a, heatpp::pow(a.values(), exponent).larray());
}

DCSRMatrix scale_rows(const DCSRMatrix& a, const DNDarray& factors) {
  check_factors("scale_rows", a, factors, a.rows());
  const auto mine = heatpp::detail::relayout(factors, a.layout().with({a.rows()}, a.split())).cpu();
  return scaled(a, mine.repeat_interleave(block_of(a).row_ptr.diff()));
}

DCSRMatrix scale_columns(const DCSRMatrix& a, const DNDarray& factors) {
  check_factors("scale_columns", a, factors, a.columns());
  const auto all = resplit(factors, std::nullopt).larray().cpu();
  return scaled(a, all.index_select(0, block_of(a).columns.to(at::kLong)));
}

DCSRMatrix eliminate_zeros(const DCSRMatrix& a) {
  const auto& block = block_of(a);
  const auto kept = block.values.ne(0).contiguous();
  const auto* const keep = kept.const_data_ptr<bool>();
  return wrap(filtered(block, [=](auto, auto, std::int64_t i) { return keep[i]; }), a.layout(), a.comm());
}

DCSRMatrix tril(const DCSRMatrix& a, std::int64_t k) {
  return filtered_by(a, [k](auto row, auto column) { return column <= row + k; });
}
DCSRMatrix triu(const DCSRMatrix& a, std::int64_t k) {
  return filtered_by(a, [k](auto row, auto column) { return column >= row + k; });
}

DNDarray diagonal(const DCSRMatrix& a) {
  const auto& block = block_of(a);
  const auto first = first_row(a);
  const auto on_diagonal = filtered(block, [=](auto row, auto column, auto) { return column == first + row; });
  const auto has = on_diagonal.row_ptr.diff().to(at::kBool);
  auto elements = at::zeros({block.rows()}, block.values.options()).masked_scatter_(has, on_diagonal.values);
  const auto length = std::min(a.rows(), a.columns());
  elements = elements.narrow(0, 0, std::clamp<std::int64_t>(length - first, 0, block.rows()));
  const auto layout =
      a.split() ? Layout::from_counts({0}, 0, a.comm().allgather(elements.size(0))) : a.layout().replicated({length});
  return heatpp::detail::wrap(elements, layout, a.comm());
}

bool array_equal(const DCSRMatrix& a, const DCSRMatrix& b) {
  if (a.shape() != b.shape()) return false;
  const auto [x, y] = paired("array_equal", a, b);
  return heatpp::array_equal(x, y);
}

bool allclose(const DCSRMatrix& a, const DCSRMatrix& b, double rtol, double atol) {
  if (a.shape() != b.shape()) return false;
  const auto [x, y] = paired("allclose", a, b);
  return heatpp::allclose(x, y, {.rtol = rtol, .atol = atol});
}

}  // namespace heatpp::sparse
