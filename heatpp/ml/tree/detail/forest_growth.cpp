#include <heatpp/ml/tree/detail/forest_growth.hpp>

#include <ATen/Parallel.h>

#include <heatpp/ml/detail/row_random.hpp>

#include <atomic>
#include <limits>
#include <numeric>

namespace heatpp::ml::detail {
namespace {

/// Calls f(i) for 0 .. count from all threads; a thread takes the next i when it is ready.
template <class F>
void in_turns(std::int64_t count, F f) {
  std::atomic<std::int64_t> next = 0;
  at::parallel_for(0, std::min<std::int64_t>(count, at::get_num_threads()), 1, [&](std::int64_t, std::int64_t) {
    for (auto i = next++; i < count; i = next++) f(i);
  });
}

std::span<const Drawn> rows_of(const std::vector<GrowingTree>& trees, const OpenNode& node) {
  return std::span(trees[static_cast<std::size_t>(node.tree)].rows)
      .subspan(static_cast<std::size_t>(node.begin), static_cast<std::size_t>(node.end - node.begin));
}

/// A part of the features of a node.
struct Share {
  std::size_t node, first, count;
  std::int64_t cells;
};

}  // namespace

bool ForestGrower::may_divide(const OpenNode& node) const {
  std::int64_t kinds = 0;
  for (auto c = data_.units.first_weight(); c < data_.units.end_of_weights(); ++c)
    kinds += node.sums[static_cast<std::size_t>(c)] != 0 ? 1 : 0;
  const auto& limits = data_.limits;
  return data_.units.rows(node.sums.data()) >= std::max(limits.rows_to_divide, 2 * limits.rows_of_leaf) &&
         node.depth < limits.depth && (kinds > 1 || data_.task.classes == 0);
}

std::vector<std::int32_t> ForestGrower::features_of(const OpenNode& node, const GrowingTree& tree) const {
  const auto f = data_.bins.features;
  std::vector<std::int32_t> features(static_cast<std::size_t>(f));
  std::iota(features.begin(), features.end(), 0);
  if (data_.limits.features >= f) return features;
  const auto seed = seed_of(seed_of(data_.limits.seed, static_cast<std::uint64_t>(tree.number)), 1);
  random::detail::Draws draws(random::detail::Key(seed), static_cast<std::uint64_t>(node.node));
  const auto first = node.tried * data_.limits.features, last = std::min(f, first + data_.limits.features);
  for (std::int64_t i = 0; i < last; ++i)
    std::swap(features[static_cast<std::size_t>(i)],
              features[static_cast<std::size_t>(i) + draws.below(static_cast<std::uint64_t>(f - i))]);
  std::vector<std::int32_t> chosen(features.begin() + first, features.begin() + last);
  std::ranges::sort(chosen);
  return chosen;
}

void ForestGrower::sum_cells(const std::vector<GrowingTree>& trees, std::span<const OpenNode> nodes,
                             const std::vector<Looked>& looked) {
  const auto threads = static_cast<std::size_t>(at::get_num_threads());
  const auto lanes = data_.units.lanes();
  std::vector<Share> shares;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto all = looked[i].features.size(), parts = std::min(all, nodes.size() < 2 * threads ? threads : 1);
    auto cells = looked[i].first;
    for (std::size_t part = 0; part < parts; ++part) {
      const auto first = all * part / parts, last = all * (part + 1) / parts;
      shares.push_back({i, first, last - first, cells});
      for (auto k = first; k < last; ++k) cells += lanes * data_.bins.cells_of(looked[i].features[k]);
    }
  }
  std::ranges::fill(cells_, 0);
  in_turns(std::ssize(shares), [&](std::int64_t s) {
    const auto& share = shares[static_cast<std::size_t>(s)];
    const auto features = std::span(looked[share.node].features).subspan(share.first, share.count);
    const auto rows = rows_of(trees, nodes[share.node]);
    const auto* numbers = data_.pairs.const_data_ptr<std::int64_t>();
    auto* cells = cells_.data() + share.cells;
    if (data_.task.classes > 0)
      add_drawn_classes(data_.binned, data_.bins, numbers, data_.units, rows, features, cells);
    else
      add_drawn_pairs(data_.binned, data_.bins, reinterpret_cast<const Pair*>(numbers), data_.units, rows, features,
                      cells);
  });
  if (data_.task.rows.distributed()) data_.task.rows.comm().allreduce(cells_);
}

