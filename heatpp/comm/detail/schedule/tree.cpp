#include <heatpp/comm/detail/schedule/tree.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace heatpp::detail {

/// Its first rank is 0: a tree adds its own.
struct Tree::Node {
  int level;
  std::vector<Run> runs;
  std::size_t children = 0, ranks = 0;
  int least = 0, most = 0;  // the ranks lie between these
  bool alike = true;
};

/// Whether the trees differ by a constant in their ranks only.
bool equal_shifted(const Tree& a, const Tree& b) {
  if (a.node_ == b.node_) return true;
  if (!a.node_ || !b.node_ || a.node_->level != b.node_->level) return false;
  return std::ranges::equal(a.node_->runs, b.node_->runs, [](const Tree::Run& x, const Tree::Run& y) {
    return x.count == y.count && x.stride == y.stride && x.first.first_ == y.first.first_ &&
           equal_shifted(x.first, y.first);
  });
}

namespace {

using Run = Tree::Run;

/// Whether two trees of which each is alike have equally many children on each level.
bool same_shape(const Tree& a, const Tree& b) {
  return a.size() == b.size() && (a.is_leaf() || same_shape(a.child(0), b.child(0)));
}

/// Adds a run, as a part of the one before it if it continues that.
void add(std::vector<Run>& runs, Run next) {
  if (next.count == 1) next.stride = 0;
  if (runs.empty() || !equal_shifted(runs.back().first, next.first)) return runs.push_back(std::move(next));
  auto& last = runs.back();
  const auto step = next.first.rank() - last.at(last.count - 1).rank();
  if ((last.count > 1 && last.stride != step) || (next.count > 1 && next.stride != step))
    return runs.push_back(std::move(next));
  last.stride = step;
  last.count += next.count;
}

/// Returns the quotient that is not above, and the one that is not below.
std::int64_t floor_of(std::int64_t a, std::int64_t b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }
std::int64_t ceiling_of(std::int64_t a, std::int64_t b) { return -floor_of(-a, b); }

}  // namespace

Tree::Tree(int level, std::span<const Tree> children)
    : Tree(level, [&] {
        std::vector<Run> runs;
        for (const auto& child : children) add(runs, {child});
        return runs;
      }()) {}

Tree::Tree(int level, std::vector<Run> runs) : first_(runs.front().first.first_) {
  Node node{level, {}};
  for (const auto& run : runs) {
    add(node.runs, {run.first.shifted(-first_), run.count, run.stride});
    node.children += run.count;
    node.ranks += run.count * run.first.ranks();
    const auto& inner = run.first.node_;
    for (const auto place : {std::size_t{0}, run.count - 1}) {
      const auto at = run.at(place).first_ - first_;
      node.least = std::min(node.least, at + (inner ? inner->least : 0));
      node.most = std::max(node.most, at + (inner ? inner->most : 0));
    }
    node.alike = node.alike && run.first.alike() && same_shape(runs.front().first, run.first);
  }
  node_ = std::make_shared<const Node>(std::move(node));
}

int Tree::level() const { return node_ ? node_->level : 0; }
std::size_t Tree::size() const { return node_ ? node_->children : 0; }
std::size_t Tree::ranks() const { return node_ ? node_->ranks : 1; }
bool Tree::alike() const { return !node_ || node_->alike; }

Tree Tree::shifted(int by) const {
  auto result = *this;
  result.first_ += by;
  return result;
}

std::vector<Tree::Run> Tree::runs() const {
  if (!node_) return {};
  auto runs = node_->runs;
  for (auto& run : runs) run.first = run.first.shifted(first_);
  return runs;
}

Tree Tree::child(std::size_t index) const {
  auto run = node_->runs.begin();
  for (; index >= run->count; ++run) index -= run->count;
  return run->at(index).shifted(first_);
}

bool Tree::holds(int rank) const { return is_leaf() ? rank == first_ : child_with(rank).has_value(); }

std::optional<std::size_t> Tree::child_with(int rank) const {
  if (!node_ || rank - first_ < node_->least || rank - first_ > node_->most) return std::nullopt;
  std::size_t before = 0;
  for (const auto& run : node_->runs) {
    // Only children between whose bounds the rank lies may hold it.
    const auto& inner = run.first.node_;
    const std::int64_t beyond = rank - first_ - run.first.first_;
    const auto high = beyond - (inner ? inner->least : 0), low = beyond - (inner ? inner->most : 0);
    const auto [from, to] = run.stride >= 0 ? std::pair(low, high) : std::pair(high, low);
    const auto last = std::int64_t(run.count) - 1;
    const auto begin = run.stride == 0 ? 0 : std::max<std::int64_t>(ceiling_of(from, run.stride), 0);
    const auto end = run.stride == 0 ? 0 : std::min(floor_of(to, run.stride), last);
    for (auto i = begin; i <= end; ++i)
      if (run.at(static_cast<std::size_t>(i)).holds(rank - first_)) return before + static_cast<std::size_t>(i);
    before += run.count;
  }
  return std::nullopt;
}

int Tree::rank_at(std::size_t position) const {
  if (!node_) return first_;
  auto run = node_->runs.begin();
  for (; position >= run->count * run->first.ranks(); ++run) position -= run->count * run->first.ranks();
  const auto each = run->first.ranks();
  return first_ + run->at(position / each).rank_at(position % each);
}

std::size_t Tree::position_of(int rank) const {
  if (!node_) return 0;
  auto index = *child_with(rank);
  const auto inside = child(index).position_of(rank);
  std::size_t before = 0;
  for (const auto& run : node_->runs) {
    const auto count = std::min(index, run.count);
    before += count * run.first.ranks();
    index -= count;
  }
  return before + inside;
}

std::vector<int> ranks_of(const Tree& tree) {
  if (tree.is_leaf()) return {tree.rank()};
  std::vector<int> all;
  for_each_child(tree, [&](const Tree& child) {
    const auto below = ranks_of(child);
    all.insert(all.end(), below.begin(), below.end());
  });
  return all;
}

std::vector<int> numbers_of(const Tree& tree) {
  std::vector<int> all{tree.rank(), tree.level()};
  for (const auto& run : tree.runs()) {
    all.insert(all.end(), {static_cast<int>(run.count), run.stride});
    const auto below = numbers_of(run.first);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

}  // namespace heatpp::detail
