#include <heatpp/ml/detail/classes.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/sorting/sets.hpp>

#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>

namespace heatpp::ml::detail {

using heatpp::detail::raise;

namespace {

void check_labels(const char* op, const Rows& rows, const DNDarray& y) {
  if (!is_integral(y.dtype()) && !is_floating(y.dtype()) && y.dtype() != Dtype::bool_)
    raise<TypeError>(op, "got labels of {}; expected whole numbers or truth values", name(y.dtype()));
  if (y.shape() != Shape{rows.size()})
    raise<ValueError>(op, "got labels of shape {} for {} rows; expected one for each", to_string(y.shape()),
                      rows.size());
}

/// Whether a floating number is a whole number in the range of int64.
bool is_label(double x) { return x == std::floor(x) && std::abs(x) < 0x1p63; }

/// Converts floating labels to int64. Collective: one all-reduce of 16 bytes, the first row with a fraction, negated,
/// and the number of such rows.
at::Tensor whole(const char* op, const Rows& rows, Dtype dtype, const at::Tensor& mine) {
  const auto wide = mine.to(at::kDouble).contiguous();
  const std::span values(wide.const_data_ptr<double>(), static_cast<std::size_t>(wide.numel()));
  const auto bad = std::ranges::find_if_not(values, is_label);
  std::array<double, 2> worst{-std::numeric_limits<double>::infinity(), 0};
  if (bad != values.end()) worst = {-static_cast<double>(rows.first() + (bad - values.begin())), 1};
  if (rows.distributed()) rows.comm().allreduce(worst, ReduceOp::max);
  if (worst[1] > 0)
    raise<TypeError>(op, "got labels of {} with a fraction, in row {} first; expected whole numbers", name(dtype),
                     -worst[0]);
  return wide.to(at::kLong);
}

constexpr std::uint64_t marked_up_to = 1 << 16;

struct LabelRange {
  std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = std::numeric_limits<std::int64_t>::min();
  /// Returns the largest label minus the least one.
  [[nodiscard]] std::uint64_t span() const {
    return static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least);
  }
};

LabelRange range_of(const Rows& rows, std::span<const std::int64_t> mine) {
  LabelRange range;
  for (const auto label : mine) range = {std::min(range.least, label), std::max(range.most, label)};
  std::array<std::int64_t, 2> ends{~range.least, range.most};  // ~ negates without overflow
  if (rows.distributed()) rows.comm().allreduce(ends, ReduceOp::max);
  return {~ends[0], ends[1]};
}

std::vector<std::int64_t> marked(const Rows& rows, std::span<const std::int64_t> mine, const LabelRange& range) {
  std::vector<std::uint8_t> marks(range.span() + 1, 0);
  for (const auto label : mine) marks[static_cast<std::size_t>(label - range.least)] = 1;
  if (rows.distributed()) rows.comm().allreduce(marks, ReduceOp::max);
  std::vector<std::int64_t> labels;
  for (std::size_t i = 0; i < marks.size(); ++i)
    if (marks[i]) labels.push_back(range.least + static_cast<std::int64_t>(i));
  return labels;
}

std::vector<std::int64_t> sorted_apart(std::vector<std::int64_t> labels) {
  std::ranges::sort(labels);
  labels.erase(std::ranges::unique(labels).begin(), labels.end());
  return labels;
}

}  // namespace

at::Tensor labels_beside(const char* op, const Rows& rows, const DNDarray& y) {
  check_labels(op, rows, y);
  const auto target = rows.layout().with({rows.size()}, rows.layout().split());
  const auto mine = heatpp::detail::relayout_operand(op, y, target, rows.comm()).to(at::kCPU);
  return is_floating(y.dtype()) ? whole(op, rows, y.dtype(), mine) : mine.to(at::kLong).contiguous();
}

std::vector<std::int64_t> distinct_labels(const Rows& rows, const at::Tensor& mine) {
  const std::span labels(mine.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(mine.numel()));
  const auto range = range_of(rows, labels);
  if (range.most < range.least) return {};
  if (range.span() < marked_up_to) return marked(rows, labels, range);
  const auto apart = sorted_apart({labels.begin(), labels.end()});
  if (!rows.distributed()) return apart;
  return unique(from_local(apart, {.split = 0, .comm = rows.comm()})).to_vector<std::int64_t>();
}

std::vector<std::int32_t> positions_among(std::span<const std::int64_t> labels, const at::Tensor& mine) {
  const auto* label = mine.const_data_ptr<std::int64_t>();
  std::vector<std::int32_t> positions(static_cast<std::size_t>(mine.numel()));
  std::vector<std::int32_t> at;  // position for every number in the range of the labels, if it is small
  if (!labels.empty() && LabelRange{labels.front(), labels.back()}.span() < marked_up_to) {
    at.resize(static_cast<std::size_t>(labels.back() - labels.front() + 1));
    for (std::size_t i = 0; i < labels.size(); ++i)
      at[static_cast<std::size_t>(labels[i] - labels.front())] = static_cast<std::int32_t>(i);
  }
  for (std::size_t i = 0; i < positions.size(); ++i)
    positions[i] = at.empty() ? static_cast<std::int32_t>(std::ranges::lower_bound(labels, label[i]) - labels.begin())
                              : at[static_cast<std::size_t>(label[i] - labels.front())];
  return positions;
}

