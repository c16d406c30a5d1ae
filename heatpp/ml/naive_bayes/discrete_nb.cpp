#include <heatpp/ml/naive_bayes/discrete_nb.hpp>

#include <heatpp/ml/detail/classes.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/options/classes.hpp>
#include <heatpp/ml/detail/sparse/row_block.hpp>

namespace heatpp {
namespace {

using namespace ml::detail;

void check_alpha(const char* op, double alpha) {
  if (!(alpha >= 0) || !std::isfinite(alpha))
    detail::raise<ValueError>(op, "got alpha {}; expected a finite number of 0 or more", alpha);
}

void check_not_negative(const char* op, double number, std::int64_t row, std::int64_t column) {
  if (number < 0)
    detail::raise<ValueError>(op, "got {} in row {}, column {}; expected numbers of 0 or more", number, row, column);
}

/// Which number a feature counts.
struct Counted {
  const char* op;
  std::optional<double> threshold;
  double operator()(double number, std::int64_t row, std::int64_t column) const {
    if (threshold) return number > *threshold ? 1 : 0;
    check_not_negative(op, number, row, column);
    return number;
  }
};

/// Adds: to += weight * the counts of row i of the piece.
template <class T>
void add_row(const Piece<T>& piece, std::int64_t i, const Counted& counted, double weight, std::int64_t number,
             double* to) {
  for (std::int64_t j = 0; j < piece.features; ++j)
    to[j] += weight * counted(static_cast<double>(piece.row(i)[j]), number, j);
}
template <class T>
void add_row(const SparsePiece<T>& piece, std::int64_t i, const Counted& counted, double weight, std::int64_t number,
             double* to) {
  for (auto e = piece.ptr[i]; e < piece.ptr[i + 1]; ++e)
    to[piece.columns[e]] += weight * counted(static_cast<double>(piece.values[e]), number, piece.columns[e]);
}

/// Returns (classes, features + 1) sums of features, and of weights, by class.
at::Tensor sums_of(const char* op, const Rows& x, const LabelledClasses& classes, const double* weights,
                   std::optional<double> threshold) {
  const auto width = static_cast<std::size_t>(x.features() + 1);
  const Counted counted{op, threshold};
  const auto add = [&](const auto& piece, std::span<double> own) {
    check_finite(op, x, piece);
    for (std::int64_t i = 0; i < piece.rows; ++i) {
      const auto at = static_cast<std::size_t>(piece.first + i);
      const auto w = weights ? weights[at] : 1.0;
      auto* to = own.data() + static_cast<std::size_t>(classes.index[at]) * width;
      add_row(piece, i, counted, w, x.first() + piece.first + i, to);
      to[width - 1] += w;
    }
  };
  const auto numbers = static_cast<std::size_t>(classes.count()) * width;
  const bool zeros_count = threshold && *threshold < 0;
  const auto sums = zeros_count ? summed(x, numbers, add) : summed_stored(x, numbers, add);
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

const DiscreteNB::Counts& DiscreteNB::counts(const char* what) const { return fitted(Method(kind(), what), counts_); }
const DiscreteNB::Model& DiscreteNB::model(const char* what) const { return fitted(Method(kind(), what), model_); }

DNDarray DiscreteNB::feature_count() const { return counts("feature_count").features; }
DNDarray DiscreteNB::class_count() const { return counts("class_count").classes; }
DNDarray DiscreteNB::feature_log_prob() const { return model("feature_log_prob").log_prob; }
DNDarray DiscreteNB::class_log_prior() const { return model("class_log_prior").log_prior; }

MultinomialNB& MultinomialNB::fit(const Rows& x, const DNDarray& y, const FitOptions& options) {
  MultinomialNB fresh(options_);
  fresh.learn("fit", x, y, options);
  return *this = std::move(fresh);
}

MultinomialNB& MultinomialNB::partial_fit(const Rows& x, const DNDarray& y, const FitOptions& options) {
  learn("partial_fit", x, y, options);
  return *this;
}

void MultinomialNB::learn(const char* what, const Rows& x, const DNDarray& y, const FitOptions& options) {
  const Method op(kind(), what);
  if (!counts_) check_agreed(op, x, options_);
  check_alpha(op, options_.alpha);
  counts_ = counted({op, x, y, options, std::nullopt});
  const auto smooth = counts_->features.larray() + options_.alpha;
  model_ = Model{replicated(smooth.log() - smooth.sum(1, /*keepdim=*/true).log(), float64, x.comm()),
                 log_prior(*counts_, options_.fit_prior)};
}

Classifier::Scores MultinomialNB::scores() const {
  return [slope = model_->log_prob.larray().t().contiguous(),
          shift = model_->log_prior.larray()](const RowBlock& block) { return block.times(slope).add_(shift); };
}

BernoulliNB& BernoulliNB::fit(const Rows& x, const DNDarray& y, const FitOptions& options) {
  BernoulliNB fresh(options_);
  fresh.learn("fit", x, y, options);
  return *this = std::move(fresh);
}

BernoulliNB& BernoulliNB::partial_fit(const Rows& x, const DNDarray& y, const FitOptions& options) {
  learn("partial_fit", x, y, options);
  return *this;
}

void BernoulliNB::learn(const char* what, const Rows& x, const DNDarray& y, const FitOptions& options) {
  const Method op(kind(), what);
  if (!counts_) check_agreed(op, x, options_);
  check_alpha(op, options_.alpha);
  counts_ = counted({op, x, y, options, options_.binarize});
  const auto smooth = counts_->features.larray() + options_.alpha;
  const auto all = counts_->classes.larray().unsqueeze(1) + 2 * options_.alpha;
  model_ = Model{replicated((smooth / all).log(), float64, x.comm()), log_prior(*counts_, options_.fit_prior)};
}

Classifier::Scores BernoulliNB::scores() const {
  const auto there = model_->log_prob.larray(), absent = at::log1p(-there.exp());
  return [slope = (there - absent).t().contiguous(), shift = model_->log_prior.larray() + absent.sum(1),
          threshold = options_.binarize](const RowBlock& block) {
    return block.times_where_above(threshold, slope).add_(shift);
  };
}

}  // namespace heatpp
