#pragma once

#include <heatpp/comm/detail/schedule/schedule.hpp>

namespace heatpp::detail {

/// Ranks that own the same ranges in different parts of the machine and divide them: member j gets shares[j].
struct Group {
  int level;
  bool outermost;
  std::vector<int> members;
  std::vector<std::vector<Range>> shares;

  [[nodiscard]] std::size_t place_of(int rank) const;
  [[nodiscard]] std::int64_t count() const;
};
/// The groups of one rank; groups[i] are those of its i-th node on the way out.
using Groups = std::vector<std::vector<Group>>;

/// Returns the groups of `rank` if each range is cut evenly among its owners. If nodes differ in size, their cuts are
/// refined to common ones.
[[nodiscard]] Groups equal_groups(const Tree& tree, Range range, int rank);
/// Returns the groups of `rank` if each part, which may be empty, is reduced to its owner.
[[nodiscard]] Groups groups_of_parts(const Tree& tree, std::span<const Owned> parts, int rank);

}  // namespace heatpp::detail
