#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/tree/detail/units.hpp>

#include <limits>

namespace heatpp::ml::detail {

std::vector<double> exact_sums(const char* op, const Rows& rows, const std::vector<at::Tensor>& columns) {
  Totals largest(columns.size() + 1, ReduceOp::max);
  auto own = largest.of(0);
  std::size_t c = 0;
  for (const auto& column : columns) {
    own[c] = 0;
    for (const auto x : std::span(column.const_data_ptr<double>(), static_cast<std::size_t>(column.numel()))) {
      own[c] = std::max(own[c], std::abs(x));
      if (!std::isfinite(x)) own[columns.size()] = 1;
    }
    ++c;
  }
  const auto most = largest.over_ranks(rows);
  if (most[columns.size()] > 0)
    heatpp::detail::raise<ValueError>(op, "got targets that are not finite; expected finite ones");
  const int bits = std::min(50, 61 - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(rows.size()))));
  std::vector<std::int64_t> sums;
  c = 0;
  for (const auto& column : columns) {
    const auto unit = unit_of(most[c++], bits);
    std::int64_t sum = 0;
    for (const auto x : std::span(column.const_data_ptr<double>(), static_cast<std::size_t>(column.numel())))
      sum += nearest(x / unit);
    sums.push_back(sum);
  }
  if (rows.distributed()) rows.comm().allreduce(sums);
  std::vector<double> result;
  for (c = 0; c < sums.size(); ++c) result.push_back(unit_of(most[c], bits) * static_cast<double>(sums[c]));
  return result;
}

}  // namespace heatpp::ml::detail
