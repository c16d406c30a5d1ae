#include <heatpp/ml/detail/pieces.hpp>
#include <heatpp/ml/preprocessing/scalers.hpp>

namespace heatpp {
namespace {

using namespace ml::detail;

/// f(block) in float64, since what is left of the rows may be small beside them.
template <class F>
DNDarray each_block(const Rows& x, F f) {
  return mapped(x, x.features(), [&](const at::Tensor& block) { return f(block.to(at::kDouble)); });
}

}  // namespace

DNDarray ColumnScaler::transform(const Rows& x) const {
  const auto& [shift, scale, clip] = learnt("transform");
  check_features("transform", x, scale.shape()[0]);
  return each_block(x, [&, &from = shift.larray(), &by = scale.larray(), &limits = clip](const at::Tensor& block) {
    const auto scaled = (block - from) / by;
    return limits ? scaled.clamp(limits->first, limits->second) : scaled;
  });
}

DNDarray ColumnScaler::inverse_transform(const Rows& z) const {
  const auto& [shift, scale, clip] = learnt("inverse_transform");
  check_features("inverse_transform", z, scale.shape()[0]);
  return each_block(z, [&from = shift.larray(), &by = scale.larray()](const at::Tensor& block) {
    return at::addcmul(from, block, by);
  });
}

const DNDarray& ColumnScaler::scale() const { return learnt("scale").scale; }

const ColumnScaler::Learnt& ColumnScaler::learnt(const char* op) const {
  if (!learnt_) throw NotFittedError(fmt::format("[{}] got a scaler without data yet; expected a call of fit", op));
  return *learnt_;
}

DNDarray normalize(const Rows& x, RowNorm norm) {
  return each_block(x, [norm](const at::Tensor& block) {
    auto length = norm == RowNorm::l1   ? block.abs().sum(1, /*keepdim=*/true)
                  : norm == RowNorm::l2 ? block.norm(2, {1}, /*keepdim=*/true)
                                        : block.abs().amax(1, /*keepdim=*/true);
    return block / at::where(length == 0, 1.0, length);
  });
}

}  // namespace heatpp
