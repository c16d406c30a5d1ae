#include "../../catch.hpp"
#include "random_tree.hpp"

#include <array>
#include <numeric>

using namespace heatpp::detail;

namespace {

/// Whether the tree finds each of these ranks, and no others.
bool finds(const Tree& tree, const std::vector<int>& ranks) {
  bool all = tree.ranks() == ranks.size() && ranks_of(tree) == ranks;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    all = all && tree.rank_at(i) == ranks[i] && tree.position_of(ranks[i]) == i && tree.holds(ranks[i]);
  const auto [least, most] = std::ranges::minmax(ranks);
  for (int rank = least - 3; rank <= most + 3; ++rank)
    all = all && tree.holds(rank) == (std::ranges::find(ranks, rank) != ranks.end());
  return all;
}

/// Returns the ranks of a regular machine of two levels whose ranks differ by these strides.
Tree strided(int nodes, int between, int ranks, int inside) {
  std::vector<Tree> children;
  for (int node = 0; node < nodes; ++node) {
    std::vector<Tree> leaves;
    for (int r = 0; r < ranks; ++r) leaves.push_back(Tree(100 + node * between + r * inside));
    children.push_back(Tree(0, leaves));
  }
  return {1, children};
}

}  // namespace

TEST_CASE("trees find their ranks for any placement", "[comm][schedule]") {
  std::mt19937 random(4);
  for (int round = 0; round < 300; ++round) {
    const int p = 1 + static_cast<int>(random() % 40);
    std::vector<int> ranks(static_cast<std::size_t>(p));
    std::iota(ranks.begin(), ranks.end(), 0);
    if (round % 3 > 0) std::ranges::shuffle(ranks, random);
    if (round % 3 == 2) std::ranges::sort(ranks, {}, [](int rank) { return std::pair(rank % 5, -rank); });
    const auto tree = random_tree(ranks, random, static_cast<int>(random() % 4));
    for (const auto& form : {tree, factored(tree), factored(tree, 4), without_single_children(tree), flat_tree(tree, 2),
                             flat_tree(ranks, 1)})
      CHECK(finds(form, ranks));
  }
  for (const auto& [between, inside] :
       {std::pair(4, 1), std::pair(1, 6), std::pair(-4, 1), std::pair(4, -1), std::pair(2, 12), std::pair(-1, -6)}) {
    const auto tree = strided(6, between, 4, inside);
    CHECK(tree.runs().size() == 1);
    CHECK(finds(tree, ranks_of(tree)));
    CHECK(finds(*reordered(tree, std::array{1, 0}), ranks_of(strided(4, inside, 6, between))));
  }
}
