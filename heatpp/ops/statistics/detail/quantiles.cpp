#include <heatpp/ops/statistics/detail/quantiles.hpp>

#include <heatpp/ops/sorting/detail/select.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace heatpp::detail {

bool picks(const Quantiles& wanted) {
  using enum Interpolation;
  constexpr Interpolation picking[] = {lower, higher, nearest, inverted_cdf, closest_observation};
  return !wanted.median && std::ranges::find(picking, wanted.interpolation) != std::end(picking);
}

namespace {

/// The place of a quantile among sorted elements: `weight` of the way from the element at `low` to that at `high`.
struct Place {
  std::int64_t low = 0, high = 0;
  double weight = 0;
};

/// Returns an element, or the nearest end.
Place element(double exact, double last) {
  const auto position = static_cast<std::int64_t>(std::clamp(exact, 0.0, last));
  return {position, position, 0};
}

/// Interpolates between the elements next to `exact`, with the weight that `fixed` makes of its fraction.
template <class Fixed>
Place neighbours(double exact, double last, Fixed fixed) {
  if (!(exact >= 0 && exact < last)) return element(exact, last);
  const auto low = std::floor(exact);
  return {static_cast<std::int64_t>(low), static_cast<std::int64_t>(low) + 1, fixed(exact - low)};
}
Place neighbours(double exact, double last) {
  return neighbours(exact, last, [](double fraction) { return fraction; });
}

/// Returns Hyndman and Fan's continuous estimates.
Place estimated(double q, double n, double alpha, double beta) {
  return neighbours(n * q + (alpha + q * (1 - alpha - beta)) - 1, n - 1);
}

/// Returns the element before `exact` if it is there and `stay` holds, else the next.
Place stepped(double exact, double last, bool stay) {
  const auto low = std::floor(exact);
  return element(exact == low && stay ? low : low + 1, last);
}

Place place_of(double q, std::int64_t count, Interpolation interpolation) {
  const auto n = static_cast<double>(count), last = n - 1, exact = q * last;
  switch (interpolation) {
    case Interpolation::linear: return neighbours(exact, last);
    case Interpolation::lower: return element(std::floor(exact), last);
    case Interpolation::higher: return element(std::ceil(exact), last);
    case Interpolation::nearest: return element(std::nearbyint(exact), last);
    case Interpolation::midpoint: return neighbours((std::floor(exact) + std::ceil(exact)) / 2, last);
    case Interpolation::inverted_cdf: return stepped(n * q - 1, last, true);
    case Interpolation::averaged_inverted_cdf:
      return neighbours(n * q - 1, last, [](double fraction) { return fraction == 0 ? 0.5 : 1.0; });
    case Interpolation::closest_observation: {
      const auto place = n * q - 1.5;
      return stepped(place, last, std::fmod(std::floor(place), 2) == 1);
    }
    case Interpolation::interpolated_inverted_cdf: return estimated(q, n, 0, 1);
    case Interpolation::hazen: return estimated(q, n, 0.5, 0.5);
    case Interpolation::weibull: return estimated(q, n, 0, 0);
    case Interpolation::median_unbiased: return estimated(q, n, 1 / 3.0, 1 / 3.0);
    case Interpolation::normal_unbiased: return estimated(q, n, 3 / 8.0, 3 / 8.0);
  }
  return {};
}

/// Interpolates as NumPy, where infinities give NaN.
double between(double a, double b, double weight) {
  return weight < 0.5 ? a + (b - a) * weight : b - (b - a) * (1 - weight);
}

/// Counts the elements of each line, over all ranks, that take part.
template <class T>
std::vector<std::int64_t> counts_of(const at::Tensor& lines, std::int64_t n, bool skip_nan, const Communicator& comm) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(lines.size(0)), n);
  if constexpr (std::is_floating_point_v<T>) {
    if (!skip_nan) return counts;
    const auto rows = lines.size(1);
    const auto* in = lines.const_data_ptr<T>();
    for (auto& count : counts) {
      count = std::count_if(in, in + rows, [](T value) { return value == value; });
      in += rows;
    }
    comm.allreduce(counts);
  }
  return counts;
}

template <class T, class Result>
at::Tensor interpolated(const at::Tensor& lines, std::int64_t n, const Quantiles& wanted, const Communicator& comm) {
  const auto columns = lines.size(0);
  const auto counts = counts_of<T>(lines, n, wanted.skip_nan, comm);
  const auto each = 2 * wanted.q.size() + 1;  // positions of a column: both sides of the places, and the last
  std::vector<Place> places;
  std::vector<std::int64_t> positions;
  for (const auto count : counts) {
    for (const auto q : wanted.q) {
      const auto size = std::max<std::int64_t>(1, count);
      places.push_back(wanted.median ? Place{(size - 1) / 2, size / 2, 0} : place_of(q, size, wanted.interpolation));
      positions.insert(positions.end(), {places.back().low, places.back().high});
    }
    positions.push_back(std::max<std::int64_t>(1, count) - 1);
    std::sort(positions.end() - static_cast<std::ptrdiff_t>(each), positions.end());
  }
  constexpr auto missing = std::numeric_limits<Result>::quiet_NaN();  // whole numbers are never missing
  at::Tensor result = at::full({std::ssize(wanted.q), columns}, missing, c10::CppTypeToScalarType<Result>::value);
  if (n == 0 || wanted.q.empty()) return result;

  const bool picked = picks(wanted);
  const auto found = select_in_columns(lines.const_data_ptr<T>(), lines.size(1), columns, n, positions, comm);
  auto* out = result.template data_ptr<Result>();
  for (std::size_t c = 0; c < counts.size(); ++c) {
    const auto first = positions.begin() + static_cast<std::ptrdiff_t>(c * each);
    const auto element = [&](std::int64_t position) {
      const auto p = std::lower_bound(first, first + static_cast<std::ptrdiff_t>(each), position) - first;
      return found[c * each + static_cast<std::size_t>(p)];
    };
    const auto number = [&](std::int64_t position) { return static_cast<double>(element(position)); };
    if (counts[c] == 0 || std::isnan(number(counts[c] - 1))) continue;
    for (std::size_t i = 0; i < wanted.q.size(); ++i) {
      const auto& place = places[c * wanted.q.size() + i];
      auto& value = out[i * counts.size() + c];
      if (picked) value = static_cast<Result>(element(place.low));
      else if (wanted.median) value = static_cast<Result>(number(place.low) / 2 + number(place.high) / 2);
      else value = static_cast<Result>(between(number(place.low), number(place.high), place.weight));
    }
  }
  return result;
}

}  // namespace

at::Tensor quantiles_of(const at::Tensor& lines, std::int64_t n, const Quantiles& wanted, const Communicator& comm) {
  switch (lines.scalar_type()) {
    case at::kDouble: return interpolated<double, double>(lines, n, wanted, comm);
    case at::kLong:  // float64 does not hold all int64
      return picks(wanted) ? interpolated<std::int64_t, std::int64_t>(lines, n, wanted, comm)
                           : interpolated<std::int64_t, double>(lines, n, wanted, comm);
    case at::kFloat: return interpolated<float, double>(lines, n, wanted, comm);
    case at::kByte: return interpolated<std::uint8_t, double>(lines, n, wanted, comm);
    case at::kChar: return interpolated<std::int8_t, double>(lines, n, wanted, comm);
    case at::kShort: return interpolated<std::int16_t, double>(lines, n, wanted, comm);
    default: return interpolated<std::int32_t, double>(lines, n, wanted, comm);
  }
}

}  // namespace heatpp::detail
