#include <heatpp/comm/detail/schedule/schedule.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace heatpp::detail {
namespace {

/// A range and the one rank of a part of the machine that holds it reduced over that part.
struct Piece {
  Range range;
  int owner;
};

/// Ranks that own the same ranges in different parts of the machine and share them out: member j gets shares[j].
struct Group {
  int level;
  bool outermost;
  std::vector<int> members;
  std::vector<std::vector<Range>> shares;

  [[nodiscard]] std::size_t place_of(int rank) const {
    return static_cast<std::size_t>(std::ranges::find(members, rank) - members.begin());
  }
  [[nodiscard]] std::int64_t count() const {
    std::int64_t sum = 0;
    for (const auto& share : shares)
      for (const auto& range : share) sum += range.count;
    return sum;
  }
};
/// Of one rank; groups[i] are those of the i-th node on its way out.
using Groups = std::vector<std::vector<Group>>;

/// Calls f(range, owners) for the longest ranges that no cut of a child crosses, in order; owners has one of each
/// child.
template <class F>
void for_each_common(const std::vector<std::vector<Piece>>& children, F f) {
  std::vector<std::size_t> at(children.size(), 0);
  std::int64_t first = 0;
  while (at[0] < children[0].size()) {
    first = std::max(first, children[0][at[0]].range.first);
    auto end = std::numeric_limits<std::int64_t>::max();
    std::vector<int> owners;
    for (std::size_t c = 0; c < children.size(); ++c) {
      end = std::min(end, children[c][at[c]].range.end());
      owners.push_back(children[c][at[c]].owner);
    }
    f(Range{first, end - first}, std::move(owners));
    for (std::size_t c = 0; c < children.size(); ++c) at[c] += children[c][at[c]].range.end() == end;
    first = end;
  }
}

/// Decides which child's owner gets what of a range: one range for each child, possibly empty. The root has depth 0.
using Cut = std::function<std::vector<Range>(const Tree& node, std::size_t depth, Range range)>;

/// Pieces of parts of the machine, and the groups that one rank is in.
class Sharing {
 public:
  Sharing(int rank, Cut cut) : rank_(rank), cut_(std::move(cut)) {}

  std::vector<Piece> share_out(const Tree& tree, std::span<const Range> whole, std::size_t depth) {
    std::vector<Piece> pieces;
    if (tree.is_leaf()) {
      for (const auto& range : whole) pieces.push_back({range, tree.rank});
      return pieces;
    }
    std::vector<std::vector<Piece>> children;
    for (const auto& child : tree.children) children.push_back(share_out(child, whole, depth + 1));
    std::vector<Group> mine;
    for_each_common(children, [&](Range range, std::vector<int> owners) {
      const auto shares = cut_(tree, depth, range);
      for (std::size_t c = 0; c < shares.size(); ++c)
        if (shares[c].count > 0) pieces.push_back({shares[c], owners[c]});
      if (std::ranges::find(owners, rank_) != owners.end())
        add(mine, {tree.level, depth == 0, std::move(owners), {}}, shares);
    });
    if (!mine.empty()) groups.push_back(std::move(mine));
    return pieces;
  }

  Groups groups;

 private:
  static void add(std::vector<Group>& groups, Group group, const std::vector<Range>& shares) {
    auto same = std::ranges::find(groups, group.members, &Group::members);
    if (same == groups.end()) {
      group.shares.resize(shares.size());
      same = groups.insert(groups.end(), std::move(group));
    }
    for (std::size_t c = 0; c < shares.size(); ++c)
      if (shares[c].count > 0) same->shares[c].push_back(shares[c]);
  }

  int rank_;
  Cut cut_;
};

Step& step_at(Steps& steps, std::size_t index, int level) {
  while (steps.size() <= index) steps.push_back({.level = level});
  return steps[index];
}

void send_share(Step& step, const Group& group, std::size_t share, std::size_t to) {
  for (const auto& range : group.shares[share]) step.sends.push_back({group.members[to], range});
}

void reduce_scatter(Steps& steps, std::size_t base, const Group& group, int rank, Style style) {
  const auto n = group.members.size(), me = group.place_of(rank);
  if (style == Style::direct) {
    auto& step = step_at(steps, base, group.level);
    for (std::size_t k = 1; k < n; ++k) send_share(step, group, (me + k) % n, (me + k) % n);
    std::vector<int> others(group.members);
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(me));
    for (const auto& range : group.shares[me]) step.sums.push_back({range, others, me, group.outermost});
    return;
  }
  const auto left = group.members[(me + n - 1) % n];
  for (std::size_t k = 0; k + 1 < n; ++k) {
    auto& step = step_at(steps, base + k, group.level);
    send_share(step, group, (me + 2 * n - 1 - k) % n, (me + 1) % n);
    for (const auto& range : group.shares[(me + 2 * n - 2 - k) % n])
      step.sums.push_back({range, {left}, 1, group.outermost && k + 2 == n});
  }
}

void allgather(Steps& steps, std::size_t base, const Group& group, int rank, Style style) {
  const auto n = group.members.size(), me = group.place_of(rank);
  const auto receive = [&](Step& step, std::size_t share, std::size_t from) {
    for (const auto& range : group.shares[share]) step.receives.push_back({group.members[from], range});
  };
  for (std::size_t k = 1; k < n; ++k) {
    if (style == Style::direct) {
      auto& step = step_at(steps, base, group.level);
      send_share(step, group, me, (me + k) % n);
      receive(step, (me + n - k) % n, (me + n - k) % n);
    } else {
      auto& step = step_at(steps, base + k - 1, group.level);
      send_share(step, group, (me + n + 1 - k) % n, (me + 1) % n);
      receive(step, (me + n - k) % n, (me + n - 1) % n);
    }
  }
}

