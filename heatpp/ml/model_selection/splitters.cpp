#include <heatpp/ml/model_selection/splitters.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/model_selection/detail/masks.hpp>
#include <heatpp/ml/model_selection/detail/strata.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

namespace heatpp {
namespace {

using namespace ml::detail;

/// Returns the fold of each group, the largest groups first, the last one first for ties.
std::vector<std::int64_t> folds_of(const std::vector<std::int64_t>& sizes, std::int64_t splits) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t g) { return sizes[g]; });
  std::vector<std::int64_t> rows(static_cast<std::size_t>(splits), 0), fold(sizes.size());
  for (auto g = order.rbegin(); g != order.rend(); ++g) {
    const auto lightest = std::ranges::min_element(rows);
    *lightest += sizes[*g];
    fold[*g] = lightest - rows.begin();
  }
  return fold;
}

}  // namespace

std::vector<Fold> GroupKFold::split(const DNDarray& groups) const {
  constexpr auto op = "GroupKFold.split";
  const auto splits = options_.n_splits;
  check_splits(op, splits, samples_of(op, groups).shape()[0]);
  const Strata strata(op, groups);
  if (splits > std::ssize(strata.sizes))
    detail::raise<ValueError>(op, "got {} splits of {} groups; expected at least as many groups", splits,
                              strata.sizes.size());
  const auto fold = folds_of(strata.sizes, splits);
  std::vector<std::int64_t> fold_of(strata.label.size());
  std::ranges::transform(strata.label, fold_of.begin(), [&](auto g) { return fold[static_cast<std::size_t>(g)]; });
  return folds_by(fold_of, splits, groups.layout(), groups.comm());
}

std::vector<Fold> TimeSeriesSplit::split(const DNDarray& x) const {
  constexpr auto op = "TimeSeriesSplit.split";
  const auto layout = samples_of(op, x);
  const auto n = layout.shape()[0], splits = options_.n_splits, gap = options_.gap;
  check_splits(op, splits, n - 1);
  const auto tests = options_.test_size.value_or(n / (splits + 1));
  const auto most = options_.max_train_size.value_or(std::numeric_limits<std::int64_t>::max());
  if (tests < 1 || gap < 0 || most < 1 || tests > n / splits || n - gap - splits * tests < 1)
    detail::raise<ValueError>(op,
                              "got {} splits of {} rows, each {} for tests, a gap of {} and {} to learn from at "
                              "most; expected rows to learn from before those of the first",
                              splits, n, tests, gap, most);
  const auto number = row_numbers(layout, x.comm());
  std::vector<Fold> folds;
  for (auto first = n - splits * tests; first < n; first += tests) {
    const auto between = [&](std::int64_t from, std::int64_t to) {
      return mask_of(layout, x.comm(), [&, from, to](std::int64_t i) {
        const auto row = number[static_cast<std::size_t>(i)];
        return row >= from && row < to;
      });
    };
    const auto end = first - gap;
    folds.push_back({between(most < end ? end - most : 0, end), between(first, first + tests)});
  }
  return folds;
}

}  // namespace heatpp
