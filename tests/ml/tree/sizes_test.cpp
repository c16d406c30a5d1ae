#include "../data.hpp"

#include <heatpp/ml/tree/detail/boosted_tree.hpp>
#include <heatpp/ml/tree/detail/forest_fit.hpp>
#include <heatpp/ml/tree/detail/forest_growth.hpp>
#include <heatpp/ml/tree/detail/sampling/feature_keys.hpp>
#include <heatpp/ml/tree/hist_gradient_boosting.hpp>

namespace {

using namespace heatpp::ml::detail;

/// Returns the layout of this many rows over the ranks, without holding them.
ht::Layout shared(std::int64_t rows) { return {{rows}, 0, ht::world().size()}; }

std::uint64_t hash(std::uint64_t row) {
  auto bits = row * 0x9E3779B97F4A7C15U;
  bits = (bits ^ (bits >> 29)) * 0xBF58476D1CE4E5B9U;
  return bits ^ (bits >> 32);
}

/// Rows of one feature, a whole number below 250, and labels of which few are 1.
struct RareClass {
  at::Tensor x, y;
  RareClass(std::int64_t rows, double below, double above) {
    const auto mine = shared(rows);
    const auto first = mine.offset(ht::world().rank()), count = mine.local_shape(ht::world().rank())[0];
    x = at::empty({count, 1}, at::kFloat);
    y = at::empty({count}, at::kByte);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto row = static_cast<std::uint64_t>(first + i);
      const auto value = hash(2 * row) % 250;
      const auto chance = static_cast<double>(hash(2 * row + 1) >> 11) * 0x1p-53;
      x.data_ptr<float>()[i] = static_cast<float>(value);
      y.data_ptr<std::uint8_t>()[i] = chance < (value < 125 ? below : above) ? 1 : 0;
    }
  }
};

/// A source that claims this many rows over all ranks, but has none.
ht::Rows claimed(std::int64_t rows, std::int64_t features) {
  struct Nothing final : ht::RowSource {
    [[nodiscard]] at::Tensor read(std::int64_t, std::int64_t) const override {
      throw std::logic_error("rows that are not there are read");
    }
  };
  return {std::make_shared<Nothing>(), ht::Layout({rows, features}, 0, ht::world().size()), ht::float32, ht::world()};
}

/// Grows the tree of these rows in these units.
Trees tree_of(const ht::Rows& rows, const ForestTask& task, const ForestUnits& units, const at::Tensor& pairs) {
  const ForestLimits limits{
      .depth = 5, .rows_to_divide = 2, .rows_of_leaf = 1, .features = rows.features(), .max_bins = 255, .seed = 0};
  const auto bins = find_bins("test", rows, 255, 0);
  const auto rows_in_bins = binned(rows, bins);
  std::vector<GrowingTree> trees;
  trees.push_back({0, {.outputs = std::max<std::int64_t>(1, task.classes)}});
  trees[0].gains.assign(static_cast<std::size_t>(rows.features()), 0.0);
  for (std::int64_t i = 0; i < rows.count(); ++i)
    trees[0].rows.emplace_back(
        static_cast<std::uint32_t>(i), 1,
        task.classes > 0 ? static_cast<std::uint32_t>(task.labels[static_cast<std::size_t>(i)]) : 0);
  std::int64_t flag = 0;
  ForestGrower({task, limits, bins, rows_in_bins, units, pairs}).grow(trees, flag);
  return trees[0].tree;
}

void check_alike(const Trees& a, const Trees& b, double tolerance) {
  REQUIRE(a.nodes.size() == b.nodes.size());
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    CHECK(a.nodes[i].feature == b.nodes[i].feature);
    CHECK(a.nodes[i].threshold == b.nodes[i].threshold);
  }
  for (std::size_t i = 0; i < a.values.size(); ++i) CHECK(a.values[i] == Approx(b.values[i]).margin(tolerance));
}

}  // namespace

