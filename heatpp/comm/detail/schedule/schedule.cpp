#include <heatpp/comm/detail/schedule/schedule.hpp>
#include <heatpp/comm/detail/schedule/sharing.hpp>

#include <algorithm>

namespace heatpp::detail {
namespace {

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

/// Returns piece `index` of the group's exchange, which has a part of each range of each share.
Group piece_of(const Group& group, std::size_t index, std::size_t pieces) {
  Group piece{group.level, group.outermost, group.members, {}};
  for (const auto& share : group.shares) {
    auto& kept = piece.shares.emplace_back();
    for (const auto& range : share)
      if (const auto part = part_of(range, index, pieces); part.count > 0) kept.push_back(part);
  }
  return piece;
}

/// How the groups of a rank exchange.
struct Exchange {
  int rank;
  NodeMemory memory = {};
  std::size_t pieces = 1;  // in memory: equal on all ranks, by the length of the whole
  Style style = Style::direct;

  Exchange(int rank_, const NodeMemory& memory_, std::int64_t count, Style style_ = Style::direct)
      : rank(rank_), memory(memory_), style(style_) {
    if (memory.level >= 0) pieces = static_cast<std::size_t>(std::max<std::int64_t>((count - 1) / memory.slot + 1, 1));
  }

  using Half = void (*)(Steps& steps, std::size_t base, const Group& group, int rank, Style style);
  /// Adds the steps of one node on the way out.
  void add(Steps& steps, const std::vector<Group>& groups, Half half) const {
    const auto base = steps.size();
    for (const auto& group : groups) {
      if (!memory.carries(group.level)) {
        half(steps, base, group, rank, style);
        continue;
      }
      for (std::size_t i = 0; i < pieces; ++i)
        half(steps, base + i, pieces == 1 ? group : piece_of(group, i, pieces), rank, Style::direct);
      for (auto i = base; i < steps.size(); ++i) steps[i].in_memory = true;
    }
  }
  void reduce_scatter(Steps& steps, const Groups& groups) const {
    for (const auto& level : groups) add(steps, level, &detail::reduce_scatter);
  }
  void allgather(Steps& steps, const Groups& groups) const {
    for (auto level = groups.rbegin(); level != groups.rend(); ++level) add(steps, *level, &detail::allgather);
  }
};

std::int64_t sum_of(std::span<const Owned> parts) {
  std::int64_t count = 0;
  for (const auto& part : parts) count += part.range.count;
  return count;
}

std::int64_t longest(std::span<const Owned> parts) {
  std::int64_t count = 0;
  for (const auto& part : parts) count = std::max(count, part.range.count);
  return count;
}

}  // namespace

Range part_of(Range whole, std::size_t index, std::size_t parts) {
  const auto n = static_cast<std::int64_t>(parts), i = static_cast<std::int64_t>(index);
  const auto cut = [&](std::int64_t at) { return whole.count / n * at + std::min(at, whole.count % n); };
  return {whole.first + cut(i), cut(i + 1) - cut(i)};
}

Parts parts_by_rank(std::span<const Range> ranges) {
  Parts parts;
  for (const auto& range : ranges) parts.push_back({range, static_cast<int>(parts.size())});
  return parts;
}

Steps allreduce_steps(const Tree& tree, Range range, int rank, const NodeMemory& memory, Style style) {
  const auto groups = equal_groups(tree, range, rank);
  const Exchange exchange(rank, memory, range.count, style);
  Steps steps;
  exchange.reduce_scatter(steps, groups);
  exchange.allgather(steps, groups);
  return steps;
}

Steps coded_allreduce_steps(const Tree& tree, Range range, int rank, NodeMemory memory) {
  memory.level = std::min(memory.level, tree.level() - 1);
  const auto groups = equal_groups(tree, range, rank);
  const Exchange exchange(rank, memory, range.count);
  Steps steps;
  exchange.reduce_scatter(steps, groups);
  const auto half = steps.size();
  exchange.allgather(steps, groups);
  // A rank takes part in the outermost exchange, if at all, in the last step of the first half and the first step of
  // the second.
  if (half == 0 || !groups.back().front().outermost) return steps;
  steps[half - 1].coded = Coded::partial;
  if (half < steps.size()) steps[half].coded = Coded::result;
  return steps;
}

Steps reduce_scatter_steps(const Tree& tree, std::span<const Owned> parts, int rank, const NodeMemory& memory) {
  Steps steps;
  Exchange(rank, memory, sum_of(parts)).reduce_scatter(steps, groups_of_parts(tree, parts, rank));
  return steps;
}

Steps allgather_steps(const Tree& tree, std::span<const Owned> parts, int rank, const NodeMemory& memory) {
  Steps steps;
  Exchange(rank, memory, sum_of(parts)).allgather(steps, groups_of_parts(tree, parts, rank));
  return steps;
}

Schedule in_slices(std::span<const Owned> parts, std::int64_t slices,
                   const std::function<Steps(std::span<const Owned>)>& steps) {
  Schedule schedule;
  Parts slice(parts.begin(), parts.end());
  const auto length = longest(parts) / slices;
  const bool alike = std::ranges::all_of(
      parts, [&](const Owned& part) { return part.range.count == 0 || part.range.count == length * slices; });
  for (std::int64_t i = 0; i < slices; ++i) {
    if (alike && i > 0) {
      schedule.lanes.push_back({schedule.lanes.front().steps, i * length});
      continue;
    }
    for (std::size_t r = 0; r < parts.size(); ++r)
      slice[r].range = part_of(parts[r].range, static_cast<std::size_t>(i), static_cast<std::size_t>(slices));
    schedule.lanes.push_back({std::make_shared<const Steps>(steps(slice)), 0});
  }
  return schedule;
}

Schedule in_chunks(std::int64_t count, std::int64_t chunk,
                   const std::function<Steps(Range range, std::size_t kind)>& steps,
                   std::span<const std::size_t> kinds) {
  Schedule schedule;
  std::vector<std::shared_ptr<const Steps>> whole(kinds.empty() ? 1 : *std::ranges::max_element(kinds) + 1);
  for (std::int64_t first = 0; first < count; first += chunk) {
    const auto length = std::min(chunk, count - first);
    const auto kind = kinds.empty() ? 0 : kinds[schedule.lanes.size()];
    auto& made = whole[kind];
    if (!made || length < chunk) made = std::make_shared<const Steps>(steps({0, length}, kind));
    schedule.lanes.push_back({made, first});
  }
  return schedule;
}

}  // namespace heatpp::detail