LabelledClasses classes_beside(const char* op, const Rows& rows, const DNDarray& y) {
  const auto labels = labels_beside(op, rows, y);
  const auto values = resplit(unique(y), std::nullopt).larray().to(at::kCPU, at::kLong).contiguous();
  return {values,
          positions_among({values.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(values.numel())}, labels)};
}

namespace {

/// Returns weights of classes that give all classes the same total weight.
std::vector<double> balanced(const Rows& rows, const LabelledClasses& classes, const at::Tensor* weights) {
  const auto k = static_cast<std::size_t>(classes.count());
  Totals counts(k);
  auto own = counts.of(0);
  const auto* w = weights ? weights->const_data_ptr<double>() : nullptr;
  for (std::size_t i = 0; i < classes.index.size(); ++i)
    own[static_cast<std::size_t>(classes.index[i])] += w ? w[i] : 1.0;
  auto all = counts.over_ranks(rows);
  const auto sum = std::accumulate(all.begin(), all.end(), 0.0);
  for (auto& one : all) one = one > 0 ? sum / (static_cast<double>(k) * one) : 1.0;
  return all;
}

/// Returns the weight of each class from a map of labels.
std::vector<double> named(const char* op, const LabelledClasses& classes,
                          const std::map<std::int64_t, double>& weights) {
  std::vector<double> all;
  std::size_t found = 0;
  double most = 0;
  for (std::int64_t c = 0; c < classes.count(); ++c) {
    const auto one = weights.find(classes.values.const_data_ptr<std::int64_t>()[c]);
    all.push_back(one == weights.end() ? 1.0 : one->second);
    found += one != weights.end();
    most = std::max(most, all.back());
  }
  for (const auto& [label, weight] : weights)
    if (!(weight >= 0) || !std::isfinite(weight))
      raise<ValueError>(op, "got a class weight of {} for label {}; expected a finite one, not negative", weight,
                        label);
  if (found < weights.size() && found < all.size())
    raise<ValueError>(op, "got class weights of {} labels, {} of them among the {} classes; expected labels that occur",
                      weights.size(), found, all.size());
  if (!(most > 0)) raise<ValueError>(op, "got class weights that are all 0; expected one above 0");
  return all;
}

}  // namespace

std::optional<at::Tensor> class_weighted(const char* op, const Rows& rows, const LabelledClasses& classes,
                                         const std::optional<at::Tensor>& weights, const ClassWeights& of_class,
                                         Balance balance) {
  const auto* rule = std::get_if<ClassWeight>(&of_class);
  if (rule && *rule == ClassWeight::none) return weights;
  const auto* counted = balance == Balance::of_weights && weights ? &*weights : nullptr;
  const auto factors =
      rule ? balanced(rows, classes, counted) : named(op, classes, std::get<std::map<std::int64_t, double>>(of_class));
  auto result = at::empty({std::ssize(classes.index)}, at::kDouble);
  const auto* w = weights ? weights->const_data_ptr<double>() : nullptr;
  for (std::size_t i = 0; i < classes.index.size(); ++i)
    result.data_ptr<double>()[i] = factors[static_cast<std::size_t>(classes.index[i])] * (w ? w[i] : 1.0);
  return result;
}

void check_no_class_weights(const char* op, const ClassWeights& of_class) {
  if (of_class != ClassWeights(ClassWeight::none))
    raise<ValueError>(op, "got class_weight; expected none, because numbers have no classes (sample_weight)");
}

std::string text_of(const ClassWeights& weights) {
  if (const auto* rule = std::get_if<ClassWeight>(&weights)) return *rule == ClassWeight::none ? "none" : "balanced";
  std::string text;
  for (const auto& [label, weight] : std::get<std::map<std::int64_t, double>>(weights))
    text += heatpp::detail::formatted("{}:{} ", label, weight);
  return text;
}

ClassWeights class_weights_from(const char* op, const std::string& text) {
  if (text == "none") return ClassWeight::none;
  if (text == "balanced") return ClassWeight::balanced;
  std::map<std::int64_t, double> weights;
  std::istringstream words(text);
  std::int64_t label = 0;
  double weight = 0;
  for (char colon = 0; words >> label >> colon >> weight && colon == ':';) weights[label] = weight;
  if (!words.eof()) raise<ValueError>(op, "got class weights {}; expected none, balanced or label:weight", text);
  return weights;
}

UnitedClasses united(const at::Tensor& first, const at::Tensor& second) {
  const auto [values, places, counts] =
      at::_unique2(at::cat({first, second}), /*sorted=*/true, /*return_inverse=*/true);
  return {values, places.slice(0, 0, first.size(0)), places.slice(0, first.size(0))};
}

}  // namespace heatpp::ml::detail
