#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/pieces.hpp>
#include <heatpp/ml/preprocessing/scalers.hpp>
#include <heatpp/sparse/detail/impl.hpp>

namespace heatpp {
namespace {

using namespace ml::detail;

/// Returns f(block) computed in float64, since results may be small compared with the rows.
template <class F>
DNDarray each_block(const Rows& x, F f) {
  return mapped(x, x.features(), [&](const at::Tensor& block) { return f(block.to(at::kDouble)); });
}

/// Returns f(entries, their columns) computed in float64, in the same places.
template <class F>
sparse::DCSRMatrix each_entry(const sparse::DCSRMatrix& x, F f) {
  const auto& block = sparse::detail::block_of(x);
  const auto made = f(block.values.to(at::kDouble), block.columns.to(at::kLong));
  return sparse::detail::with_values(x, made.to(detail::to_torch(working_dtype(x))));
}

/// Throws ValueError if a shift would change zeros.
void check_stays(const char* op, const DNDarray& shift) {
  if (shift.larray().any().item<bool>())
    detail::raise<ValueError>(op, "got a scaler that shifts columns for a sparse matrix; expected one that divides");
}

/// Returns the number of this rank's row that contains each entry.
at::Tensor row_of_entries(const sparse::DCSRMatrix& x) {
  const auto& block = sparse::detail::block_of(x);
  return at::arange(block.rows(), at::kLong).repeat_interleave(block.row_ptr.diff());
}

}  // namespace

DNDarray ColumnScaler::transform(const Rows& x) const {
  const auto& [shift, scale, clip] = fitted_state("transform");
  check_features(Method(kind_, "transform"), x, scale.shape()[0]);
  return each_block(x, [&, &from = shift.larray(), &by = scale.larray(), &limits = clip](const at::Tensor& block) {
    const auto scaled = (block - from) / by;
    return limits ? scaled.clamp(limits->first, limits->second) : scaled;
  });
}

DNDarray ColumnScaler::inverse_transform(const Rows& z) const {
  const auto& [shift, scale, clip] = fitted_state("inverse_transform");
  check_features(Method(kind_, "inverse_transform"), z, scale.shape()[0]);
  return each_block(z, [&from = shift.larray(), &by = scale.larray()](const at::Tensor& block) {
    return at::addcmul(from, block, by);
  });
}

sparse::DCSRMatrix ColumnScaler::transform(const sparse::DCSRMatrix& x) const {
  const auto& [shift, scale, clip] = fitted_state("transform");
  check_features(Method(kind_, "transform"), x, scale.shape()[0]);
  check_stays(Method(kind_, "transform"), shift);
  return each_entry(x, [&by = scale.larray(), &limits = clip](const at::Tensor& values, const at::Tensor& columns) {
    const auto scaled = values / by.index_select(0, columns);
    return limits ? scaled.clamp(limits->first, limits->second) : scaled;
  });
}

sparse::DCSRMatrix ColumnScaler::inverse_transform(const sparse::DCSRMatrix& z) const {
  const auto& [shift, scale, clip] = fitted_state("inverse_transform");
  check_features(Method(kind_, "inverse_transform"), z, scale.shape()[0]);
  check_stays(Method(kind_, "inverse_transform"), shift);
  return each_entry(z, [&by = scale.larray()](const at::Tensor& values, const at::Tensor& columns) {
    return values * by.index_select(0, columns);
  });
}

const DNDarray& ColumnScaler::scale() const { return fitted_state("scale").scale; }

const ColumnScaler::Fitted& ColumnScaler::fitted_state(const char* what) const {
  return fitted(Method(kind_, what), fitted_);
}

DNDarray normalize(const Rows& x, RowNorm norm) {
  return each_block(x, [norm](const at::Tensor& block) {
    auto length = norm == RowNorm::l1   ? block.abs().sum(1, /*keepdim=*/true)
                  : norm == RowNorm::l2 ? block.norm(2, {1}, /*keepdim=*/true)
                                        : block.abs().amax(1, /*keepdim=*/true);
    return block / at::where(length == 0, 1.0, length);
  });
}

sparse::DCSRMatrix normalize(const sparse::DCSRMatrix& x, RowNorm norm) {
  const auto rows = row_of_entries(x);
  return each_entry(x, [&](const at::Tensor& values, const at::Tensor&) {
    const auto parts = norm == RowNorm::l2 ? values.square() : values.abs();
    auto length = at::zeros({static_cast<std::int64_t>(x.row_ptr().size()) - 1}, at::kDouble);
    if (norm == RowNorm::max) length.scatter_reduce_(0, rows, parts, "amax");
    else length.index_add_(0, rows, parts);
    if (norm == RowNorm::l2) length.sqrt_();
    return values / at::where(length == 0, 1.0, length).index_select(0, rows);
  });
}

}  // namespace heatpp
