// Moving elements: between ranks, and to smaller arrays.
#include "../check.hpp"
#include "../data.hpp"
#include "../workload.hpp"

#include <cstring>
#include <span>

namespace bench {
namespace {

template <int From, int To>
Prepared resplit() {
  return timed([x = generate<normal>(64, {8000, 8000}, From)] { return ht::resplit(x, To); }, check_sums);
}

/// Measures the limit of resplit: each rank copies as many bytes, all of its own.
Prepared bare_copy() {
  return timed(
      [x = generate<normal>(64, {8000, 8000}, 0)] {
        auto y = ht::empty_like(x);
        const auto from = x.local<float>();
        std::memcpy(y.local<float>().data(), from.data(), from.size_bytes());
        return y;
      },
      check_sums);
}

Prepared mask() {
  return timed([x = generate<normal>(71, {10'000'000})] { return x(x > 0); }, check_sums);
}

/// Each run finds the same data.
Prepared mask_put() {
  return timed(
      [x = std::make_shared<ht::DNDarray>(generate<normal>(71, {10'000'000}))] {
        (*x)(*x > 0) = 0.5;
        return *x;
      },
      check_sums);
}

Prepared fancy() {
  return timed([x = generate<normal>(71, {10'000'000}), at = generate<position>(121, {1'000'000})] { return x(at); },
               check_sums);
}

void gather(std::span<const float> from, std::span<const std::int64_t> at, std::span<float> to) {
  constexpr std::size_t ahead = 256;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (i + ahead < at.size()) __builtin_prefetch(&from[static_cast<std::size_t>(at[i + ahead])]);
    to[i] = from[static_cast<std::size_t>(at[i])];
  }
}

/// Measures the limit of fancy: each rank takes as many elements, all of its own.
Prepared bare_gather() {
  const auto x = generate<normal>(71, {10'000'000});
  const auto at = generate<position>(121, {1'000'000}), own = at % x.lshape()[0];
  return timed(
      [x, own] {
        auto y = ht::empty({own.size()}, {.split = 0});
        gather(x.local<float>(), own.local<std::int64_t>(), y.local<float>());
        return y;
      },
      [x, at](const auto&) { return check_sums(x(at)); });
}

}  // namespace

std::vector<Workload> layout_workloads() {
  return {{"resplit01", "resplit", resplit<0, 1>}, {"resplit01", "bare copy", bare_copy},
          {"resplit10", "resplit", resplit<1, 0>}, {"mask", "index", mask},
          {"mask_put", "selection", mask_put},     {"fancy", "index", fancy},
          {"fancy", "bare gather", bare_gather}};
}

}  // namespace bench
