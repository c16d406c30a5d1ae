#include <heatpp/ml/model_selection/splitting.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/log.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/ml/detail/row_random.hpp>
#include <heatpp/ml/model_selection/detail/masks.hpp>
#include <heatpp/ml/model_selection/detail/strata.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/random/detail/bijection.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heatpp {
namespace {

using namespace ml::detail;
using random::detail::Bijection;

Bijection shuffled(std::uint64_t seed, std::uint64_t stream, std::int64_t n) {
  return {random::detail::Key(seed_of(seed, stream)), 0, n};
}

/// Returns the place of each row of this rank among all: in order, or at random.
std::vector<std::int64_t> places(const Layout& layout, const Communicator& comm, std::optional<std::uint64_t> seed) {
  auto place = row_numbers(layout, comm);
  if (seed)
    shuffled(*seed, 0, layout.shape()[0])
        .inverse_at(layout.split() ? layout.offset(comm.rank()) : 0, std::ssize(place), place.data());
  return place;
}

/// Contiguous folds of `sizes` places: the fold of each place.
class Folds {
 public:
  explicit Folds(std::span<const std::int64_t> sizes) : ends_(sizes.size()) {
    std::partial_sum(sizes.begin(), sizes.end(), ends_.begin());
  }
  [[nodiscard]] std::int64_t of(std::int64_t place) const {
    return std::ranges::upper_bound(ends_, place) - ends_.begin();
  }

 private:
  std::vector<std::int64_t> ends_;
};

/// Returns the places of this rank's rows among all rows of their label: in order, or at random.
std::vector<std::int64_t> places(const Strata& strata, std::optional<std::uint64_t> seed) {
  auto place = strata.position;
  if (!seed) return place;
  std::vector<Bijection> of_label;
  for (std::size_t c = 0; c < strata.sizes.size(); ++c) of_label.push_back(shuffled(*seed, c, strata.sizes[c]));
  for (std::size_t i = 0; i < place.size(); ++i)
    place[i] = of_label[static_cast<std::size_t>(strata.label[i])].inverse(place[i]);
  return place;
}

/// Returns how many rows of each label are in each fold: rows sorted by label are dealt to the folds in turn.
std::vector<Folds> dealt(const Strata& strata, std::int64_t splits) {
  std::vector<std::optional<Folds>> of_label(strata.sizes.size());
  std::int64_t first = 0;
  for (const auto c : strata.appearance) {
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(splits), 0);
    for (std::int64_t f = 0; f < splits; ++f) {
      const auto up_to = [&](std::int64_t n) { return (n + splits - 1 - f) / splits; };  // counts f, f + splits, ...
      sizes[static_cast<std::size_t>(f)] = up_to(first + strata.sizes[c]) - up_to(first);
    }
    of_label[c].emplace(sizes);
    first += strata.sizes[c];
  }
  std::vector<Folds> all;
  for (auto& folds_of_label : of_label) all.push_back(*std::move(folds_of_label));
  return all;
}

/// Returns test rows of each label, `tests` in total: shares rounded down, then one more by largest remainder.
std::vector<std::int64_t> shares(const std::vector<std::int64_t>& sizes, std::int64_t tests, std::int64_t rows) {
  std::vector<std::int64_t> share(sizes.size());
  std::vector<double> rest(sizes.size());
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (const auto c : order) {
    const auto exact = static_cast<double>(sizes[c]) * static_cast<double>(tests) / static_cast<double>(rows);
    share[c] = static_cast<std::int64_t>(exact);
    rest[c] = exact - std::floor(exact);
  }
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t c) { return rest[c]; });
  auto left = tests - std::accumulate(share.begin(), share.end(), std::int64_t{0});
  for (std::size_t i = 0; left > 0; ++i, --left) ++share[order[i]];
  return share;
}

/// The numbers of training rows and test rows.
struct SplitSizes {
  std::int64_t trains, tests;
};

/// Returns a number of rows: the given one, or a share of all rows, rounded by `round`.
std::int64_t rows_of(const RowCount& count, std::int64_t rows, double (*round)(double)) {
  if (const auto* number = std::get_if<std::int64_t>(&count)) return *number;
  const auto share = std::get<double>(count);
  return share > 0 && share < 1 ? static_cast<std::int64_t>(round(share * static_cast<double>(rows))) : 0;
}

std::string text_of(const std::optional<RowCount>& count) {
  if (!count) return "none";
  return std::visit([](auto value) { return detail::formatted("{}", value); }, *count);
}

SplitSizes sizes_of_split(const char* op, const SplitOptions& options, std::int64_t rows) {
  const auto& test = options.test_size;
  const auto& train = options.train_size;
  SplitSizes sizes{};
  if (train) sizes.trains = rows_of(*train, rows, [](double x) { return std::floor(x); });
  if (test || !train) sizes.tests = rows_of(test.value_or(RowCount(0.25)), rows, [](double x) { return std::ceil(x); });
  if (!train) sizes.trains = rows - sizes.tests;
  else if (!test) sizes.tests = rows - sizes.trains;
  if (sizes.tests < 1 || sizes.trains < 1 || sizes.tests > rows - sizes.trains)
    detail::raise<ValueError>(op,
                              "got {} rows, a share or number of {} for tests and of {} for training; expected shares "
                              "between 0 and 1, or numbers, that leave rows for both",
                              rows, text_of(test), text_of(train));
  return sizes;
}

