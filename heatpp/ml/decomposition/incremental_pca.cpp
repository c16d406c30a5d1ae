#include <heatpp/ml/decomposition/incremental_pca.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/decomposition/detail/affine.hpp>
#include <heatpp/ml/decomposition/detail/row_factor.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/options/decomposition.hpp>

#include <algorithm>
#include <cmath>

namespace heatpp {

using namespace ml::detail;

namespace {

/// Consecutive rows of a source, given by their numbers among this rank's.
class PartOfRows final : public RowSource {
 public:
  PartOfRows(Rows rows, std::int64_t first) : rows_(std::move(rows)), first_(first) {}
  [[nodiscard]] at::Tensor read(std::int64_t first, std::int64_t count) const override {
    return rows_.read(first_ + first, count);
  }

 private:
  Rows rows_;
  std::int64_t first_;
};

/// Returns the rows first .. last of all rows, where they are.
Rows part_of(const Rows& rows, std::int64_t first, std::int64_t last) {
  const auto own = std::clamp<std::int64_t>(first - rows.first(), 0, rows.count());
  auto source = std::make_shared<PartOfRows>(rows, own);
  if (!rows.distributed())
    return {source, rows.layout().replicated({last - first, rows.features()}), rows.dtype(), rows.comm()};
  std::vector<std::int64_t> offsets;
  for (const auto offset : rows.layout().offsets()) offsets.push_back(std::clamp(offset, first, last) - first);
  return {source, Layout({last - first, rows.features()}, 0, offsets), rows.dtype(), rows.comm()};
}

}  // namespace

std::int64_t IncrementalPCA::wanted(const Rows& x) const {
  return options_.n_components.value_or(fitted_ ? n_components() : std::min(x.size(), x.features()));
}

std::int64_t IncrementalPCA::components_of(const char* op, const Rows& x) const {
  const auto most = wanted(x), rows = (fitted_ ? fitted_->n_samples : 0) + x.size();
  if (fitted_) check_features(op, x, mean().size());
  if (most < 1 || most > x.features() || rows < 2)
    detail::raise<ValueError>(
        op, "got {} components of {} rows of {} features; expected 1 <= components <= features, and two rows", most,
        x.size(), x.features());
  return std::min(most, rows);
}

IncrementalPCA& IncrementalPCA::partial_fit(const Rows& x) {
  constexpr auto op = "IncrementalPCA.partial_fit";
  if (!fitted_) check_agreed(op, x, options_);
  learn(op, x);
  return *this;
}

void IncrementalPCA::learn(const char* op, const Rows& x) {
  const auto count = components_of(op, x);
  if (x.size() == 0) return;
  auto columns = column_moments(op, x);
  const auto batch_mean = of_columns(columns, &Moments::mean);
  const auto n = static_cast<double>(x.size());
  auto factor = row_factor(x, batch_mean);
  auto rows = x.size(), total = rows;
  if (seen_) {
    const auto before = static_cast<double>(fitted_->n_samples);
    const auto mean = wide(seen_->mean), var = wide(seen_->var);
    const auto correction = std::sqrt(before / (before + n) * n) * (mean - batch_mean);
    factor =
        at::cat({wide(seen_->singular_values).unsqueeze(1) * wide(seen_->components), factor, correction.unsqueeze(0)});
    rows += seen_->components.shape()[0] + 1;
    total += fitted_->n_samples;
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const auto i = static_cast<std::int64_t>(j);
      columns[j].merge({before, mean[i].item<double>(), var[i].item<double>() * before});
    }
  }
  const auto [s, v] = right_vectors(factor);
  const auto squares = of_columns(columns, &Moments::m2);
  const auto variance = s.square() / static_cast<double>(total - 1), kept = variance.slice(0, 0, count);
  const auto rest = std::min(rows, x.features()) - count;
  const bool has_noise = rest > 0 && count != x.size() && count != x.features();
  const auto noise =
      has_noise ? variance.slice(0, count, count + rest).sum().item<double>() / static_cast<double>(rest) : 0;
  const auto all = squares.sum().item<double>();
  const auto components = with_signs(v.slice(0, 0, count)), values = s.slice(0, 0, count);
  const auto whole = [&](const at::Tensor& value, Dtype dtype) { return replicated(value, dtype, x.comm()); };
  const auto type = working_dtype(x);
  const auto mean = of_columns(columns, &Moments::mean);
  const auto ratio = all > 0 ? values.square() / all : at::zeros_like(values);
  fitted_ = Fitted{whole(components, type),
                   whole(mean, type),
                   whole(kept, type),
                   whole(ratio, type),
                   whole(values, type),
                   noise,
                   total};
  seen_ = Seen{whole(mean, float64), whole(squares / static_cast<double>(total), float64), whole(components, float64),
               whole(values, float64)};
}

IncrementalPCA& IncrementalPCA::fit(const Rows& x) {
  constexpr auto op = "IncrementalPCA.fit";
  check_agreed(op, x, options_);
  const auto size = options_.batch_size.value_or(5 * x.features()), least = options_.n_components.value_or(0);
  if (size < 1) detail::raise<ValueError>(op, "got batches of {} rows; expected at least one row", size);
  IncrementalPCA fresh(options_);
  if (x.size() < 1) static_cast<void>(fresh.components_of(op, x));  // which throws
  if (x.size() < least)
    detail::raise<ValueError>(op, "got {} components of {} rows; expected no more than rows", least, x.size());
  for (std::int64_t first = 0; first < x.size();) {
    auto last = std::min(x.size(), first + size);
    if (x.size() - last < least) last = x.size();
    try {
      fresh.learn(op, part_of(x, first, last));
    } catch (const ValueError&) {
      check_all_finite(op, x);  // names the row by its number among all, not in its batch
      throw;
    }
    first = last;
  }
  return *this = std::move(fresh);
}

ModelState IncrementalPCA::state() const {
  auto state = state_of_components();
  state.options.merge(texts_of(options_));
  const auto& [mean, var, components, values] = *seen_;
  state.arrays.insert({{"var", var}, {"seen_mean", mean}, {"seen_components", components}, {"seen_values", values}});
  return state;
}

IncrementalPCA IncrementalPCA::from_state(const ModelState& state) {
  const StateReader read("IncrementalPCA", state);
  const auto fitted = components_from(read);
  const auto count = fitted.components.shape()[0], features = fitted.mean.size();
  auto options = options_from<IncrementalPcaOptions>(read, {"n_components", "batch_size"});
  if (!read.has_option("n_components")) options.n_components = count;
  IncrementalPCA model(options);
  model.fitted_ = fitted;
  model.seen_ = Seen{read.array("seen_mean", {features}), read.array("var", {features}),
                     read.array("seen_components", {count, features}), read.array("seen_values", {count})};
  return model;
}

const DNDarray& IncrementalPCA::var() const { return fitted(Method(kind(), "var"), seen_).var; }

}  // namespace heatpp
