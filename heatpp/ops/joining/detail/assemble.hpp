#pragma once

#include <functional>
#include <heatpp/ops/joining/join.hpp>

namespace heatpp::detail {

/// Indices first .. last of one of several arrays along an axis.
struct Stretch {
  std::size_t source;
  std::int64_t first, last;
};

/// Returns this rank's block of an array whose blocks are stretches of the sources in sequence: `wanted(rank)`, which
/// all ranks know for each other. The sources are cut along `axis` or replicated. One exchange of missing elements, or
/// none.
[[nodiscard]] at::Tensor assemble(const Arrays& sources, int axis,
                                  const std::function<std::vector<Stretch>(int rank)>& wanted);

}  // namespace heatpp::detail
