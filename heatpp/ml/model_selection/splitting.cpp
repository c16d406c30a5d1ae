#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/ml/detail/row_random.hpp>
#include <heatpp/ml/model_selection/detail/strata.hpp>
#include <heatpp/ml/model_selection/splitting.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/random/detail/bijection.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heatpp {
namespace {

using namespace ml::detail;
using random::detail::Bijection;

Layout samples_of(const char* op, const DNDarray& x) {
  if (x.ndim() < 1) detail::raise<ValueError>(op, "got a number; expected an array with rows");
  return x.layout().with({x.shape()[0]}, x.split() == std::optional(0) ? x.split() : std::nullopt);
}

void check_splits(const char* op, std::int64_t splits, std::int64_t rows) {
  if (splits < 2 || splits > rows)
    detail::raise<ValueError>(op, "got {} splits of {} rows; expected 2 to as many as rows", splits, rows);
}

Bijection shuffled(std::uint64_t seed, std::uint64_t stream, std::int64_t n) {
  return {random::detail::Key(seed_of(seed, stream)), 0, n};
}

/// Where each row of this rank stands among all: in their order, or at random.
std::vector<std::int64_t> places(const Layout& layout, const Communicator& comm, std::optional<std::uint64_t> seed) {
  const auto first = layout.split() ? layout.offset(comm.rank()) : 0;
  std::vector<std::int64_t> place(static_cast<std::size_t>(layout.local_shape(comm.rank())[0]));
  if (seed) shuffled(*seed, 0, layout.shape()[0]).inverse_at(first, std::ssize(place), place.data());
  else std::iota(place.begin(), place.end(), first);
  return place;
}

/// The fold of each place, of `sizes` that follow on each other.
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

template <class F>
DNDarray mask(const Layout& layout, const Communicator& comm, F is_true) {
  auto block = at::empty({layout.local_shape(comm.rank())[0]}, at::kBool);
  for (std::int64_t i = 0; i < block.numel(); ++i) block.mutable_data_ptr<bool>()[i] = is_true(i);
  return detail::wrap(block, layout, comm);
}

std::vector<Fold> folds(const std::vector<std::int64_t>& fold_of, std::int64_t splits, const Layout& layout,
                        const Communicator& comm) {
  std::vector<Fold> all;
  for (std::int64_t f = 0; f < splits; ++f) {
    const auto is_test = [&](std::int64_t i) { return fold_of[static_cast<std::size_t>(i)] == f; };
    all.push_back({mask(layout, comm, std::not_fn(is_test)), mask(layout, comm, is_test)});
  }
  return all;
}

/// Where this rank's rows stand among all of their label: in their order, or at random.
std::vector<std::int64_t> places(const Strata& strata, std::optional<std::uint64_t> seed) {
  auto place = strata.position;
  if (!seed) return place;
  std::vector<Bijection> of_label;
  for (std::size_t c = 0; c < strata.sizes.size(); ++c) of_label.push_back(shuffled(*seed, c, strata.sizes[c]));
  for (std::size_t i = 0; i < place.size(); ++i)
    place[i] = of_label[static_cast<std::size_t>(strata.label[i])].inverse(place[i]);
  return place;
}

/// How many rows of each label are in each fold: rows sorted by label are dealt to the folds in turn.
std::vector<Folds> dealt(const Strata& strata, std::int64_t splits) {
  std::vector<std::optional<Folds>> of_label(strata.sizes.size());
  std::int64_t first = 0;
  for (const auto c : strata.appearance) {
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(splits), 0);
    for (std::int64_t f = 0; f < splits; ++f) {
      const auto up_to = [&](std::int64_t n) { return (n + splits - 1 - f) / splits; };  // of f, f + splits, ...
      sizes[static_cast<std::size_t>(f)] = up_to(first + strata.sizes[c]) - up_to(first);
    }
    of_label[c].emplace(sizes);
    first += strata.sizes[c];
  }
  std::vector<Folds> all;
  for (auto& folds_of_label : of_label) all.push_back(*std::move(folds_of_label));
  return all;
}

/// Rows of each label for tests, `tests` together: shares of it rounded down, and one more by their remainders.
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

std::int64_t tests_of(const char* op, const SplitOptions& options, std::int64_t rows) {
  const auto tests = std::ceil(options.test_size * static_cast<double>(rows));
  if (!(options.test_size > 0 && options.test_size < 1) || tests < 1 || tests >= static_cast<double>(rows))
    detail::raise<ValueError>(op,
                              "got a share of {} of {} rows for tests; expected a part of 0 to 1 that leaves both rows",
                              options.test_size, rows);
  return static_cast<std::int64_t>(tests);
}

Fold stratified_masks(const char* op, const DNDarray& x, std::int64_t tests, const SplitOptions& options) {
  const auto layout = samples_of(op, x);
  if (!options.shuffle || options.stratify->shape() != layout.shape())
    detail::raise<ValueError>(op,
                              "got labels of shape {} for {} rows, shuffled: {}; expected one for each, and a shuffle",
                              to_string(options.stratify->shape()), x.shape()[0], options.shuffle);
  const Strata strata(
      op, detail::wrap(detail::relayout_operand(op, *options.stratify, layout, x.comm()), layout, x.comm()));
  const auto least = *std::ranges::min_element(strata.sizes);
  if (least < 2) detail::raise<ValueError>(op, "got a label with one row; expected two of each at least");
  const auto share = shares(strata.sizes, tests, x.shape()[0]);
  const auto place = places(strata, options.seed);
  const auto is_test = [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    return place[at] < share[static_cast<std::size_t>(strata.label[at])];
  };
  return {mask(layout, x.comm(), std::not_fn(is_test)), mask(layout, x.comm(), is_test)};
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
  return folds(fold_of, splits, layout, x.comm());
}

std::vector<Fold> StratifiedKFold::split(const DNDarray& y) const {
  constexpr auto op = "StratifiedKFold.split";
  check_splits(op, options_.n_splits, samples_of(op, y).shape()[0]);
  const Strata strata(op, y);
  const auto least = *std::ranges::min_element(strata.sizes);
  if (least < options_.n_splits)
    detail::raise<ValueError>(op, "got a label with {} rows for {} splits; expected one for each at least", least,
                              options_.n_splits);
  const auto of_label = dealt(strata, options_.n_splits);
  auto fold_of = places(strata, options_.shuffle ? std::optional(options_.seed) : std::nullopt);
  for (std::size_t i = 0; i < fold_of.size(); ++i)
    fold_of[i] = of_label[static_cast<std::size_t>(strata.label[i])].of(fold_of[i]);
  return folds(fold_of, options_.n_splits, y.layout(), y.comm());
}

Fold train_test_masks(const DNDarray& x, const SplitOptions& options) {
  constexpr auto op = "train_test_split";
  const auto layout = samples_of(op, x);
  const auto n = layout.shape()[0], tests = tests_of(op, options, n);
  if (options.stratify) return stratified_masks(op, x, tests, options);
  const auto place = places(layout, x.comm(), options.shuffle ? std::optional(options.seed) : std::nullopt);
  const auto is_test = [&](std::int64_t i) {
    const auto at = place[static_cast<std::size_t>(i)];
    return options.shuffle ? at < tests : at >= n - tests;
  };
  return {mask(layout, x.comm(), std::not_fn(is_test)), mask(layout, x.comm(), is_test)};
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
