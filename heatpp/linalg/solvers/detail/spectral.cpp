#include <heatpp/linalg/solvers/detail/spectral.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/log.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/linalg/decompositions/detail/columns.hpp>

namespace heatpp::detail {
namespace {

Layout layout_for(const char* op, const linalg::LinearOperator& a, const std::optional<DNDarray>& like) {
  const Shape expected{a.shape[0]};
  if (!like) return a.cut ? a.cut->layout : Layout(expected, 0, default_comm().size());
  if (like->ndim() < 1 || like->shape()[0] != expected[0])
    raise<ValueError>(op, "got an operator and a start of shapes {} and {}; expected as many rows", to_string(a.shape),
                      to_string(like->shape()));
  return like->layout().with(expected, like->split() == 0 ? like->split() : std::nullopt);
}

}  // namespace

WideVectors::WideVectors(const char* op, const linalg::LinearOperator& a, const std::optional<DNDarray>& like)
    : layout_(layout_for(op, a, like)),
      comm_(like    ? like->comm()
            : a.cut ? a.cut->comm
                    : default_comm()),
      device_(like    ? like->larray().device()
              : a.cut ? to_torch(a.cut->device)
                      : at::kCPU),
      dtype_(decomposition_type(!like     ? a.dtype.value_or(float64)
                                : a.dtype ? promote_types(*a.dtype, like->dtype())
                                          : like->dtype())) {}

WideVectors::WideVectors(Layout layout, const WideVectors& other)
    : layout_(std::move(layout)), comm_(other.comm_), device_(other.device_), dtype_(other.dtype_) {}

at::TensorOptions WideVectors::type() const { return is_complex(dtype_) ? at::kComplexDouble : at::kDouble; }

at::Tensor WideVectors::local(const DNDarray& x) const {
  const auto layout = x.ndim() == 1 ? layout_ : columns(x.shape()[1]);
  return relayout(x, layout).to(type().device(at::kCPU), false, true).contiguous();
}

DNDarray WideVectors::array(const at::Tensor& x) const {
  return wrap(x.to(device_, to_torch(dtype_)).contiguous(), x.dim() == 1 ? layout_ : columns(x.size(1)), comm_);
}

DNDarray WideVectors::array_of_rows(const at::Tensor& x) const {
  const auto layout = layout_.with({x.size(0), layout_.shape()[0]}, layout_.split() ? std::optional(1) : std::nullopt);
  return wrap(x.to(device_, to_torch(dtype_)).resolve_conj().contiguous(), layout, comm_);
}

at::Tensor WideVectors::product(const linalg::LinearOperator::Apply& apply, const WideVectors& from,
                                const at::Tensor& x) const {
  const auto y = apply(from.array(x));
  const auto rows = layout_.shape()[0];
  if (y.ndim() != static_cast<int>(x.dim()) || y.shape()[0] != rows || (x.dim() == 2 && y.shape()[1] != x.size(1)))
    raise<ValueError>("LinearOperator", "got a product of shape {}; expected {} rows", to_string(y.shape()), rows);
  return local(y);
}

at::Tensor WideVectors::products(const linalg::LinearOperator& a, const WideVectors& from, const at::Tensor& x) const {
  if (a.of_matrices) return product(a.apply, from, x);
  std::vector<at::Tensor> columns;
  for (std::int64_t i = 0; i < x.size(1); ++i) columns.push_back(product(a.apply, from, x.select(1, i).contiguous()));
  return at::stack(columns, 1);
}

at::Tensor WideVectors::lengths(const char* op, const at::Tensor& columns) const {
  const auto squares = at::real((columns * columns.conj()).sum(0)).contiguous();
  sum_over(op, squares, layout_, comm_);
  return squares.sqrt();
}

DNDarray WideVectors::everywhere(const at::Tensor& numbers) const {
  return replicated(numbers.to(device_, c10::toRealValueType(to_torch(dtype_))), comm_);
}

void check_eigenproblem(const char* op, const linalg::LinearOperator& a, std::int64_t k) {
  if (a.shape.size() != 2 || a.shape[0] != a.shape[1])
    raise<ValueError>(op, "got an operator of shape {}; expected a square one", to_string(a.shape));
  if (k < 1 || k > a.shape[0]) raise<ValueError>(op, "got k {}; expected 1 to {}", k, a.shape[0]);
}

linalg::Eigenpairs eigenpairs(const char* op, const linalg::LinearOperator& a, const WideVectors& vectors,
                              const at::Tensor& values, const at::Tensor& columns) {
  const auto residuals = vectors.products(a, columns) - columns * values;
  return {vectors.everywhere(values), vectors.array(columns), vectors.everywhere(vectors.lengths(op, residuals))};
}

void warn_unless_converged(const char* op, const linalg::Eigenpairs& found) {
  if (found.converged) return;
  log(LogLevel::warning, formatted("[{}] ended after {} iterations before all values converged; expected more "
                                   "iterations, a larger tol or basis, or fewer values",
                                   op, found.iterations));
}

}  // namespace heatpp::detail