void ForestGrower::find(std::span<const OpenNode> nodes, std::vector<Looked>& looked) {
  in_turns(std::ssize(nodes), [&](std::int64_t at) {
    const auto i = static_cast<std::size_t>(at);
    looked[i].split = best_forest_split(data_.bins, looked[i].features, cells_.data() + looked[i].first, nodes[i].sums,
                                        data_.units, data_.limits.rows_of_leaf);
  });
}

/// Refuses nodes with equal numbers. If the best split gains nothing, tests whether all numbers are equal.
void ForestGrower::refuse_pure(const std::vector<GrowingTree>& trees, std::span<const OpenNode> nodes,
                               std::vector<Looked>& looked) const {
  if (data_.task.classes > 0) return;
  std::vector<std::size_t> doubtful;
  std::vector<double> ends;
  const auto* targets = data_.task.targets.const_data_ptr<double>();
  constexpr auto none = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (looked[i].split.gain != 0) continue;
    doubtful.push_back(i);
    double negative_least = none, most = none;
    for (const auto& drawn : rows_of(trees, nodes[i])) {
      negative_least = std::max(negative_least, -targets[drawn.row]);
      most = std::max(most, targets[drawn.row]);
    }
    ends.insert(ends.end(), {negative_least, most});
  }
  if (doubtful.empty()) return;
  if (data_.task.rows.distributed()) data_.task.rows.comm().allreduce(ends, ReduceOp::max);
  for (std::size_t k = 0; k < doubtful.size(); ++k)
    if (-ends[2 * k] == ends[2 * k + 1]) looked[doubtful[k]].split.gain = -1;
}

void ForestGrower::write_value(GrowingTree& tree, const OpenNode& node) const {
  auto* value = tree.tree.values.data() + node.node * tree.tree.outputs;
  const auto& units = data_.units;
  if (data_.task.classes == 0) {
    const auto weight = units.weight_of(node.sums[1]);
    *value = weight > 0 ? units.gradient_of(node.sums[0]) / weight : 0;
    return;
  }
  const auto classes = static_cast<std::size_t>(data_.task.classes);
  double sum = 0;
  for (std::size_t c = 0; c < classes; ++c) sum += value[c] = units.weight_of(node.sums[c]);
  for (std::size_t c = 0; c < classes; ++c) value[c] = sum > 0 ? value[c] / sum : 1 / static_cast<double>(classes);
}

void ForestGrower::divide(std::vector<GrowingTree>& trees, std::span<OpenNode> nodes, const std::vector<Looked>& looked,
                          std::vector<OpenNode>& next) {
  const auto& bins = data_.bins;
  std::vector<std::int64_t> middles(nodes.size());
  std::vector<std::vector<Drawn>> spares(static_cast<std::size_t>(at::get_num_threads()));
  const auto part = [&](std::size_t i) {
    const auto& split = looked[i].split;
    if (split.gain < 0) return;
    std::uint8_t goes_left[edge_stride] = {};
    std::fill(goes_left, goes_left + split.bin + 1, std::uint8_t{1});
    auto& missing = goes_left[bins.count[static_cast<std::size_t>(split.feature)]];
    if (split.missing_left) missing = 1;
    auto& rows = trees[static_cast<std::size_t>(nodes[i].tree)].rows;
    const auto own = std::span(rows).subspan(static_cast<std::size_t>(nodes[i].begin),
                                             static_cast<std::size_t>(nodes[i].end - nodes[i].begin));
    auto& spare = spares[static_cast<std::size_t>(at::get_thread_num())];
    if (spare.size() < own.size()) spare.resize(own.size());
    middles[i] = nodes[i].begin + parted(data_.binned, split.feature, goes_left, own, spare.data());
  };
  if (std::ssize(nodes) < 2 * at::get_num_threads())
    for (std::size_t i = 0; i < nodes.size(); ++i) part(i);
  else in_turns(std::ssize(nodes), [&](std::int64_t i) { part(static_cast<std::size_t>(i)); });

  for (std::size_t i = 0; i < nodes.size(); ++i) {
    auto& node = nodes[i];
    auto& tree = trees[static_cast<std::size_t>(node.tree)];
    const auto& split = looked[i].split;
    if (split.gain < 0) {
      if (++node.tried * data_.limits.features < bins.features && split.feature < 0) next.push_back(std::move(node));
      continue;
    }
    OpenNode left{node.tree, tree.tree.add(), node.begin, middles[i], node.depth + 1, 0, split.left};
    OpenNode right{node.tree, tree.tree.add(), middles[i], node.end, node.depth + 1, 0, node.sums};
    for (std::size_t c = 0; c < right.sums.size(); ++c) right.sums[c] -= left.sums[c];
    const bool more = data_.units.rows(left.sums.data()) > data_.units.rows(right.sums.data());
    const auto j = static_cast<std::size_t>(split.feature);
    const auto* values = bins.values_of(split.feature);
    const bool apart = bins.apart[j] != 0 && split.following > split.bin;
    tree.gains[j] += split.gain;
    tree.tree.nodes[static_cast<std::size_t>(node.node)] = {
        .threshold =
            apart ? between(values[split.bin], values[split.following]) : bins.edges_of(split.feature)[split.bin],
        .feature = split.feature,
        .left = left.node,
        .bin = split.bin,
        .missing_left = bins.missing[j] ? split.missing_left : more};
    for (auto* child : {&left, &right}) {
      write_value(tree, *child);
      if (may_divide(*child)) next.push_back(std::move(*child));
    }
  }
}

