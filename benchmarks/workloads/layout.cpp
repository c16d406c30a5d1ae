// Moving elements: between ranks, and into smaller arrays.
#include "../check.hpp"
#include "../data.hpp"
#include "../workload.hpp"

namespace bench {
namespace {

template <int From, int To>
Prepared resplit() {
  return timed([x = generate<normal>(64, {8000, 8000}, From)] { return ht::resplit(x, To); }, check_sums);
}

Prepared mask() {
  return timed([x = generate<normal>(71, {10'000'000})] { return x(x > 0); }, check_sums);
}

Prepared fancy() {
  return timed([x = generate<normal>(71, {10'000'000}), at = generate<position>(121, {1'000'000})] { return x(at); },
               check_sums);
}

}  // namespace

std::vector<Workload> layout_workloads() {
  return {{"resplit01", "resplit", resplit<0, 1>},
          {"resplit10", "resplit", resplit<1, 0>},
          {"mask", "index", mask},
          {"fancy", "index", fancy}};
}

}  // namespace bench
