#include <heatpp/comm/detail/schedule/sharing.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace heatpp::detail {
namespace {

/// A range, and the one rank that holds it reduced over a part of the machine.
using Piece = Owned;

bool overlap(Range a, Range b) { return a.first < b.end() && b.first < a.end(); }

/// Returns the piece that holds the element. Pieces lie in order.
std::size_t piece_at(std::span<const Piece> pieces, std::int64_t element) {
  const auto after =
      std::ranges::upper_bound(pieces, element, {}, [](const Piece& piece) { return piece.range.first; });
  return static_cast<std::size_t>(after - pieces.begin()) - 1;
}

/// Calls f(range, owners) for the longest ranges up to `end` that no cut of a child crosses, in order. `owners` has one
/// owner of each child.
template <class F>
void for_each_common(const std::vector<std::vector<Piece>>& children, std::int64_t end, F f) {
  std::vector<std::size_t> at(children.size(), 0);
  std::vector<int> owners(children.size());
  for (std::int64_t first = 0; first < end;) {
    auto last = std::numeric_limits<std::int64_t>::max();
    for (std::size_t c = 0; c < children.size(); ++c) {
      const auto& piece = children[c][at[c]];
      first = std::max(first, piece.range.first);
      last = std::min(last, piece.range.end());
      owners[c] = piece.owner;
    }
    f(Range{first, last - first}, owners);
    for (std::size_t c = 0; c < children.size(); ++c)
      at[c] += children[c][at[c]].range.end() == last && at[c] + 1 < children[c].size();
    first = last;
  }
}

/// Decides which child's owner gets which part of a range: one range for each child, maybe empty. The root has depth 0.
using Cut = std::function<void(const Tree& node, std::size_t depth, Range range, std::vector<Range>& shares)>;

/// Finds who owns what in the parts of the machine that concern one rank: the parts beside its way from the root. In
/// these it keeps only what it owns.
class Sharing {
 public:
  /// `whole` is the data of every rank, as ranges in order.
  Sharing(std::vector<Piece> whole, int rank, Cut cut) : whole_(std::move(whole)), rank_(rank), cut_(std::move(cut)) {
    for (const auto& piece : whole_) mine_.push_back(piece.range);
  }

  /// Goes from the rank outwards to every node that holds it.
  void go_out(const Tree& tree, std::size_t depth) {
    if (tree.is_leaf()) return;
    const auto inside = *tree.child_with(rank_);
    go_out(tree.child(inside), depth + 1);
    share_out(tree, inside, depth);
  }

  Groups groups;

 private:
  /// The rank keeps its shares of what it owns in its child of the node.
  void share_out(const Tree& tree, std::size_t own_child, std::size_t depth) {
    std::vector<Group> formed;
    std::vector<Range> kept;
    for (const auto& range : std::exchange(mine_, {})) {
      children_.resize(tree.size());
      for (std::size_t c = 0; c < children_.size(); ++c) {
        children_[c].clear();
        if (c == own_child) children_[c].push_back({range, rank_});
        else if (tree.alike()) children_[c].push_back({range, owner_in(tree.child(c), range.first, depth + 1)});
        else add_pieces(tree.child(c), range, depth + 1, children_[c]);
      }
      for_each_common(children_, range.end(), [&](Range common, const std::vector<int>& owners) {
        cut_(tree, depth, common, shares_);
        add(formed, {tree.level(), depth == 0, {}, {}}, owners);
        if (shares_[own_child].count > 0) kept.push_back(shares_[own_child]);
      });
    }
    mine_ = std::move(kept);
    if (!formed.empty()) groups.push_back(std::move(formed));
  }

  void add(std::vector<Group>& formed, Group group, const std::vector<int>& owners) {
    auto same = std::ranges::find(formed, owners, &Group::members);
    if (same == formed.end()) {
      group.members = owners;
      group.shares.resize(owners.size());
      same = formed.insert(formed.end(), std::move(group));
    }
    for (std::size_t c = 0; c < shares_.size(); ++c)
      if (shares_[c].count > 0) same->shares[c].push_back(shares_[c]);
  }

