// Counting, searching and drawing of whole numbers.
#include "../check.hpp"
#include "../data.hpp"
#include "../workload.hpp"

#include <heatpp/random/random.hpp>

namespace bench {
namespace {

std::vector<double> check_counts(const ht::DNDarray& x) { return check_sums(x.astype(ht::float64)); }

Prepared histogram() {
  return timed(
      [x = generate<normal>(71, {10'000'000})] {
        return ht::histogram(x, {.bins = 100, .range = {-4.0, 4.0}}).first;
      },
      check_counts);
}

Prepared bincount() {
  return timed([x = generate<integer>(72, {10'000'000})] { return ht::bincount(x); }, check_counts);
}

/// Equal elements keep their order.
Prepared argsort() {
  return timed([x = generate<normal>(71, {10'000'000})] { return ht::argsort(x); }, check_counts);
}

Prepared searchsorted() {
  const auto rising = generate({1'000'000}, 0, [](std::uint64_t i) { return static_cast<float>(i) * 1e-6f; });
  return timed([rising, v = generate<uniform>(122, {10'000'000})] { return ht::searchsorted(rising, v); },
               check_counts);
}

Prepared isin() {
  return timed(
      [x = generate<integer>(72, {10'000'000}), test = generate<integer>(123, {1'000})] { return ht::isin(x, test); },
      check_counts);
}

/// Checked by mean and variance.
Prepared integers() {
  return timed([] { return ht::random::integers(0, 1000, {20'000'000}, {.split = 0}); },
               [](const auto& x) {
                 return check_values({ht::mean(x), ht::var(x)});
               });
}

/// Checked by the sum of all and the mean distance from the place that each number would have in order.
Prepared permutation() {
  constexpr std::int64_t n = 10'000'000;
  return timed([] { return ht::random::permutation(n, {.split = 0}); },
               [](const auto& x) {
                 const auto moved = ht::mean(ht::abs(x - ht::arange(n, {.split = 0})));
                 return check_values({ht::sum(x), ht::max(x), moved});
               });
}

}  // namespace

std::vector<Workload> lookup_workloads() {
  return {{"histogram", "100 bins", histogram},      {"bincount", "of 10^4", bincount}, {"argsort", "stable", argsort},
          {"searchsorted", "in 10^6", searchsorted}, {"isin", "of 1000", isin},         {"integers", "int64", integers},
          {"permutation", "of 10^7", permutation}};
}

}  // namespace bench