// 745 rows are of the second class. Expected means are from scikit-learn 1.9.1 for these rows.
TEST_CASE("boosting learns a class that has one of 22000 rows of 2^24", "[ml][boosting][sizes]") {
  const auto n = std::int64_t{1} << 24;
  const RareClass rows(n, 8e-5, 1e-5);
  const auto x = ht::from_local(rows.x, {.split = 0}), y = ht::from_local(rows.y, {.split = 0});
  ht::HistGradientBoostingClassifier model({.learning_rate = 0.3, .max_iterations = 10, .max_leaf_nodes = 3});

  model.fit(x, y);

  const auto p = gathered(model.predict_proba(ht::from_local(at::arange(250, at::kFloat).unsqueeze(1)))).select(1, 1);
  CHECK(p.slice(0, 0, 125).mean().item<double>() == Approx(7.832212666284731e-05).epsilon(1e-3));
  CHECK(p.slice(0, 125).mean().item<double>() == Approx(1.0962569289664591e-05).epsilon(1e-3));
}

// A function makes 4 times as many rows: this takes a minute and 5 GiB, so that it runs only by name. 50125 and 3281
// rows are of the second class. Expected means are from scikit-learn 1.9.1 for these rows (as 500 different ones with
// weights): ten iterations do not quite come down from the mean rate to 1e-4.
TEST_CASE("boosting learns two rates of 2^26 rows that a function makes", "[.long][boosting][sizes]") {
  const auto n = std::int64_t{1} << 26;
  const auto mine = shared(n);
  const auto first = mine.offset(ht::world().rank()), count = mine.local_shape(ht::world().rank())[0];
  const auto value_of = [](std::int64_t row) {
    return static_cast<float>(hash(2 * static_cast<std::uint64_t>(row)) % 250);
  };
  const ht::Rows rows(count, 1,
                      [=](std::int64_t from, std::int64_t some) {
                        auto block = at::empty({some, 1}, at::kFloat);
                        for (std::int64_t i = 0; i < some; ++i) block.data_ptr<float>()[i] = value_of(first + from + i);
                        return block;
                      },
                      {.dtype = ht::float32});
  auto labels = at::empty({count}, at::kByte);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto chance = static_cast<double>(hash(2 * static_cast<std::uint64_t>(first + i) + 1) >> 11) * 0x1p-53;
    labels.data_ptr<std::uint8_t>()[i] = chance < (value_of(first + i) < 125 ? 1.5e-3 : 1e-4) ? 1 : 0;
  }
  ht::HistGradientBoostingClassifier model({.learning_rate = 0.3, .max_iterations = 10, .max_leaf_nodes = 3});

  model.fit(rows, ht::from_local(labels, {.split = 0}));

  const auto p = gathered(model.predict_proba(ht::from_local(at::arange(250, at::kFloat).unsqueeze(1)))).select(1, 1);
  CHECK(p.slice(0, 0, 125).mean().item<double>() == Approx(1.4767831819734799e-03).epsilon(1e-3));
  CHECK(p.slice(0, 125).mean().item<double>() == Approx(1.2610485483977336e-04).epsilon(1e-3));
}

TEST_CASE("more rows, features, nodes or classes than have numbers are errors that say so", "[ml][tree][sizes]") {
  const auto ranks = static_cast<std::int64_t>(ht::world().size()), most = (std::int64_t{1} << 32) - 1;
  const auto text = [](auto f) { return message_of<ht::ValueError>(f); };
  CHECK_THAT(text([&] { static_cast<void>(find_bins("fit", claimed((most + 1) * ranks, 2), 255, 0)); }),
             Catch::StartsWith("[fit] got 4294967296 rows of 2 features on a rank; expected at most 4294967295"));
  CHECK_THAT(text([&] { static_cast<void>(find_bins("fit", claimed(5, most / 256 + 1), 255, 0)); }),
             Catch::Contains("16777216 features on a rank; expected at most 4294967295 and 16777215"));
  CHECK(text([] { check_nodes((std::int64_t{1} << 31) - 1); }).empty());
  CHECK_THAT(text([] { check_nodes(std::int64_t{1} << 31); }),
             Catch::Contains("got 2147483648 nodes") && Catch::Contains("max_depth"));
  CHECK(text([] { check_classes("fit", std::int64_t{1} << 24); }).empty());
  CHECK_THAT(text([] { check_classes("fit", (std::int64_t{1} << 24) + 1); }),
             Catch::Contains("got 16777217 classes; expected at most 16777216"));
}