  /// In a part whose nodes are alike, all nodes cut alike. So first the way of the element is found, then its
  /// owner.
  int owner_in(const Tree& tree, std::int64_t element, std::size_t depth) {
    way_.clear();
    follow(tree, element, depth);
    auto node = tree;
    for (auto child = way_.rbegin(); child != way_.rend(); ++child) node = node.child(*child);
    return node.rank();
  }
  Range follow(const Tree& tree, std::int64_t element, std::size_t depth) {
    if (tree.is_leaf()) return whole_[piece_at(whole_, element)].range;
    const auto range = follow(tree.child(0), element, depth + 1);
    cut_(tree, depth, range, shares_);
    const auto holds = [&](Range share) { return share.first <= element && element < share.end(); };
    const auto share = std::ranges::find_if(shares_, holds);
    way_.push_back(static_cast<std::size_t>(share - shares_.begin()));
    return *share;
  }

  /// Adds the pieces of a part of the machine that overlap with a range.
  void add_pieces(const Tree& tree, Range within, std::size_t depth, std::vector<Piece>& pieces) {
    if (tree.is_leaf()) {
      for (auto i = piece_at(whole_, within.first); i < whole_.size() && overlap(whole_[i].range, within); ++i)
        pieces.push_back({whole_[i].range, tree.rank()});
      return;
    }
    std::vector<std::vector<Piece>> children(tree.size());
    for (std::size_t c = 0; c < children.size(); ++c) add_pieces(tree.child(c), within, depth + 1, children[c]);
    for_each_common(children, within.end(), [&](Range common, const std::vector<int>& owners) {
      cut_(tree, depth, common, shares_);
      for (std::size_t c = 0; c < shares_.size(); ++c)
        if (shares_[c].count > 0 && overlap(shares_[c], within)) pieces.push_back({shares_[c], owners[c]});
    });
  }

  std::vector<Piece> whole_;
  int rank_;
  Cut cut_;
  std::vector<Range> mine_, shares_;
  std::vector<std::size_t> way_;
  std::vector<std::vector<Piece>> children_;
};

/// Returns the places of a rank in the nodes that hold it, outermost first.
std::vector<std::size_t> way_to(Tree tree, int rank) {
  std::vector<std::size_t> way;
  for (; !tree.is_leaf(); tree = tree.child(way.back())) way.push_back(*tree.child_with(rank));
  return way;
}

}  // namespace

std::size_t Group::place_of(int rank) const {
  return static_cast<std::size_t>(std::ranges::find(members, rank) - members.begin());
}

std::int64_t Group::count() const {
  std::int64_t sum = 0;
  for (const auto& share : shares)
    for (const auto& range : share) sum += range.count;
  return sum;
}

Groups equal_groups(const Tree& tree, Range range, int rank) {
  if (range.count == 0) return {};
  Sharing sharing({{range, rank}}, rank, [](const Tree& node, std::size_t, Range whole, std::vector<Range>& shares) {
    shares.clear();
    for (std::size_t c = 0; c < node.size(); ++c) shares.push_back(part_of(whole, c, node.size()));
  });
  sharing.go_out(tree, 0);
  return std::move(sharing.groups);
}

/// A part goes to the child in its owner's place. In the nodes that hold the owner this leads to the owner; in the
/// others to ranks that differ from it only in their place at the outer levels, if the machine is regular.
Groups groups_of_parts(const Tree& tree, std::span<const Owned> parts, int rank) {
  std::vector<Piece> whole;
  std::ranges::copy_if(parts, std::back_inserter(whole), [](const Owned& part) { return part.range.count > 0; });
  if (whole.empty()) return {};
  std::vector<std::vector<std::size_t>> places(whole.size());  // of the owners, found when they are asked for
  Sharing sharing(whole, rank, [&](const Tree& node, std::size_t depth, Range range, std::vector<Range>& shares) {
    const auto piece = piece_at(whole, range.first);
    auto& place = places[piece];
    if (place.empty()) place = way_to(tree, whole[piece].owner);
    shares.assign(node.size(), {});
    shares[place[std::min(depth, place.size() - 1)] % shares.size()] = range;
  });
  sharing.go_out(tree, 0);
  return std::move(sharing.groups);
}

}  // namespace heatpp::detail
