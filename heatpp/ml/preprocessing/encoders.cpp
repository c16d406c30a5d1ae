#include <heatpp/ml/preprocessing/encoders.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/options/preprocessing.hpp>
#include <heatpp/ml/metrics/detail/labels.hpp>

#include <algorithm>

namespace heatpp {
namespace {

using namespace ml::detail;
using Categories = std::vector<std::int64_t>;

/// Returns this rank's rows as int64.
at::Tensor whole_numbers(const char* op, const Rows& rows) {
  if (is_floating(rows.dtype())) detail::raise<TypeError>(op, "got {}; expected whole numbers", name(rows.dtype()));
  return rows.read(0, rows.count()).to(at::kCPU, at::kLong);
}

/// Returns the position among the sorted categories, or nullopt.
std::optional<std::int64_t> position(const Categories& categories, std::int64_t value) {
  const auto found = std::ranges::lower_bound(categories, value);
  if (found == categories.end() || *found != value) return std::nullopt;
  return found - categories.begin();
}

[[noreturn]] void unknown(const char* op, std::int64_t value, std::int64_t row, std::size_t known) {
  detail::raise<ValueError>(op, "got {} in row {}; expected one of the {} of the fit", value, row, known);
}

/// Returns f(value, row) for all labels, cut as the labels. An error on one rank is thrown on all.
template <class F>
DNDarray each_label(const char* op, const DNDarray& y, F f) {
  const auto rows = as_column(op, y, y);
  const auto mine = labels_beside(op, rows, y);
  auto made = at::empty_like(mine);
  all_or_none(y.comm(), [&] {
    for (std::int64_t i = 0; i < mine.numel(); ++i)
      made.mutable_data_ptr<std::int64_t>()[i] = f(mine.const_data_ptr<std::int64_t>()[i], rows.first() + i);
  });
  return as_rows(rows, made);
}

std::int64_t columns_of(const std::vector<Categories>& categories) {
  std::int64_t columns = 0;
  for (const auto& of_feature : categories) columns += std::ssize(of_feature);
  return columns;
}

}  // namespace

LabelEncoder& LabelEncoder::fit(const DNDarray& y) {
  constexpr auto op = "LabelEncoder.fit";
  const auto rows = as_column(op, y, y);
  classes_ = distinct_labels(rows, labels_beside(op, rows, y));
  return *this;
}

DNDarray LabelEncoder::transform(const DNDarray& y) const {
  constexpr auto op = "LabelEncoder.transform";
  return each_label(op, y, [&known = fitted(op, classes_)](std::int64_t label, std::int64_t row) {
    const auto found = position(known, label);
    if (!found) unknown(op, label, row, known.size());
    return *found;
  });
}

DNDarray LabelEncoder::inverse_transform(const DNDarray& numbers) const {
  constexpr auto op = "LabelEncoder.inverse_transform";
  return each_label(op, numbers, [&known = fitted(op, classes_)](std::int64_t number, std::int64_t row) {
    if (number < 0 || number >= std::ssize(known)) unknown(op, number, row, known.size());
    return known[static_cast<std::size_t>(number)];
  });
}

const std::vector<std::int64_t>& LabelEncoder::classes() const { return fitted("LabelEncoder.classes", classes_); }

OneHotEncoder& OneHotEncoder::fit(const DNDarray& x) {
  constexpr auto op = "OneHotEncoder.fit";
  const Rows rows(x);
  check_agreed(op, rows, options_);
  check_not_empty(op, rows);
  const auto mine = whole_numbers(op, rows);
  std::vector<Categories> found;
  for (std::int64_t j = 0; j < rows.features(); ++j)
    found.push_back(distinct_labels(rows, mine.select(1, j).contiguous()));
  categories_ = std::move(found);
  return *this;
}

DNDarray OneHotEncoder::transform(const DNDarray& x) const {
  constexpr auto op = "OneHotEncoder.transform";
  const auto& known = fitted(op, categories_);
  const Rows rows(x);
  check_features(op, rows, std::ssize(known));
  const auto mine = whole_numbers(op, rows).contiguous();
  auto columns = at::zeros({rows.count(), columns_of(known)}, at::kByte);
  all_or_none(rows.comm(), [&] {
    const auto* value = mine.const_data_ptr<std::int64_t>();
    auto* column = columns.mutable_data_ptr<std::uint8_t>();
    for (std::int64_t i = 0; i < rows.count(); ++i)
      for (const auto& of_feature : known) {
        if (const auto found = position(of_feature, *value)) column[*found] = 1;
        else if (options_.unknown == Unknown::error) unknown(op, *value, rows.first() + i, of_feature.size());
        ++value;
        column += of_feature.size();
      }
  });
  return as_rows(rows, columns.to(detail::to_torch(options_.dtype)));
}

DNDarray OneHotEncoder::inverse_transform(const Rows& z) const {
  constexpr auto op = "OneHotEncoder.inverse_transform";
  const auto& known = fitted(op, categories_);
  check_features(op, z, columns_of(known));
  const auto mine = z.read(0, z.count()).to(at::kCPU);
  auto values = at::empty({z.count(), std::ssize(known)}, at::kLong);
  std::int64_t first = 0;
  for (std::size_t j = 0; j < known.size(); ++j) {
    const auto of_feature = at::tensor(at::ArrayRef<std::int64_t>(known[j]), at::kLong);
    const auto end = first + of_feature.numel();
    values.select(1, static_cast<std::int64_t>(j))
        .copy_(of_feature.index_select(0, mine.slice(1, first, end).argmax(1)));
    first = end;
  }
  return as_rows(z, values);
}

const std::vector<std::vector<std::int64_t>>& OneHotEncoder::categories() const {
  return fitted("OneHotEncoder.categories", categories_);
}

}  // namespace heatpp
