#pragma once

#include <functional>
#include <heatpp/core/detail/cuts/ranks_over.hpp>
#include <heatpp/ops/joining/join.hpp>

namespace heatpp::detail {

/// Indices first .. last of one of several arrays along an axis.
struct Stretch {
  std::size_t source;
  std::int64_t first, last;
};

/// Who needs what; all ranks know it of each other.
struct Assembly {
  /// Returns the stretches that make the block of a rank, in sequence.
  std::function<std::vector<Stretch>(int rank)> wanted;
  /// Returns the ranks that may want some of these indices, and few others.
  std::function<std::vector<RankRange>(const Stretch& some)> takers;
};

/// Returns this rank's block of an array whose blocks are stretches of the sources in sequence. The sources are cut
/// along `axis` or replicated. One exchange of missing elements, or none. Memory grows with the ranks that give and
/// take something; time, too, except that it looks for the first rank that lacks something.
[[nodiscard]] at::Tensor assemble(const Arrays& sources, int axis, const Assembly& assembly);

}  // namespace heatpp::detail
