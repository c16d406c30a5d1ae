#include <heatpp/core/detail/cuts/ranks_over.hpp>

namespace heatpp::detail {

RankRange ranks_over(const Cut& cut, std::int64_t first, std::int64_t last) {
  first = std::max<std::int64_t>(first, 0);
  last = std::min(last, cut.extent());
  if (first >= last) return {};
  return {cut.owner(first), cut.owner(last - 1) + 1};
}

}  // namespace heatpp::detail
