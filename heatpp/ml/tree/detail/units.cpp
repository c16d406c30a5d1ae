#include <heatpp/ml/tree/detail/units.hpp>

#include <heatpp/comm/detail/raise.hpp>

namespace heatpp::ml::detail {
namespace {

int bits_of(std::int64_t rows) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(rows))); }

std::span<const double> numbers_of(const at::Tensor& column) {
  return {column.const_data_ptr<double>(), static_cast<std::size_t>(column.numel())};
}

}  // namespace

Units units_for(std::int64_t rows, double total_weight, double largest_weight, double largest_gradient) {
  constexpr int fine = 24;  // bits of a usual weight, unless too many rows are added together
  constexpr int fewest = 10, most = 15;
  const auto ratio = total_weight > 0 ? largest_weight * static_cast<double>(rows) / total_weight : 1;
  const int spread = ratio > 1 ? std::ilogb(ratio) : 0;
  Units units;
  units.together = std::min(bits_of(rows), std::clamp((61 - fine - spread) / 2, fewest, most));
  units.shift = 62 - units.together;
  const int of_row = std::min(50, units.shift - units.together - 1);
  units.weight = std::max(unit_of(total_weight, 61), unit_of(largest_weight, of_row));
  units.gradient = unit_of(largest_gradient, std::min(50, 61 - bits_of(rows)));
  return units;
}

ForestUnits forest_units(const ForestNumbers& numbers) {
  const int bits = bits_of(numbers.rows), shift = std::min(50, 62 - bits);
  const auto total = numbers.times * numbers.total;
  ForestUnits units{.classes = numbers.classes};
  units.gradient = unit_of(numbers.times * numbers.largest, std::min(50, 61 - bits));
  units.weight = unit_of(total, shift - 1);
  constexpr double fine = 0x1p-20;  // of the mean weight
  const auto mean = numbers.total / static_cast<double>(numbers.rows);
  if (units.weight <= (numbers.weighted ? fine * mean : mean)) units.shift = shift;
  else units.weight = unit_of(total, 61);
  return units;
}

std::vector<double> exact_sums(const char* op, const Rows& rows, const std::vector<at::Tensor>& columns) {
  const auto count = columns.size();
  Totals largest(count + 1, ReduceOp::max);
  auto own = largest.of(0);
  for (std::size_t c = 0; c < count; ++c) {
    own[c] = 0;
    for (const auto x : numbers_of(columns[c])) {
      own[c] = std::max(own[c], std::abs(x));
      if (!std::isfinite(x)) own[count] = 1;
    }
  }
  const auto most = largest.over_ranks(rows);
  if (most[count] > 0) heatpp::detail::raise<ValueError>(op, "got targets that are not finite; expected finite ones");
  const int bits = std::min(50, 61 - bits_of(rows.size()));
  std::vector<std::int64_t> sums(2 * count, 0);
  const auto fine = [&](double unit) { return std::max(std::numeric_limits<double>::min(), std::ldexp(unit, -bits)); };
  for (std::size_t c = 0; c < count; ++c) {
    const auto unit = unit_of(most[c], bits), rest = fine(unit);
    for (const auto x : numbers_of(columns[c])) {
      const auto whole = nearest(x / unit);
      sums[2 * c] += whole;
      sums[2 * c + 1] += nearest((x - static_cast<double>(whole) * unit) / rest);
    }
  }
  if (rows.distributed()) rows.comm().allreduce(sums);
  std::vector<double> result;
  for (std::size_t c = 0; c < count; ++c) {
    const auto unit = unit_of(most[c], bits);
    result.push_back(unit * static_cast<double>(sums[2 * c]) + fine(unit) * static_cast<double>(sums[2 * c + 1]));
  }
  return result;
}

}  // namespace heatpp::ml::detail