TEST_CASE("sums of rare derivatives are right for 2^30 rows that nobody holds", "[ml][boosting][sizes]") {
  const auto n = std::int64_t{1} << 30;
  constexpr std::int64_t every = 16;  // one row stands for this many neighboring rows
  const auto largest = GENERATE(0.25, 1e3);
  const double weight = 1e-8, gradient = 1e-9;
  const auto units = units_for(n, 0.25 * static_cast<double>(n), largest, 1);
  const auto mine = shared(n);
  std::array<std::int64_t, 2> sums{};
  const auto first = mine.offset(ht::world().rank()), last = mine.offset(ht::world().rank() + 1);
  for (auto row = (first + every - 1) / every * every; row < last; row += every) {
    const auto bits = bits_of_row(static_cast<std::uint64_t>(row) + hash(static_cast<std::uint64_t>(row)) % every);
    sums[0] += in_units(weight / units.weight, bits >> 16);
    sums[1] += in_units(gradient / units.gradient, bits);
  }
  ht::world().allreduce(sums);
  const auto share = static_cast<double>(every) / static_cast<double>(n);
  CHECK(units.weight * static_cast<double>(sums[0]) * share == Approx(weight).epsilon(0.02));
  CHECK(units.gradient * static_cast<double>(sums[1]) * share == Approx(gradient).epsilon(0.02));
  // Neither the sum of all rows nor that of one group of pairs overflows a lane.
  CHECK(0.25 * static_cast<double>(n) / units.weight < 0x1p62);
  CHECK((largest / units.weight + 1) * static_cast<double>(units.rows_together()) <= static_cast<double>(units.one()));
  CHECK(units.together + units.shift <= 62);
}

TEST_CASE("whole numbers and rows are added as they are, in any number of parts", "[ml][boosting][sizes]") {
  for (const std::int64_t row : {0, 1, 12345, 1 << 30})
    for (const double x : {0.0, 1.0, 7.0, 0x1p34}) {
      const auto bits = bits_of_row(static_cast<std::uint64_t>(row));
      CHECK(in_units(x, bits) == static_cast<std::int64_t>(x));
      CHECK(in_units(x, bits >> 16) == static_cast<std::int64_t>(x));
    }
  const std::int64_t n = 40000;  // more than one group of pairs
  const ht::Rows rows(ht::from_local(at::arange(n, at::kDouble).remainder(10).unsqueeze(1)));
  const auto bins = find_bins("test", rows, 255, 0);
  const auto units = units_for(n, static_cast<double>(n), 1, 4);
  REQUIRE(n > units.rows_together());
  std::vector<std::int64_t> pairs;
  std::vector<std::uint32_t> order;
  for (std::int64_t i = 0; i < n; ++i) {
    pairs.insert(pairs.end(),
                 {nearest(static_cast<double>(i % 3 - 1) / units.gradient), nearest(1 / units.weight) + units.one()});
    order.push_back(static_cast<std::uint32_t>(i));
  }
  const auto aligned = at::tensor(pairs, at::kLong);
  std::vector<Pair> room(10);
  std::vector<Cell> cells(10);
  sum_pairs(binned(rows, bins), bins, reinterpret_cast<const Pair*>(aligned.const_data_ptr<std::int64_t>()), units,
            order, 0, 1, room.data(), cells.data());
  for (std::size_t b = 0; b < cells.size(); ++b) {
    double gradient = 0;
    for (auto i = static_cast<std::int64_t>(b); i < n; i += 10) gradient += static_cast<double>(i % 3 - 1);
    CHECK(cells[b].rows == n / 10);
    CHECK(units.weight * static_cast<double>(cells[b].weight) == static_cast<double>(n / 10));
    CHECK(units.gradient * static_cast<double>(cells[b].gradient) == gradient);
  }
}

