#include <heatpp/core/detail/bounds.hpp>

#include <algorithm>
#include <heatpp/comm/detail/failure.hpp>
#include <limits>

namespace heatpp::detail {

Bounds bounds_or_error(const Communicator& comm, std::size_t n,
                       const std::function<std::vector<std::int64_t>()>& numbers) {
  std::vector<std::int64_t> mine;
  const auto failure = failure_of([&] { mine = numbers(); });
  std::vector<std::int64_t> both(2 * n + 1, std::numeric_limits<std::int64_t>::min());
  const auto middle = both.begin() + static_cast<std::ptrdiff_t>(n);
  std::ranges::copy(mine, both.begin());
  std::ranges::transform(mine, middle, [](auto number) { return ~number; });  // reverses the order, also of INT64_MIN
  both.back() = failure.has_value();
  comm.allreduce(both, ReduceOp::max);
  if (both.back()) comm.agree(failure);
  Bounds bounds{{both.begin(), middle}, {middle, both.end() - 1}};
  std::swap(bounds.least, bounds.most);
  std::ranges::transform(bounds.least, bounds.least.begin(), [](auto number) { return ~number; });
  return bounds;
}

}  // namespace heatpp::detail
