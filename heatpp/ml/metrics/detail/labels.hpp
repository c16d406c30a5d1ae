#pragma once

#include <ATen/Parallel.h>

#include <heatpp/ml/detail/classes.hpp>

namespace heatpp::ml::detail {

/// Returns `x`, or `other` if only that one is split, as rows of one number, so that nothing is gathered. Local.
[[nodiscard]] Rows as_column(const char* op, const DNDarray& x, const DNDarray& other);

/// Sums what add(i, sums) adds for the rows i of all ranks, in several threads. Collective: one all-reduce of numbers +
/// 1 float64, none if rows are replicated.
template <class F>
[[nodiscard]] std::vector<double> counted(const Rows& rows, std::size_t numbers, F add) {
  constexpr std::int64_t grain = 1 << 15;
  Totals totals(numbers);
  at::parallel_for(0, rows.count(), grain, [&](std::int64_t begin, std::int64_t end) {
    auto sums = totals.of(at::get_thread_num());
    for (auto i = begin; i < end; ++i) add(i, sums);
  });
  return totals.over_ranks(rows);
}

/// Throws ValueError if a label is among these twice. Local.
void check_different(const char* op, const std::vector<std::int64_t>& labels);
/// Returns the position of each of `labels` among `all`, -1 if it is not there. Local.
[[nodiscard]] std::vector<std::int64_t> places_among(const std::vector<std::int64_t>& all,
                                                     const std::vector<std::int64_t>& labels);

/// True and predicted labels of the same rows, as positions among all labels.
struct LabelPairs {
  LabelPairs(const char* op, const DNDarray& y_true, const DNDarray& y_pred,
             const std::optional<DNDarray>& sample_weight = std::nullopt);

  Rows rows;
  std::vector<std::int64_t> labels;
  std::vector<std::int32_t> truth, predicted;
  std::optional<at::Tensor> weights;
  [[nodiscard]] double weight(std::int64_t i) const { return weights ? weights->const_data_ptr<double>()[i] : 1.0; }
};

}  // namespace heatpp::ml::detail
