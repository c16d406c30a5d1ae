#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/detail/classes.hpp>
#include <heatpp/ml/naive_bayes/discrete_nb.hpp>

namespace heatpp {
namespace {

using namespace ml::detail;

void check_alpha(const char* op, double alpha) {
  if (!(alpha >= 0) || !std::isfinite(alpha))
    detail::raise<ValueError>(op, "got alpha {}; expected a finite number of 0 or more", alpha);
}

template <class T>
void check_not_negative(const char* op, const Rows& rows, const Piece<T>& piece) {
  for (std::int64_t i = 0; i < piece.rows * piece.features; ++i)
    if (piece.data[i] < 0)
      detail::raise<ValueError>(op, "got {} in row {}, column {}; expected numbers of 0 or more", piece.data[i],
                                rows.first() + piece.first + i / piece.features, i % piece.features);
}

/// (classes, features + 1): sums of features, and of weights, by class.
at::Tensor sums_of(const char* op, const Rows& x, const LabelledClasses& classes, const double* weights,
                   std::optional<double> threshold) {
  const auto width = static_cast<std::size_t>(x.features() + 1);
  const auto sums =
      summed(x, static_cast<std::size_t>(classes.count()) * width, [&](const auto& piece, std::span<double> own) {
        check_finite(op, x, piece);
        if (!threshold) check_not_negative(op, x, piece);
        for (std::int64_t i = 0; i < piece.rows; ++i) {
          const auto at = static_cast<std::size_t>(piece.first + i);
          const auto w = weights ? weights[at] : 1.0;
          auto* to = own.data() + static_cast<std::size_t>(classes.index[at]) * width;
          const auto* row = piece.row(i);
          for (std::size_t j = 0; j + 1 < width; ++j) {
            const auto number = static_cast<double>(row[j]);
            to[j] += threshold ? (number > *threshold ? w : 0) : w * number;
          }
          to[width - 1] += w;
        }
      });
  return at::tensor(sums, at::kDouble).reshape({classes.count(), static_cast<std::int64_t>(width)});
}

at::Tensor spread(const at::Tensor& numbers, const at::Tensor& places, std::int64_t classes) {
  return at::zeros({classes, numbers.size(1)}, at::kDouble).index_copy_(0, places, numbers);
}

}  // namespace

DiscreteNB::Counts DiscreteNB::counted(const Batch& batch) {
  const auto& [op, x, y, options, threshold] = batch;
  check_not_empty(op, x);
  if (classes_) check_features(op, x, classes_->features);
  const auto weights = weights_beside(op, x, options.sample_weight);
  const auto classes = classes_beside(op, x, y);
  auto sums = sums_of(op, x, classes, weights ? weights->const_data_ptr<double>() : nullptr, threshold);
  auto values = classes.values;
  if (counts_) {
    const auto both = united(classes_->values.larray(), values);
    const auto before = at::cat({counts_->features.larray(), counts_->classes.larray().unsqueeze(1)}, 1);
    values = both.values;
    sums = spread(before, both.first, values.size(0)) + spread(sums, both.second, values.size(0));
  }
  classes_ = Classes{replicated(values, int64, x.comm()), x.features()};
  return {replicated(sums.select(1, x.features()), float64, x.comm()),
          replicated(sums.slice(1, 0, x.features()), float64, x.comm())};
}

DNDarray DiscreteNB::log_prior(const Counts& counts, bool fit_prior) {
  const auto n = counts.classes.larray();
  const auto shares = fit_prior ? n / n.sum() : at::full_like(n, 1.0 / static_cast<double>(n.size(0)));
  return replicated(shares.log(), float64, counts.classes.comm());
}

const DiscreteNB::Model& DiscreteNB::model(const char* op) const {
  check_fitted(op);
  return *model_;
}

DNDarray DiscreteNB::feature_count() const {
  check_fitted("feature_count");
  return counts_->features;
}
DNDarray DiscreteNB::class_count() const {
  check_fitted("class_count");
  return counts_->classes;
}
DNDarray DiscreteNB::feature_log_prob() const { return model("feature_log_prob").log_prob; }
DNDarray DiscreteNB::class_log_prior() const { return model("class_log_prior").log_prior; }

MultinomialNB& MultinomialNB::fit(const Rows& x, const DNDarray& y, const FitOptions& options) {
  MultinomialNB fresh(options_);
  *this = fresh.partial_fit(x, y, options);
  return *this;
}

MultinomialNB& MultinomialNB::partial_fit(const Rows& x, const DNDarray& y, const FitOptions& options) {
  check_alpha("MultinomialNB.fit", options_.alpha);
  counts_ = counted({"MultinomialNB.fit", x, y, options, std::nullopt});
  const auto smooth = counts_->features.larray() + options_.alpha;
  model_ = Model{replicated(smooth.log() - smooth.sum(1, /*keepdim=*/true).log(), float64, x.comm()),
                 log_prior(*counts_, options_.fit_prior)};
  return *this;
}

Classifier::Scores MultinomialNB::scores() const {
  return [slope = model_->log_prob.larray().t(), shift = model_->log_prior.larray()](const at::Tensor& block) {
    return at::addmm(shift, block, slope);
  };
}

BernoulliNB& BernoulliNB::fit(const Rows& x, const DNDarray& y, const FitOptions& options) {
  BernoulliNB fresh(options_);
  *this = fresh.partial_fit(x, y, options);
  return *this;
}

BernoulliNB& BernoulliNB::partial_fit(const Rows& x, const DNDarray& y, const FitOptions& options) {
  check_alpha("BernoulliNB.fit", options_.alpha);
  counts_ = counted({"BernoulliNB.fit", x, y, options, options_.binarize});
  const auto smooth = counts_->features.larray() + options_.alpha;
  const auto all = counts_->classes.larray().unsqueeze(1) + 2 * options_.alpha;
  model_ = Model{replicated((smooth / all).log(), float64, x.comm()), log_prior(*counts_, options_.fit_prior)};
  return *this;
}

Classifier::Scores BernoulliNB::scores() const {
  const auto there = model_->log_prob.larray(), absent = at::log1p(-there.exp());
  return [slope = (there - absent).t(), shift = model_->log_prior.larray() + absent.sum(1),
          threshold = options_.binarize](const at::Tensor& block) {
    return at::addmm(shift, (block > threshold).to(at::kDouble), slope);
  };
}

}  // namespace heatpp
