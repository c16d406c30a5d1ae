#include <heatpp/linalg/matrices/norm.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/linalg/decompositions/detail/named.hpp>
#include <heatpp/linalg/matrices/detail/named.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/detail/checked_axes.hpp>
#include <heatpp/ops/reductions/detail/reduced.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>

#include <cmath>

namespace heatpp::linalg {
namespace {

using detail::raise;
using Kind = NormOrder::Kind;

/// Combines the norms of all ranks' blocks.
void combine(const at::Tensor& norms, double ord, const Communicator& comm) {
  const auto buffer = detail::buffer_of(norms);
  if (std::isinf(ord)) return comm.allreduce(buffer, ord > 0 ? ReduceOp::max : ReduceOp::min);
  if (ord == 0) return comm.allreduce(buffer);
  norms.pow_(ord);
  comm.allreduce(buffer);
  norms.pow_(1 / ord);
}

/// Returns the norm; for 16-bit floats in float32, in which powers of norms do not overflow.
at::Tensor local_norm(const at::Tensor& block, double ord, const detail::ReducedAxes& reduced, const Shape& shape) {
  if (ord == 0 && block.is_complex()) return local_norm(block.abs(), ord, reduced, shape);  // LibTorch would warn
  if (ord == 2 && block.is_complex() && block.numel() > 0 &&
      !reduced.axes.empty()) {  // without a root for each element
    auto parts = reduced;
    parts.axes.push_back(block.dim());
    const auto norms = local_norm(at::view_as_real(block.resolve_conj().resolve_neg()), ord, parts, shape);
    return reduced.keepdims ? norms.squeeze(-1) : norms;
  }
  const bool narrow = block.element_size() < 4;
  const auto type = narrow ? std::optional(at::kFloat) : std::nullopt;
  if (reduced.axes.empty())
    return at::linalg_vector_norm(block.abs().unsqueeze(0), ord, at::IntArrayRef{0}, false, type);
  if (block.numel() > 0) return at::linalg_vector_norm(block, ord, reduced.axes, reduced.keepdims, type).contiguous();
  return at::full(shape, ord < 0 ? INFINITY : 0.0,
                  block.options().dtype(type.value_or(at::toRealValueType(block.scalar_type()))));
}

/// The largest of no elements is 0.
DNDarray extremum(const char* op, const DNDarray& x, bool largest, ReduceOptions options) {
  if (!largest) return detail::named::min(op, x, options);
  options.initial = 0;
  return detail::named::max(op, x, options);
}

/// Returns the extremum along one axis of the sums of absolute values along another.
DNDarray of_sums(const char* op, const DNDarray& x, int summed, int compared, const MatrixNormOptions& options) {
  const auto sums = sum(abs(x), {.axis = summed, .keepdims = true});
  const auto result = extremum(op, sums, options.ord.number() > 0, {.axis = compared, .keepdims = true});
  return options.keepdims ? result : squeeze(result, {summed, compared});
}

DNDarray of_singular_values(const char* op, const DNDarray& x, int rows, int columns,
                            const MatrixNormOptions& options) {
  const auto last = x.ndim() - 1;
  const auto stacked = moveaxis(moveaxis(x, rows, last), columns - (columns > rows), last);
  const auto values = detail::named::svdvals(op, stacked);
  const auto axis = values.ndim() - 1;
  auto result = options.ord.kind() == Kind::nuclear ? sum(values, axis)
                                                    : extremum(op, values, options.ord.number() > 0, {.axis = axis});
  if (!options.keepdims) return result;
  auto shape = x.shape();
  shape[static_cast<std::size_t>(rows)] = shape[static_cast<std::size_t>(columns)] = 1;
  auto split = result.split();
  if (split) split = *split + (*split >= std::min(rows, columns)) + (*split + 1 >= std::max(rows, columns));
  auto layout = result.layout().with(std::move(shape), split);
  auto block = result.larray().reshape(layout.local_shape(x.comm().rank()));
  return detail::wrap(std::move(block), std::move(layout), x.comm());
}

DNDarray of_vectors(const char* op, const DNDarray& array, const VectorNormOptions& options) {
  const auto x = detail::one_cut(op, array);
  detail::check_axes(op, x, options.axis);
  const auto reduced = detail::reduced_axes(op, x, {.axis = options.axis, .keepdims = options.keepdims});
  auto layout = reduced.result_layout(x.layout());
  if (std::isinf(options.ord) && options.ord < 0 && reduced.count == 0)
    raise<ValueError>(op, "got an array of shape {} with nothing to reduce; expected at least one element",
                      to_string(x.shape()));
  // Whole numbers become float64, in which their powers are finite.
  const auto block = reduced.counted(x.larray()).to(detail::to_torch(is_whole(x.dtype()) ? float64 : x.dtype()));
  auto norms = local_norm(block, options.ord, reduced, layout.local_shape(x.comm().rank()));
  if (reduced.across && reduced.across->size() > 1) {
    const auto host = norms.cpu();
    combine(host, options.ord, *reduced.across);
    norms = host.to(norms.device());
  }
  const auto dtype = detail::to_torch(real_type(inexact_type(x.dtype())));
  return detail::wrap(norms.to(dtype), std::move(layout), x.comm());
}

DNDarray of_matrices(const char* op, const DNDarray& array, const MatrixNormOptions& options) {
  const auto x = detail::one_cut(op, array);
  const auto rows = sanitize_axis(options.axis.first, x.ndim(), op);
  const auto columns = sanitize_axis(options.axis.second, x.ndim(), op);
  if (rows == columns)
    raise<ValueError>(op, "got axes {} and {}; expected different ones", options.axis.first, options.axis.second);
  if (options.ord.kind() == Kind::frobenius)
    return of_vectors(op, x, {.axis = {rows, columns}, .keepdims = options.keepdims});
  const auto size = std::abs(options.ord.number());
  if (options.ord.kind() == Kind::nuclear || size == 2) return of_singular_values(op, x, rows, columns, options);
  const auto values = x.astype(inexact_type(x.dtype()));
  if (size == 1) return of_sums(op, values, rows, columns, options);
  if (std::isinf(size)) return of_sums(op, values, columns, rows, options);
  raise<ValueError>(op, "got order {}; expected \"fro\", \"nuc\", 1, -1, 2, -2, inf or -inf", options.ord.number());
}

}  // namespace

NormOrder::NormOrder(const char* name) {
  const std::string_view wanted = name;
  if (wanted != "fro" && wanted != "nuc")
    raise<ValueError>("norm", "got order \"{}\"; expected \"fro\" or \"nuc\"", name);
  kind_ = wanted == "fro" ? Kind::frobenius : Kind::nuclear;
}

DNDarray vector_norm(const DNDarray& x, const VectorNormOptions& options) {
  return of_vectors("vector_norm", x, options);
}
DNDarray matrix_norm(const DNDarray& x, const MatrixNormOptions& options) {
  return of_matrices("matrix_norm", x, options);
}

DNDarray norm(const DNDarray& x, const NormOptions& options) {
  const auto& [ord, axis, keepdims] = options;
  if (axis.all() && !ord) return of_vectors("norm", x, {.keepdims = keepdims});
  const auto count = axis.all() ? static_cast<std::size_t>(x.ndim()) : axis.values().size();
  if (count != 1 && count != 2)
    raise<ValueError>("norm", "got {} axes of an array of shape {}; expected one or two", count, to_string(x.shape()));
  if (count == 2) {
    const auto axes = axis.all() ? std::pair(0, 1) : std::pair(axis.values()[0], axis.values()[1]);
    return of_matrices("norm", x, {.ord = ord.value_or("fro"), .axis = axes, .keepdims = keepdims});
  }
  if (ord && ord->kind() != Kind::number)
    raise<ValueError>("norm", "got a norm of matrices for vectors along one axis; expected a number");
  return of_vectors("norm", x, {.ord = ord ? ord->number() : 2, .axis = axis, .keepdims = keepdims});
}

}  // namespace heatpp::linalg

namespace heatpp::detail {

DNDarray named::matrix_norm(const char* op, const DNDarray& x, const linalg::MatrixNormOptions& options) {
  return linalg::of_matrices(op, x, options);
}

}  // namespace heatpp::detail
