#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/detail/central_sums.hpp>
#include <heatpp/ops/detail/reduced.hpp>
#include <heatpp/ops/elementwise.hpp>
#include <heatpp/ops/moments.hpp>
#include <heatpp/ops/reduce.hpp>
#include <heatpp/ops/reshape.hpp>

namespace heatpp {
namespace {

using detail::CentralSums;

/// The block as a C-ordered (outer, n, inner) array in which n runs over the reduced axes. Copied only where the
/// reduced axes are not neighbours, the block is not contiguous, or the dtype is neither float32 nor float64.
struct View {
  at::Tensor data;
  std::int64_t outer = 1, n = 1, inner = 1;
};

View view_of(const at::Tensor& block, const std::vector<std::int64_t>& axes) {
  // float holds the whole numbers of 8 and 16 bits only.
  const bool wide = block.element_size() > 2 && (block.scalar_type() == at::kDouble || !block.is_floating_point());
  const auto type = wide ? at::kDouble : at::kFloat;
  View view{.data = block.to(at::kCPU, type)};
  const bool neighbours = axes.empty() || axes.back() - axes.front() + 1 == std::ssize(axes);
  if (!neighbours) {
    std::vector<std::int64_t> order;
    for (std::int64_t axis = 0; axis < block.dim(); ++axis)
      if (std::ranges::find(axes, axis) == axes.end()) order.push_back(axis);
    order.insert(order.end(), axes.begin(), axes.end());
    view.data = view.data.permute(order);
  }
  view.data = view.data.contiguous();
  const auto first = neighbours ? (axes.empty() ? block.dim() : axes.front()) : block.dim() - std::ssize(axes);
  for (std::int64_t axis = 0; axis < block.dim(); ++axis) {
    auto& extent = axis < first ? view.outer : axis < first + std::ssize(axes) ? view.n : view.inner;
    extent *= view.data.size(axis);
  }
  return view;
}

void merge_records(const void* in, void* inout, std::int64_t n) {
  const auto* a = static_cast<const CentralSums*>(in);
  auto* b = static_cast<CentralSums*>(inout);
  for (std::int64_t i = 0; i < n; ++i) detail::merge_central_sums(a[i], b[i]);
}

/// The sums over all ranks for each element of this rank's block of the result.
struct Sums {
  std::vector<CentralSums> values;
  Layout layout;
  Dtype dtype;
  Communicator comm;

  template <class F>
  [[nodiscard]] DNDarray map(F f) const {
    auto block = at::empty(layout.local_shape(comm.rank()), at::kDouble);
    std::ranges::transform(values, block.data_ptr<double>(), f);
    return detail::wrap(block.to(detail::to_torch(dtype)), layout, comm);
  }
};

Sums sums_of(const char* op, const DNDarray& x, const ReduceOptions& options, int order) {
  if (is_complex(x.dtype())) detail::raise<TypeError>(op, "got an array of {}; expected real numbers", name(x.dtype()));
  const auto reduced = detail::reduced_axes(op, x, options);
  Sums sums{
      .values = {}, .layout = reduced.result_layout(x.layout()), .dtype = inexact_type(x.dtype()), .comm = x.comm()};
  const auto view = view_of(x.larray(), reduced.axes);
  sums.values.resize(static_cast<std::size_t>(view.outer * view.inner));
  if (view.data.scalar_type() == at::kDouble)
    detail::central_sums(view.data.const_data_ptr<double>(), view.outer, view.n, view.inner, order, sums.values.data());
  else
    detail::central_sums(view.data.const_data_ptr<float>(), view.outer, view.n, view.inner, order, sums.values.data());
  if (reduced.over_split)
    x.comm().allreduce_records(sums.values.data(), std::ssize(sums.values), sizeof(CentralSums), &merge_records);
  return sums;
}

double mean_of(const CentralSums& s) { return s.n > 0 ? s.mean : NAN; }
double var_of(const CentralSums& s) { return s.n > 0 ? s.m2 / s.n : NAN; }
double skew_of(const CentralSums& s) { return std::sqrt(s.n) * s.m3 / std::pow(s.m2, 1.5); }
double kurtosis_of(const CentralSums& s) { return s.n * s.m4 / (s.m2 * s.m2) - 3; }

/// Weights of the indices of one axis in a shape that broadcasts to x's.
DNDarray weights_along(const DNDarray& x, const DNDarray& weights, const Axes& axes) {
  const bool one = !axes.all() && axes.values().size() == 1;
  const auto axis = one ? static_cast<std::size_t>(sanitize_axis(axes.values().front(), x.ndim(), "average")) : 0;
  if (!one || weights.shape() != Shape{x.shape()[axis]})
    detail::raise<ValueError>("average",
                              "got weights of shape {} for an array of shape {}; expected the array's shape, or one "
                              "weight for each index of the one axis given",
                              to_string(weights.shape()), to_string(x.shape()));
  Shape shape(x.shape().size() - axis, 1);
  shape.front() = x.shape()[axis];
  return reshape(weights, shape);
}

/// Complex numbers have a mean and no order: their parts are summed.
DNDarray complex_mean(const DNDarray& x, const ReduceOptions& options) {
  const auto count = detail::reduced_axes("mean", x, options).count;
  return sum(x, options) / static_cast<double>(count);
}

}  // namespace

Moments moments(const DNDarray& x, const ReduceOptions& options) {
  const auto sums = sums_of("moments", x, options, 4);
  return {sums.map(mean_of), sums.map(var_of), sums.map(skew_of), sums.map(kurtosis_of)};
}

DNDarray mean(const DNDarray& x, const ReduceOptions& options) {
  return is_complex(x.dtype()) ? complex_mean(x, options) : sums_of("mean", x, options, 1).map(mean_of);
}

DNDarray var(const DNDarray& x, const VarOptions& options) {
  if (is_complex(x.dtype())) return var(real(x), options) + var(imag(x), options);
  const auto of = [&](const CentralSums& s) { return s.m2 / std::max(0.0, s.n - options.ddof); };
  return sums_of("var", x, {.axis = options.axis, .keepdims = options.keepdims}, 2).map(of);
}

DNDarray std(const DNDarray& x, const VarOptions& options) {
  if (is_complex(x.dtype())) return sqrt(var(x, options));
  const auto of = [&](const CentralSums& s) { return std::sqrt(s.m2 / std::max(0.0, s.n - options.ddof)); };
  return sums_of("std", x, {.axis = options.axis, .keepdims = options.keepdims}, 2).map(of);
}

DNDarray average(const DNDarray& x, const AverageOptions& options) {
  const ReduceOptions along{.axis = options.axis, .keepdims = options.keepdims};
  if (!options.weights) return mean(x, along);
  const auto type = promote_types(inexact_type(x.dtype()), options.weights->dtype());
  const auto values = x.astype(type), weights = options.weights->astype(type);
  if (weights.shape() == x.shape()) return sum(values * weights, along) / sum(weights, along);
  return sum(values * weights_along(x, weights, options.axis), along) / sum(weights);
}

DNDarray skew(const DNDarray& x, const ReduceOptions& options) { return sums_of("skew", x, options, 4).map(skew_of); }
DNDarray kurtosis(const DNDarray& x, const ReduceOptions& options) {
  return sums_of("kurtosis", x, options, 4).map(kurtosis_of);
}

}  // namespace heatpp
