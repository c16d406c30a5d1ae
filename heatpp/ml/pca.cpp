#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ml/pca.hpp>
#include <heatpp/ops/reductions/moments.hpp>

namespace heatpp {
namespace {

DNDarray by_samples(const DNDarray& x) { return x.split() == 1 ? resplit(x, 0) : x; }

void check_matrix(const char* op, const DNDarray& x) {
  if (x.ndim() != 2)
    detail::raise<ValueError>(op, "got an array of shape {}; expected (samples, features)", to_string(x.shape()));
}

/// The sum over all samples of the products of deviations from the mean, in float64, from pieces of rows that stay
/// small.
at::Tensor scatter_matrix(const DNDarray& x, const at::Tensor& mean) {
  constexpr std::int64_t piece_elements = 1 << 20;
  const auto features = x.shape()[1];
  const auto rows = std::max<std::int64_t>(1, piece_elements / std::max<std::int64_t>(1, features));
  auto scatter = at::zeros({features, features}, at::kDouble);
  const auto& block = x.larray();
  for (std::int64_t first = 0; first < block.size(0); first += rows) {
    const auto piece = block.slice(0, first, first + rows).to(at::kDouble) - mean;
    scatter.addmm_(piece.t(), piece);
  }
  if (x.split()) x.comm().allreduce(detail::buffer_of(scatter));
  return scatter;
}

/// Rows turned so that the entry that is largest in size is positive.
at::Tensor with_signs(const at::Tensor& rows) {
  const auto largest = rows.gather(1, rows.abs().argmax(1, /*keepdim=*/true));
  return at::where(largest < 0, -rows, rows);
}

DNDarray replicated(const at::Tensor& value, Dtype dtype, const Communicator& comm) {
  const Shape shape(value.sizes().begin(), value.sizes().end());
  return detail::wrap(value.to(detail::to_torch(dtype)).contiguous(), Layout(shape, std::nullopt, comm.size()), comm);
}

/// `x` times a replicated matrix, block by block.
DNDarray times(const DNDarray& x, const at::Tensor& block, const at::Tensor& matrix) {
  const Shape shape{x.shape()[0], matrix.size(1)};
  return detail::wrap(at::matmul(block, matrix), x.layout().with(shape, x.split()), x.comm());
}

void check_columns(const char* op, const DNDarray& x, std::int64_t expected) {
  check_matrix(op, x);
  if (x.shape()[1] != expected)
    detail::raise<ValueError>(op, "got an array of shape {}; expected {} columns", to_string(x.shape()), expected);
}

}  // namespace

PCA& PCA::fit(const DNDarray& x) {
  check_matrix("PCA.fit", x);
  const auto samples = x.shape()[0], features = x.shape()[1], count = options_.n_components.value_or(features);
  if (samples < 2 || count < 1 || count > features || is_complex(x.dtype()))
    detail::raise<ValueError>("PCA.fit",
                              "got {} components of an array of shape {} and dtype {}; expected 1 <= components <= "
                              "features, two samples and real numbers",
                              count, to_string(x.shape()), name(x.dtype()));
  const auto data = by_samples(x);
  const auto centre = heatpp::mean(data, 0);
  const auto covariance = scatter_matrix(data, centre.larray().to(at::kDouble)) / static_cast<double>(samples - 1);
  const auto [values, vectors] = at::linalg_eigh(covariance);  // rising
  const auto variance = values.flip(0).clamp_min(0);
  const auto components = with_signs(vectors.t().flip(0).slice(0, 0, count));
  const auto dtype = inexact_type(x.dtype());
  learnt_ =
      Learnt{replicated(components, dtype, x.comm()), centre, replicated(variance.slice(0, 0, count), dtype, x.comm()),
             replicated(variance.slice(0, 0, count) / variance.sum(), dtype, x.comm())};
  return *this;
}

DNDarray PCA::transform(const DNDarray& x) const {
  const auto& [components, centre, variance, ratio] = learnt();
  check_columns("PCA.transform", x, components.shape()[1]);
  const auto data = by_samples(x);
  auto matrix = components.larray().t();
  if (options_.whiten) matrix = matrix / variance.larray().sqrt();
  return times(data, data.larray() - centre.larray(), matrix);
}

DNDarray PCA::inverse_transform(const DNDarray& z) const {
  const auto& [components, centre, variance, ratio] = learnt();
  check_columns("PCA.inverse_transform", z, components.shape()[0]);
  const auto data = by_samples(z);
  const auto scale =
      options_.whiten ? variance.larray().sqrt().unsqueeze(1) : at::ones({}, variance.larray().options());
  const auto result = times(data, data.larray(), components.larray() * scale);
  result.larray().add_(centre.larray());
  return result;
}

const PCA::Learnt& PCA::learnt() const {
  if (!learnt_) detail::raise<ValueError>("PCA", "got no data yet; expected a call of fit");
  return *learnt_;
}

const DNDarray& PCA::components() const { return learnt().components; }
const DNDarray& PCA::mean() const { return learnt().mean; }
const DNDarray& PCA::explained_variance() const { return learnt().variance; }
const DNDarray& PCA::explained_variance_ratio() const { return learnt().ratio; }

}  // namespace heatpp
