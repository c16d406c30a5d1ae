#pragma once

#include <heatpp/comm/detail/schedule/schedule.hpp>

namespace heatpp::detail {

/// Ranks that own the same ranges in different parts of the machine and share them out: member j gets shares[j].
struct Group {
  int level;
  bool outermost;
  std::vector<int> members;
  std::vector<std::vector<Range>> shares;

  [[nodiscard]] std::size_t place_of(int rank) const;
  [[nodiscard]] std::int64_t count() const;
};
/// Of one rank; groups[i] are those of the i-th node on its way out.
using Groups = std::vector<std::vector<Group>>;

/// The groups of `rank` where each range is cut evenly among its owners. Where nodes differ in size, their cuts are
/// refined to common ones.
[[nodiscard]] Groups equal_groups(const Tree& tree, Range range, int rank);
/// The groups of `rank` where part r, which may be empty, ends up at rank r.
[[nodiscard]] Groups groups_of_parts(const Tree& tree, std::span<const Range> parts, int rank);

}  // namespace heatpp::detail