TEST_CASE("trees by the units of 2^30 rows and more are those of few", "[ml][forest][sizes]") {
  const auto n = std::int64_t{1} << GENERATE(30, 34, 40);
  const auto w = weights(150), targets = iris().select(1, 2).contiguous();
  const auto total = static_cast<double>(n);
  for (const auto& layout : every_layout({150, 4})) {
    const ht::Rows rows(distribute(iris(), layout));
    const auto mine = [&](const at::Tensor& all) {
      return all.slice(0, rows.first(), rows.first() + rows.count()).contiguous();
    };
    const auto label = mine(species()).to(at::kInt);
    const ForestTask task{"test", rows, 3, {label.const_data_ptr<int>(), label.const_data_ptr<int>() + label.numel()},
                          {},     {}};
    const auto tree = [&](std::int64_t count, double sum) {
      const auto units = forest_units({count, 3, 15, sum, true});
      return tree_of(rows, task, units, (mine(w) / units.weight).round().to(at::kLong));
    };
    CHECK(forest_units({n, 3, 15, total, true}).apart());
    check_alike(tree(150, w.sum().item<double>()), tree(n, total), n < (std::int64_t{1} << 40) ? 1e-6 : 1e-4);

    const ForestTask numbers{"test", rows, 0, {}, mine(targets), {}};
    const auto of_numbers = [&](std::int64_t count, double sum) {
      const auto units = forest_units({count, 0, 15, sum, false, 7});
      const auto whole = at::stack({mine(targets) / units.gradient, mine(at::ones_like(w)) / units.weight}, 1);
      return tree_of(rows, numbers, units, whole.round().to(at::kLong).contiguous());
    };
    CHECK(forest_units({n, 0, 15, total, false, 7}).apart());
    const auto few = of_numbers(150, 150), many = of_numbers(n, total);
    for (std::size_t i = 0; i < 7; ++i) CHECK(few.nodes[i].threshold == many.nodes[i].threshold);
    CHECK(few.values[0] == Approx(many.values[0]).epsilon(1e-4));
  }
}

TEST_CASE("sums of columns are exact to 2^-50 of the largest for any number of rows", "[ml][tree][sizes]") {
  for (const auto& layout : every_layout({150, 4})) {
    const ht::Rows rows(distribute(iris(), layout));
    auto column = at::full({150}, 1.0 / 3, at::kDouble);
    column[149] = 1e9;
    const auto mine = column.slice(0, rows.first(), rows.first() + rows.count()).contiguous();
    CHECK(exact_sums("test", rows, {mine})[0] - 1e9 == Approx(149.0 / 3).epsilon(1e-7));
  }
}

TEST_CASE("sampled numbers reach the ranks of their features, by ranks and by parcels", "[ml][sizes]") {
  using Keys = ht::ml::detail::FeatureKeys<std::uint32_t>;
  const auto& comm = ht::world();
  for (const std::int64_t features : {1, 2, 7}) {
    const ht::ml::detail::FeatureShares shares{features, comm.size()};
    const auto key = [](int rank, std::int64_t feature, std::int64_t i) {
      return static_cast<std::uint32_t>(0xF0000000U + 10000 * rank + 100 * feature + i);
    };
    const auto rows_of = [](int rank) { return std::int64_t{rank == 1 ? 0 : 3 + rank}; };
    Keys mine{rows_of(comm.rank()), {}};
    for (std::int64_t j = 0; j < features; ++j)
      for (std::int64_t i = 0; i < mine.rows; ++i) mine.keys.push_back(key(comm.rank(), j, i));

    for (auto found : {brought_by_ranks(mine, shares, comm), brought_by_parcels(mine, shares, comm)}) {
      std::vector<std::uint32_t> expected;
      for (auto j = shares.first(comm.rank()); j < shares.first(comm.rank() + 1); ++j) {
        CHECK(shares.owner(j) == comm.rank());
        for (int rank = 0; rank < comm.size(); ++rank)
          for (std::int64_t i = 0; i < rows_of(rank); ++i) expected.push_back(key(rank, j, i));
      }
      for (std::int64_t j = 0; j < shares.count(comm.rank()); ++j)
        std::sort(found.keys.begin() + j * found.rows, found.keys.begin() + (j + 1) * found.rows);
      CHECK(found.keys == expected);
    }
  }
}
