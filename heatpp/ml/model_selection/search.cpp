#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ml/model_selection/search.hpp>
#include <heatpp/ops/operands/index.hpp>

namespace heatpp::ml::detail {

std::vector<Fold> folds_for(const char* op, const DNDarray& x, const DNDarray& y, const std::vector<Fold>& given,
                            bool labels) {
  if (x.ndim() < 1 || y.ndim() < 1 || x.shape()[0] != y.shape()[0])
    heatpp::detail::raise<ValueError>(op, "got an array of shape {} and targets of shape {}; expected as many rows",
                                      to_string(x.shape()), to_string(y.shape()));
  heatpp::detail::check_same_comm(op, x.comm(), y.comm());
  if (!given.empty()) return given;
  return labels && !is_floating(y.dtype()) ? StratifiedKFold().split(y) : KFold().split(x);
}

DNDarray rows_where(const DNDarray& x, const DNDarray& mask) {
  const auto cut = x.layout().with(mask.shape(), x.split() == std::optional(0) ? x.split() : std::nullopt);
  return x.index({heatpp::detail::brought_to(mask, cut)});
}

}  // namespace heatpp::ml::detail
