// Elementwise functions, reductions and scans.
#include "../check.hpp"
#include "../data.hpp"
#include "../workload.hpp"

#include <heatpp/core/detail/simd.hpp>

#include <bit>
#include <span>
#include <stdexcept>
#include <utility>

#include <heatpp/ops/elementwise/reduce_expression.hpp>
#include <heatpp/random/random.hpp>

#include <cmath>

namespace bench {
namespace {

/// Times f(a, b, c) and the sum over all elements. The arrays are copies, so that nobody has their elements' addresses.
template <class F>
Prepared chain(F f) {
  const ht::Shape shape{20'000'000};
  return timed([f, a = ht::copy(generate<uniform>(11, shape)), b = ht::copy(generate<uniform>(12, shape)),
                c = ht::copy(generate<uniform>(13, shape))] { return f(a, b, c); },
               [](double sum) { return std::vector<double>{sum}; });
}

Prepared chain_operators() {
  return chain([](const auto& a, const auto& b, const auto& c) {
    return ht::sum(ht::sqrt(a * a + b * b) * c - a / (b * b + 1)).template item<double>();
  });
}

Prepared chain_map() {
  return chain([](const auto& a, const auto& b, const auto& c) {
    return ht::map_reduce<ht::ReduceOp::sum>(
        [](float x, float y, float z) { return std::sqrt(x * x + y * y) * z - x / (y * y + 1); }, a, b, c);
  });
}

Prepared chain_xtensor() {
  return chain([](const auto& a, const auto& b, const auto& c) {
    const auto x = ht::as_xtensor<float>(a), y = ht::as_xtensor<float>(b), z = ht::as_xtensor<float>(c);
    return ht::reduce_expression<ht::ReduceOp::sum>(xt::sqrt(x * x + y * y) * z - x / (y * y + 1.0f), a);
  });
}

Prepared cumsum() {
  return timed([x = generate<normal>(76, {20'000'000})] { return ht::cumsum(x, 0); }, check_sums);
}

Prepared argmax() {
  return timed([x = generate<normal>(76, {20'000'000})] { return ht::argmax(x); },
               [](const auto& y) { return check_values({y}); });
}

HEATPP_SIMD std::uint32_t sum_of_words(std::span<const float> data) {
  std::uint32_t sum = 0;
  for (const auto x : data) sum += std::bit_cast<std::uint32_t>(x);
  return sum;
}

/// Measures the limit of f, argmax or sum: a loop that reads the block once.
template <class F>
Prepared bare_read(const ht::DNDarray& x, F f) {
  return timed([x] { return sum_of_words(std::as_const(x).local<float>()); },
               [x, f](std::uint32_t sum) {
                 for (const auto v : std::as_const(x).local<float>()) sum -= std::bit_cast<std::uint32_t>(v);
                 if (sum != 0) throw std::runtime_error("bare read: not all was read");
                 return check_values({f(x)});
               });
}
Prepared bare_read_for_argmax() {
  return bare_read(generate<normal>(76, {20'000'000}), [](const auto& x) { return ht::argmax(x); });
}

/// Checked by its mean and mean square.
Prepared randn() {
  return timed([] { return ht::random::randn({50'000'000}, {.split = 0}); },
               [](const auto& x) {
                 const auto n = static_cast<double>(x.size());
                 const auto sum = ht::map_reduce<ht::ReduceOp::sum>([](float v) { return v; }, x);
                 const auto squares = ht::map_reduce<ht::ReduceOp::sum>([](float v) { return v * v; }, x);
                 return std::vector<double>{sum / n, squares / n};
               });
}

Prepared conv1d() {
  return timed(
      [x = generate<normal>(71, {10'000'000}), kernel = generate<uniform>(131, {65}, std::nullopt)] {
        return ht::convolve(x, kernel, {.mode = ht::ConvolveMode::same});
      },
      check_sums);
}

ht::DNDarray hundred_million() { return generate<uniform>(11, {100'000'000}); }

Prepared bare_read_for_sum() {
  return bare_read(hundred_million(), [](const auto& x) { return ht::sum(x); });
}

Prepared sum() {
  return timed([x = hundred_million()] { return ht::sum(x); }, [](const auto& y) { return check_values({y}); });
}

/// Measures an exact sum, rounded once.
Prepared reproducible_sum() {
  return timed([x = hundred_million()] { return ht::sum(x, {.reproducible = true}); },
               [](const auto& y) { return check_values({y}); });
}

Prepared reproducible_dot() {
  return timed([x = hundred_million()] { return ht::vdot(x, x, {.reproducible = true}); },
               [](const auto& y) { return check_values({y}); });
}

Prepared dot() {
  return timed([x = hundred_million()] { return ht::vdot(x, x); }, [](const auto& y) { return check_values({y}); });
}

/// Measures a thousand sums of a few elements: the cost of a call.
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
  return {{"chain", "operators", chain_operators},
          {"chain", "map", chain_map},
          {"chain", "xtensor", chain_xtensor},
          {"randn", "randn", randn},
          {"conv1d", "convolve", conv1d},
          {"cumsum", "cumsum", cumsum},
          {"argmax", "argmax", argmax},
          {"argmax", "bare read", bare_read_for_argmax},
          {"sum", "sum", sum},
          {"sum", "bare read", bare_read_for_sum},
          {"sum", "reproducible", reproducible_sum},
          {"dot", "vdot", dot},
          {"dot", "reproducible", reproducible_dot},
          {"latency", "sum", latency}};
}

}  // namespace bench