Style style_of(const StyleOf& style, const Group& group) {
  return style ? style(group.level, group.members.size(), group.count()) : Style::direct;
}

void reduce_scatter(Steps& steps, const Groups& groups, int rank, const StyleOf& style) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto base = steps.size();
    for (const auto& group : groups[i]) reduce_scatter(steps, base, group, rank, style_of(style, group));
  }
}

void allgather(Steps& steps, const Groups& groups, int rank, const StyleOf& style) {
  for (auto level = groups.rbegin(); level != groups.rend(); ++level) {
    const auto base = steps.size();
    for (const auto& group : *level) allgather(steps, base, group, rank, style_of(style, group));
  }
}

std::vector<Range> nonempty(std::span<const Range> ranges) {
  std::vector<Range> kept;
  std::ranges::copy_if(ranges, std::back_inserter(kept), [](const Range& range) { return range.count > 0; });
  return kept;
}

Groups equal_groups(const Tree& tree, Range range, int rank) {
  Sharing sharing(rank, [](const Tree& node, std::size_t, Range whole) {
    std::vector<Range> shares;
    for (std::size_t c = 0; c < node.children.size(); ++c) shares.push_back(part_of(whole, c, node.children.size()));
    return shares;
  });
  sharing.share_out(tree, nonempty(std::array{range}), 0);
  return std::move(sharing.groups);
}

/// The places of every rank in the nodes that it is in, outermost first.
void collect_places(const Tree& tree, std::vector<std::vector<std::size_t>>& places) {
  for (std::size_t c = 0; c < tree.children.size(); ++c) {
    for (const auto rank : ranks_of(tree.children[c])) places[static_cast<std::size_t>(rank)].push_back(c);
    collect_places(tree.children[c], places);
  }
}

/// A part goes to the child in its owner's place: in the nodes that hold the owner this leads to it, and in the others
/// to ranks that differ from it in their place at the outer levels only, where the machine is regular.
Groups groups_of_parts(const Tree& tree, std::span<const Range> parts, int rank) {
  std::vector<std::vector<std::size_t>> places(parts.size());
  collect_places(tree, places);
  Sharing sharing(rank, [&, parts](const Tree& node, std::size_t depth, Range range) {
    const auto holds = [&](const Range& part) { return part.first <= range.first && range.first < part.end(); };
    const auto owner = static_cast<std::size_t>(std::ranges::find_if(parts, holds) - parts.begin());
    std::vector<Range> shares(node.children.size());
    shares[places[owner][std::min(depth, places[owner].size() - 1)] % shares.size()] = range;
    return shares;
  });
  sharing.share_out(tree, nonempty(parts), 0);
  return std::move(sharing.groups);
}

}  // namespace

Range part_of(Range whole, std::size_t index, std::size_t parts) {
  const auto n = static_cast<std::int64_t>(parts), i = static_cast<std::int64_t>(index);
  const auto cut = [&](std::int64_t at) { return whole.count / n * at + std::min(at, whole.count % n); };
  return {whole.first + cut(i), cut(i + 1) - cut(i)};
}

Steps allreduce_steps(const Tree& tree, Range range, int rank, const StyleOf& style) {
  const auto groups = equal_groups(tree, range, rank);
  Steps steps;
  reduce_scatter(steps, groups, rank, style);
  allgather(steps, groups, rank, style);
  return steps;
}

Steps coded_allreduce_steps(const Tree& tree, Range range, int rank) {
  const auto groups = equal_groups(tree, range, rank);
  Steps steps;
  reduce_scatter(steps, groups, rank, {});
  const auto half = steps.size();
  allgather(steps, groups, rank, {});
  // A rank takes part in the outermost exchange, if at all, in the last step of the one half and the first of the
  // other.
  if (half == 0 || !groups.back().front().outermost) return steps;
  steps[half - 1].coded = Coded::partial;
  if (half < steps.size()) steps[half].coded = Coded::result;
  return steps;
}

Steps reduce_scatter_steps(const Tree& tree, std::span<const Range> parts, int rank) {
  Steps steps;
  reduce_scatter(steps, groups_of_parts(tree, parts, rank), rank, {});
  return steps;
}

Steps allgather_steps(const Tree& tree, std::span<const Range> parts, int rank) {
  Steps steps;
  allgather(steps, groups_of_parts(tree, parts, rank), rank, {});
  return steps;
}

Schedule in_slices(std::span<const Range> parts, std::int64_t slices,
                   const std::function<Steps(std::span<const Range>)>& steps) {
  Schedule schedule;
  std::vector<Range> slice(parts.size());
  for (std::int64_t i = 0; i < slices; ++i) {
    for (std::size_t r = 0; r < parts.size(); ++r)
      slice[r] = part_of(parts[r], static_cast<std::size_t>(i), static_cast<std::size_t>(slices));
    schedule.lanes.push_back({std::make_shared<const Steps>(steps(slice)), 0});
  }
  return schedule;
}

Schedule in_chunks(std::int64_t count, std::int64_t chunk, const std::function<Steps(Range)>& steps) {
  Schedule schedule;
  std::shared_ptr<const Steps> whole;
  for (std::int64_t first = 0; first < count; first += chunk) {
    const auto length = std::min(chunk, count - first);
    if (!whole || length < chunk) whole = std::make_shared<const Steps>(steps({0, length}));
    schedule.lanes.push_back({whole, first});
  }
  return schedule;
}

}  // namespace heatpp::detail
