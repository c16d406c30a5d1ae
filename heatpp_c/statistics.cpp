#include <fmt/ranges.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/alike.hpp>
#include <heatpp/ops/reductions/moments.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/statistics/histogram.hpp>
#include <heatpp/ops/statistics/order.hpp>
#include <heatpp_c/detail/handles.hpp>

#include <algorithm>

using namespace heatpp::c;  // NOLINT: what the functions below are made of
using heatpp::Axes;
using heatpp::DNDarray;
using heatpp::ValueError;
using heatpp::detail::check_agreed;
using heatpp::detail::formatted;
using heatpp::detail::raise;

namespace {

DNDarray reduced(const char* op, const DNDarray& x, int reduction, const Axes& axis) {
  switch (reduction) {
    case HT_SUM: return heatpp::sum(x, {.axis = axis});
    case HT_PROD: return heatpp::prod(x, {.axis = axis});
    case HT_MIN: return heatpp::min(x, {.axis = axis});
    case HT_MAX: return heatpp::max(x, {.axis = axis});
    case HT_MEAN: return heatpp::mean(x, {.axis = axis});
    case HT_VAR: return heatpp::var(x, {.axis = axis});
    case HT_STD: return heatpp::std(x, {.axis = axis});
    default:
      raise<ValueError>(op, "got reduction {}; expected 0 (HT_SUM) to {} (HT_STD)", reduction,
                        static_cast<int>(HT_STD));
  }
}

std::string text_of(const std::vector<double>& numbers) { return formatted("{}", fmt::join(numbers, ", ")); }

/// Returns the percentages of a rank; none for a count below 0 or no memory, which have errors of their own.
std::vector<double> wanted_of(int count, const double* q) {
  return q && count > 0 ? std::vector(q, q + count) : std::vector<double>();
}

}  // namespace

int ht_reduce(const ht_array* x, int reduction, int axis, ht_array** result) {
  constexpr auto op = "ht_reduce";
  return status_of([&] {
    const auto& value = given(op, "x", x).value;
    const bool all = axis == HT_ALL_AXES;
    check_agreed(op, value.comm(),
                 {{"reduction", std::to_string(reduction)}, {"axis", all ? "HT_ALL_AXES" : std::to_string(axis)}},
                 [&] { check_given(op, "result", result); });
    *result = new ht_array{reduced(op, value, reduction, all ? Axes(std::nullopt) : Axes(axis))};
  });
}

int ht_number(const ht_array* x, int reduction, double* value) {
  constexpr auto op = "ht_number";
  return status_of([&] {
    const auto& array = given(op, "x", x).value;
    check_agreed(op, array.comm(), {{"reduction", std::to_string(reduction)}},
                 [&] { check_given(op, "value", value); });
    *value = reduced(op, array, reduction, std::nullopt).item<double>();
  });
}

int ht_percentiles(const ht_array* x, int count, const double* q, double* values) {
  constexpr auto op = "ht_percentiles";
  return status_of([&] {
    const auto& value = given(op, "x", x).value;
    const auto wanted = wanted_of(count, q);
    check_agreed(op, value.comm(), {{"count", std::to_string(count)}, {"q", text_of(wanted)}}, [&] {
      if (count < 0) raise<ValueError>(op, "got a count of {}; expected 0 or more", count);
      if (count == 0) return;
      check_given(op, "q", q);
      check_given(op, "values", values);
    });
    if (count == 0) return;
    std::ranges::copy(heatpp::percentile(value, wanted).astype(heatpp::float64).to_vector<double>(), values);
  });
}

int ht_histogram(const ht_array* x, int64_t bins, double first, double last, int64_t* counts) {
  constexpr auto op = "ht_histogram";
  return status_of([&] {
    const auto& value = given(op, "x", x).value;
    check_agreed(op, value.comm(), {{"bins", std::to_string(bins)}, {"the range", text_of({first, last})}},
                 [&] { check_given(op, "counts", counts); });
    const auto [found, edges] = heatpp::histogram(value, {.bins = bins, .range = {first, last}});
    std::ranges::copy(found.to_vector<std::int64_t>(), counts);
  });
}
