#pragma once

#include <algorithm>
#include <heatpp/comm/detail/schedule/tree.hpp>
#include <random>

/// Returns a random nesting of the ranks, in random order.
inline heatpp::detail::Tree random_tree(std::span<const int> ranks, std::mt19937& random, int level) {
  if (ranks.size() == 1 && random() % 2) return heatpp::detail::Tree(ranks[0]);
  using heatpp::detail::Tree;
  std::vector<Tree> children;
  for (std::size_t first = 0; first < ranks.size();) {
    const auto n =
        std::min<std::size_t>(1 + random() % std::max<std::size_t>(ranks.size() / 2, 1), ranks.size() - first);
    if (level == 0) children.push_back(Tree(ranks[first++]));
    else {
      children.push_back(random_tree(ranks.subspan(first, n), random, level - 1));
      first += n;
    }
  }
  return {level, children};
}
