#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ml/model_selection/search.hpp>
#include <heatpp/ops/operands/index.hpp>

namespace heatpp::ml::detail {

std::vector<Fold> usual_folds(const DNDarray& x, const DNDarray& y) {
  return is_floating(y.dtype()) ? KFold().split(x) : StratifiedKFold().split(y);
}

DNDarray rows_where(const DNDarray& x, const DNDarray& mask) {
  const auto cut = x.layout().with(mask.shape(), x.split() == std::optional(0) ? x.split() : std::nullopt);
  return x.index({heatpp::detail::brought_to(mask, cut)});
}

}  // namespace heatpp::ml::detail