std::vector<std::int64_t> sums_of(const ForestGrower::Data& data, std::span<const Drawn> rows) {
  std::vector<std::int64_t> sums(static_cast<std::size_t>(data.units.lanes()), 0);
  const auto* numbers = data.pairs.const_data_ptr<std::int64_t>();
  for (const auto& drawn : rows) {
    const auto times = static_cast<std::int64_t>(drawn.times());
    if (data.task.classes > 0) {
      sums[drawn.label()] += times * numbers[drawn.row] + data.units.one();
    } else {
      sums[0] += times * numbers[2 * drawn.row];
      sums[1] += times * numbers[2 * drawn.row + 1] + data.units.one();
    }
    sums.back() += data.units.one_apart();
  }
  return sums;
}

std::vector<OpenNode> ForestGrower::roots(std::vector<GrowingTree>& trees, std::int64_t& flag) const {
  const auto lanes = static_cast<std::size_t>(data_.units.lanes());
  std::vector<std::int64_t> all(trees.size() * lanes + 1);
  in_turns(std::ssize(trees), [&](std::int64_t t) {
    const auto sums = sums_of(data_, trees[static_cast<std::size_t>(t)].rows);
    std::ranges::copy(sums, all.begin() + t * data_.units.lanes());
  });
  all.back() = flag;
  if (data_.task.rows.distributed()) data_.task.rows.comm().allreduce(all);
  flag = all.back();
  std::vector<OpenNode> open;
  for (std::size_t t = 0; t < trees.size(); ++t) {
    auto& tree = trees[t];
    tree.tree.roots.push_back(tree.tree.add());
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(t * lanes);
    OpenNode root{static_cast<std::int64_t>(t),
                  0,
                  0,
                  std::ssize(tree.rows),
                  0,
                  0,
                  {from, from + static_cast<std::ptrdiff_t>(lanes)}};
    write_value(tree, root);
    if (may_divide(root)) open.push_back(std::move(root));
  }
  return open;
}

void ForestGrower::grow(std::vector<GrowingTree>& trees, std::int64_t& flag) {
  for (auto open = roots(trees, flag); !open.empty();) {
    std::vector<OpenNode> next;
    for (std::size_t begin = 0, end = 0; begin < open.size(); begin = end) {
      std::vector<Looked> looked;
      std::int64_t numbers = 0;
      for (; end < open.size(); ++end) {
        auto features = features_of(open[end], trees[static_cast<std::size_t>(open[end].tree)]);
        std::int64_t more = 0;
        for (const auto j : features) more += data_.units.lanes() * data_.bins.cells_of(j);
        if (end > begin && numbers + more > message_numbers) break;
        looked.push_back({std::move(features), numbers, {}});
        numbers += more;
      }
      cells_.resize(static_cast<std::size_t>(numbers));
      const auto nodes = std::span(open).subspan(begin, end - begin);
      sum_cells(trees, nodes, looked);
      find(nodes, looked);
      refuse_pure(trees, nodes, looked);
      divide(trees, nodes, looked, next);
    }
    open = std::move(next);
  }
}

}  // namespace heatpp::ml::detail
