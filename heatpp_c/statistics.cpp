#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ops/reductions/moments.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/statistics/histogram.hpp>
#include <heatpp/ops/statistics/order.hpp>
#include <heatpp_c/detail/handles.hpp>

#include <algorithm>

using namespace heatpp::c;  // NOLINT: what the functions below are made of
using heatpp::Axes;
using heatpp::DNDarray;

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
      heatpp::detail::raise<heatpp::ValueError>(op, "got reduction {}; expected 0 (HT_SUM) to {} (HT_STD)", reduction,
                                                static_cast<int>(HT_STD));
  }
}

}  // namespace

int ht_reduce(const ht_array* x, int reduction, int axis, ht_array** result) {
  return made("ht_reduce", result, [&] {
    const auto axes = axis == HT_ALL_AXES ? Axes(std::nullopt) : Axes(axis);
    return reduced("ht_reduce", given("ht_reduce", "x", x).value, reduction, axes);
  });
}

int ht_number(const ht_array* x, int reduction, double* value) {
  return status_of([&] {
    auto& to = given("ht_number", "value", value);
    to = reduced("ht_number", given("ht_number", "x", x).value, reduction, std::nullopt).item<double>();
  });
}

int ht_percentiles(const ht_array* x, int count, const double* q, double* values) {
  return status_of([&] {
    if (count <= 0) return;
    const std::vector<double> wanted(&given("ht_percentiles", "q", q), q + count);
    const auto found = heatpp::percentile(given("ht_percentiles", "x", x).value, wanted).astype(heatpp::float64);
    std::ranges::copy(found.to_vector<double>(), &given("ht_percentiles", "values", values));
  });
}

int ht_histogram(const ht_array* x, int64_t bins, double first, double last, int64_t* counts) {
  return status_of([&] {
    const auto [found, edges] =
        heatpp::histogram(given("ht_histogram", "x", x).value, {.bins = bins, .range = {first, last}});
    std::ranges::copy(found.to_vector<std::int64_t>(), &given("ht_histogram", "counts", counts));
  });
}
