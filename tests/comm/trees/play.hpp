#pragma once

#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/schedule/balance.hpp>

#include <deque>
#include <map>
#include <numeric>
#include <set>

#include "../../catch.hpp"

// Runs schedules of all ranks in one process, without messages.
namespace {

using namespace heatpp::detail;

using Values = std::vector<std::int64_t>;

/// Returns equal numbers for ranks in one part of a level that shares memory.
std::map<int, int> nodes_of(const Tree& tree, int memory_level) {
  std::map<int, int> nodes;
  int next = 0;
  const std::function<void(const Tree&)> visit = [&](const Tree& part) {
    if (!part.is_leaf() && part.level() > memory_level) return for_each_child(part, visit);
    for (const auto rank : ranks_of(part)) nodes[rank] = next;
    ++next;
  };
  visit(tree);
  return nodes;
}

/// Runs the ranks of a machine in turns. A step through memory may wait until the data of the rank's step before last
/// have been read.
class Play {
 public:
  /// Gives each rank room for this many elements of a step in the memory of its node.
  void share_memory(const Tree& tree, const NodeMemory& memory) {
    nodes_ = nodes_of(tree, memory.level);
    room_ = memory.slot + 64;
  }

  Play(int ranks, std::int64_t count) {
    for (int r = 0; r < ranks; ++r) {
      auto& mine = data.emplace_back(static_cast<std::size_t>(count));
      for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = (r + 1) * (r + 1) * (static_cast<std::int64_t>(i) + 1);
    }
  }

  /// Returns whether all ranks finish their lanes.
  bool run(const std::vector<Schedule>& schedules) {
    std::vector<std::vector<std::size_t>> at;
    for (const auto& schedule : schedules) at.emplace_back(schedule.lanes.size(), 0);
    std::vector<std::vector<bool>> sent;
    for (const auto& schedule : schedules) sent.emplace_back(schedule.lanes.size(), false);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t r = 0; r < schedules.size(); ++r)
        for (std::size_t l = 0; l < at[r].size(); ++l) {
          const auto& lane = schedules[r].lanes[l];
          if (at[r][l] == lane.steps->size()) continue;
          const auto& step = (*lane.steps)[at[r][l]];
          if (!sent[r][l] && step.in_memory && !has_room(static_cast<int>(r), l, step)) continue;
          if (!sent[r][l]) send(static_cast<int>(r), l, step, lane.offset);
          sent[r][l] = true;
          if (!receive(static_cast<int>(r), l, step, lane.offset)) continue;
          sent[r][l] = false;
          ++at[r][l];
          moved = true;
        }
    }
    for (std::size_t r = 0; r < at.size(); ++r)
      for (std::size_t l = 0; l < at[r].size(); ++l)
        if (at[r][l] != schedules[r].lanes[l].steps->size()) return false;
    return std::ranges::all_of(mail_, [](const auto& box) { return box.second.empty(); });
  }

  std::vector<Values> data;
  std::int64_t elements_sent = 0;
  bool in_memory = false;  ///< whether anything went through memory

 private:
  using Box = std::tuple<int, int, std::size_t>;

  /// Whether the peers have read all steps except the last.
  bool has_room(int rank, std::size_t lane, const Step& step) {
    if (step.sends.empty()) return true;
    auto& laid = laid_[{rank, lane}];
    if (laid.size() == 2) {
      for (const auto& [peer, n] : laid.front())
        if (taken_[{rank, peer, lane}] < n) return false;
      laid.pop_front();
    }
    auto& now = laid.emplace_back();
    std::int64_t elements = 0;
    std::vector<Range> seen;
    for (const auto& message : step.sends) {
      now[message.peer] = ++given_[{rank, message.peer, lane}];
      if (std::ranges::find(seen, message.range) == seen.end()) elements += message.range.count;
      seen.push_back(message.range);
      CHECK(nodes_.at(rank) == nodes_.at(message.peer));
    }
    CHECK(elements <= room_);
    in_memory = true;
    return true;
  }

  void send(int rank, std::size_t lane, const Step& step, std::int64_t offset) {
    for (const auto& message : step.sends) {
      const auto* from = data[static_cast<std::size_t>(rank)].data() + offset + message.range.first;
      mail_[{rank, message.peer, lane}].emplace_back(from, from + message.range.count);
      elements_sent += message.range.count;
    }
  }

  bool receive(int rank, std::size_t lane, const Step& step, std::int64_t offset) {
    std::map<int, std::size_t> wanted;
    for (const auto& sum : step.sums)
      for (const auto peer : sum.peers) ++wanted[peer];
    for (const auto& message : step.receives) ++wanted[message.peer];
    for (const auto& [peer, n] : wanted)
      if (mail_[{peer, rank, lane}].size() < n) return false;
    const auto take = [&](int peer, Range range, bool add) {
      auto& box = mail_[{peer, rank, lane}];
      CHECK(std::ssize(box.front()) == range.count);
      if (step.in_memory) ++taken_[{peer, rank, lane}];
      auto* to = data[static_cast<std::size_t>(rank)].data() + offset + range.first;
      for (std::size_t i = 0; i < box.front().size(); ++i) to[i] = (add ? to[i] : 0) + box.front()[i];
      box.pop_front();
    };
    for (const auto& sum : step.sums)
      for (const auto peer : sum.peers) take(peer, sum.range, true);
    for (const auto& message : step.receives) take(message.peer, message.range, false);
    return true;
  }

  std::map<Box, std::deque<Values>> mail_;
  std::map<int, int> nodes_;
  std::int64_t room_ = 0;
  std::map<Box, std::size_t> given_, taken_;  // through memory
  std::map<std::pair<int, std::size_t>, std::deque<std::map<int, std::size_t>>> laid_;
};

}  // namespace
