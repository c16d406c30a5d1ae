#include <heatpp/ml/model_selection/search.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/ml/model_selection/detail/masks.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/reductions/reduce.hpp>

namespace heatpp::ml::detail {

std::vector<Fold> folds_for(const char* op, const DNDarray& x, const DNDarray& y, const std::vector<Fold>& given,
                            bool labels) {
  if (x.ndim() < 1 || y.ndim() < 1 || x.shape()[0] != y.shape()[0])
    heatpp::detail::raise<ValueError>(op, "got an array of shape {} and targets of shape {}; expected as many rows",
                                      to_string(x.shape()), to_string(y.shape()));
  heatpp::detail::check_same_comm(op, x.comm(), y.comm());
  if (!given.empty()) return given;
  return labels ? StratifiedKFold().split(y) : KFold().split(x);
}

DNDarray rows_where(const DNDarray& x, const DNDarray& mask) {
  const auto cut = samples_of("cross_val_predict", x);
  return x.index({heatpp::detail::brought_to(mask, cut.with(mask.shape(), cut.split()))});
}

FoldResults::FoldResults(const DNDarray& x, const std::vector<Fold>& folds)
    : samples_(samples_of("cross_val_predict", x)) {
  auto times =
      heatpp::detail::wrap(at::zeros({samples_.local_shape(x.comm().rank())[0]}, at::kLong), samples_, x.comm());
  for (const auto& fold : folds) times += heatpp::detail::brought_to(fold.test, samples_).astype(int64);
  const auto wrong = sum((times != 1).astype(int64)).item<std::int64_t>();
  if (wrong > 0)
    heatpp::detail::raise<ValueError>(
        "cross_val_predict", "got {} rows of {} that are for tests in no fold or in several; expected each in one",
        wrong, x.shape()[0]);
}

void FoldResults::check_classes(const DNDarray& classes) {
  const auto found = classes.to_vector<std::int64_t>();
  if (classes_ && found != *classes_)
    heatpp::detail::raise<ValueError>("cross_val_predict",
                                      "got a fold whose training rows have {} labels, which differ from those of an "
                                      "earlier fold; expected all labels in each fold",
                                      found.size());
  classes_ = found;
}

void FoldResults::put(const DNDarray& test, const DNDarray& results) {
  if (!all_) {
    auto shape = results.shape();
    shape[0] = samples_.shape()[0];
    all_ = zeros(shape, {.dtype = results.dtype(), .comm = results.comm()});
    if (samples_.split()) all_ = heatpp::detail::brought_to(*all_, samples_.with(shape, 0));
  }
  auto expected = all_->shape();
  expected[0] = results.shape()[0];
  if (results.shape() != expected)
    heatpp::detail::raise<ValueError>("cross_val_predict",
                                      "got results of shape {} for a fold; expected {}, as for those before",
                                      to_string(results.shape()), to_string(expected));
  all_->index_put({heatpp::detail::brought_to(test, samples_)}, results);
}

}  // namespace heatpp::ml::detail
