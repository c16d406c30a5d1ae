// Elementwise functions, reductions and scans.
#include "../check.hpp"
#include "../data.hpp"
#include "../workload.hpp"

namespace bench {
namespace {

Prepared chain() {
  const ht::Shape shape{20'000'000};
  return timed(
      [a = generate<uniform>(11, shape), b = generate<uniform>(12, shape), c = generate<uniform>(13, shape)] {
        return ht::sum(ht::sqrt(a * a + b * b) * c - a / (b * b + 1)).item<float>();
      },
      [](float sum) { return std::vector<double>{sum}; });
}

Prepared cumsum() {
  return timed([x = generate<normal>(76, {20'000'000})] { return ht::cumsum(x, 0); }, check_sums);
}

Prepared argmax() {
  return timed([x = generate<normal>(76, {20'000'000})] { return ht::argmax(x); },
               [](const auto& y) { return check_values({y}); });
}

/// A thousand sums of a few elements: what a call costs.
Prepared latency() {
  return timed(
      [x = generate<uniform>(11, {100})] {
        for (int i = 1; i < 1000; ++i) static_cast<void>(ht::sum(x));
        return ht::sum(x);
      },
      [](const auto& y) { return check_values({y}); });
}

}  // namespace

std::vector<Workload> arithmetic_workloads() {
  return {{"chain", "operators", chain},
          {"cumsum", "cumsum", cumsum},
          {"argmax", "argmax", argmax},
          {"latency", "sum", latency}};
}

}  // namespace bench
