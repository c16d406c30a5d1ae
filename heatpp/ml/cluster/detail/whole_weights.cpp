#include <heatpp/ml/cluster/detail/whole_weights.hpp>

#include <bit>
#include <cmath>

namespace heatpp::ml::detail {

WholeWeights whole_weights(const char* op, const Rows& rows, const DNDarray& weights) {
  const auto mine = *weights_beside(op, rows, weights);
  Totals largest(1, ReduceOp::max);
  if (mine.numel() > 0) largest.of(0)[0] = mine.max().item<double>();
  const auto most = largest.over_ranks(rows)[0];
  const int bits = std::min(50, 62 - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(rows.size()))));
  const auto unit = std::max(std::numeric_limits<double>::min(), std::ldexp(1.0, std::ilogb(most) + 1 - bits));
  return {(mine / unit).round().to(at::kLong), unit};
}

}  // namespace heatpp::ml::detail
