// Moments and order statistics.
#include "../check.hpp"
#include "../data.hpp"
#include "../workload.hpp"

namespace bench {
namespace {

ht::DNDarray moments_data() {
  return generate({10'000'000, 8}, 0, [](std::uint64_t i) {
    const auto u = uniform(21, i);
    return u * u + static_cast<float>(i % 8);
  });
}

Prepared moments_at_once() {
  return timed([x = moments_data()] { return ht::moments(x, 0); },
               [](const ht::Moments& m) {
                 return check_values({m.mean, m.var, m.skew, m.kurtosis});
               });
}

Prepared moments_one_by_one() {
  return timed(
      [x = moments_data()] {
        return ht::Moments{ht::mean(x, 0), ht::var(x, 0), ht::skew(x, 0), ht::kurtosis(x, 0)};
      },
      [](const ht::Moments& m) {
        return check_values({m.mean, m.var, m.skew, m.kurtosis});
      });
}

ht::DNDarray eight_columns() {
  return generate({5'000'000, 8}, 0, [](std::uint64_t i) {
    const auto u = uniform(21, i);
    return static_cast<double>(u * u + static_cast<float>(i % 8));
  });
}

Prepared described() {
  return timed([x = eight_columns()] { return ht::describe(x, 0); },
               [](const ht::Description& d) {
                 return check_values({d.mean, d.std, d.min, d.max});
               });
}

Prepared described_one_by_one() {
  return timed(
      [x = eight_columns()] {
        return ht::Description{x.shape()[0], ht::mean(x, 0), ht::std(x, 0), ht::min(x, 0), ht::max(x, 0)};
      },
      [](const ht::Description& d) {
        return check_values({d.mean, d.std, d.min, d.max});
      });
}

ht::DNDarray ten_million() { return generate<normal>(71, {10'000'000}); }

Prepared median() {
  return timed([x = ten_million()] { return ht::median(x); }, [](const auto& y) { return check_values({y}); });
}

Prepared percentile25() {
  return timed([x = ten_million()] { return ht::percentile(x, 25); }, [](const auto& y) { return check_values({y}); });
}

Prepared sort() {
  return timed([x = ten_million()] { return ht::sort(x); }, [](const auto& y) { return check_sums(y); });
}

Prepared unique() {
  return timed([x = generate<integer>(72, {10'000'000})] { return ht::unique(x); },
               [](const auto& y) { return check_sums(y.astype(ht::float32)); });
}

}  // namespace

std::vector<Workload> statistics_workloads() {
  return {{"moments", "moments", moments_at_once},
          {"moments", "mean, var, skew, kurtosis", moments_one_by_one},
          {"describe", "describe", described},
          {"describe", "mean, std, min, max", described_one_by_one},
          {"median", "median", median},
          {"percentile25", "percentile", percentile25},
          {"sort", "sort", sort},
          {"unique", "unique", unique}};
}

}  // namespace bench
