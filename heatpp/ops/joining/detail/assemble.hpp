#pragma once

#include <functional>
#include <heatpp/ops/joining/join.hpp>

namespace heatpp::detail {

/// The indices first .. last of one of several arrays along an axis.
struct Stretch {
  std::size_t source;
  std::int64_t first, last;
};

/// This rank's block of an array whose blocks are stretches of the sources, one behind another: `wanted(rank)`, which
/// all ranks know of each other. The sources are cut along `axis` or replicated. One exchange, or none, of what ranks
/// lack.
[[nodiscard]] at::Tensor assemble(const Arrays& sources, int axis,
                                  const std::function<std::vector<Stretch>(int rank)>& wanted);

}  // namespace heatpp::detail