Fold stratified_masks(const char* op, const DNDarray& x, const SplitSizes& sizes, const SplitOptions& options) {
  const auto layout = samples_of(op, x);
  if (!options.shuffle || options.stratify->shape() != layout.shape())
    detail::raise<ValueError>(op,
                              "got labels of shape {} for {} rows, shuffled: {}; expected one for each, and a shuffle",
                              to_string(options.stratify->shape()), x.shape()[0], options.shuffle);
  const Strata strata(
      op, detail::wrap(detail::relayout_operand(op, *options.stratify, layout, x.comm()), layout, x.comm()));
  const auto least = *std::ranges::min_element(strata.sizes);
  if (least < 2) detail::raise<ValueError>(op, "got a label with one row; expected at least two of each");
  const auto tests = shares(strata.sizes, sizes.tests, x.shape()[0]);
  auto left = strata.sizes;
  for (std::size_t c = 0; c < left.size(); ++c) left[c] -= tests[c];
  const auto trains = shares(left, sizes.trains, x.shape()[0] - sizes.tests);
  const auto place = places(strata, options.seed);
  const auto between = [&](bool test) {
    return [&, test](std::int64_t i) {
      const auto at = static_cast<std::size_t>(i), c = static_cast<std::size_t>(strata.label[at]);
      return test ? place[at] < tests[c] : place[at] >= tests[c] && place[at] < tests[c] + trains[c];
    };
  };
  return {mask_of(layout, x.comm(), between(false)), mask_of(layout, x.comm(), between(true))};
}

}  // namespace

std::vector<Fold> KFold::split(const DNDarray& x) const {
  constexpr auto op = "KFold.split";
  const auto layout = samples_of(op, x);
  const auto n = layout.shape()[0], splits = options_.n_splits;
  check_splits(op, splits, n);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(splits), n / splits);
  for (std::int64_t f = 0; f < n % splits; ++f) ++sizes[static_cast<std::size_t>(f)];
  auto fold_of = places(layout, x.comm(), options_.shuffle ? std::optional(options_.seed) : std::nullopt);
  std::ranges::transform(fold_of, fold_of.begin(), [of = Folds(sizes)](std::int64_t place) { return of.of(place); });
  return folds_by(fold_of, splits, layout, x.comm());
}

std::vector<Fold> StratifiedKFold::split(const DNDarray& y) const {
  constexpr auto op = "StratifiedKFold.split";
  check_splits(op, options_.n_splits, samples_of(op, y).shape()[0]);
  const Strata strata(op, y);
  const auto [least, most] = std::ranges::minmax(strata.sizes);
  if (most < options_.n_splits)
    detail::raise<ValueError>(op, "got labels of at most {} rows for {} splits; expected at least one row for each",
                              most, options_.n_splits);
  if (least < options_.n_splits)
    log(LogLevel::warning,
        detail::formatted("[{}] got a label with {} rows for {} splits: some splits have no row of it for tests", op,
                          least, options_.n_splits));
  const auto of_label = dealt(strata, options_.n_splits);
  auto fold_of = places(strata, options_.shuffle ? std::optional(options_.seed) : std::nullopt);
  for (std::size_t i = 0; i < fold_of.size(); ++i)
    fold_of[i] = of_label[static_cast<std::size_t>(strata.label[i])].of(fold_of[i]);
  return folds_by(fold_of, options_.n_splits, y.layout(), y.comm());
}

Fold train_test_masks(const DNDarray& x, const SplitOptions& options) {
  constexpr auto op = "train_test_split";
  const auto layout = samples_of(op, x);
  const auto [trains, tests] = sizes_of_split(op, options, layout.shape()[0]);
  if (options.stratify) return stratified_masks(op, x, {trains, tests}, options);
  const auto place = places(layout, x.comm(), options.shuffle ? std::optional(options.seed) : std::nullopt);
  // Without a shuffle, test rows follow the training rows.
  const auto first_train = options.shuffle ? tests : 0, first_test = options.shuffle ? 0 : trains;
  const auto between = [&](std::int64_t first, std::int64_t count) {
    return mask_of(layout, x.comm(), [&, first, count](std::int64_t i) {
      const auto at = place[static_cast<std::size_t>(i)];
      return at >= first && at < first + count;
    });
  };
  return {between(first_train, trains), between(first_test, tests)};
}

TrainTest train_test_split(const DNDarray& x, const DNDarray& y, const SplitOptions& options) {
  constexpr auto op = "train_test_split";
  const auto of_y = samples_of(op, y);
  if (samples_of(op, x).shape() != of_y.shape())
    detail::raise<ValueError>(op, "got {} rows and {} targets; expected as many", x.shape()[0], y.shape()[0]);
  const auto [train, test] = train_test_masks(x, options);
  const auto beside = [&](const DNDarray& mask) { return detail::brought_to(mask, of_y); };
  return {x.index({train}), x.index({test}), y.index({beside(train)}), y.index({beside(test)})};
}

Fold train_test_split(const DNDarray& x, const SplitOptions& options) {
  const auto [train, test] = train_test_masks(x, options);
  return {x.index({train}), x.index({test})};
}

}  // namespace heatpp
