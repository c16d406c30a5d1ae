#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/topology.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <numeric>

namespace heatpp {
namespace {

/// "2x4" -> {2, 4}.
std::vector<int> parse_shape(std::string_view text) {
  std::vector<int> shape;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    int extent = 0;
    const auto [next, error] = std::from_chars(at, end, extent);
    if (error != std::errc() || extent < 1 || (next != end && *next != 'x'))
      detail::raise<ValueError>("Topology", "got HEATPP_TOPOLOGY=\"{}\"; expected extents such as 2x4, outermost first",
                                text);
    shape.push_back(extent);
    if (next == end) return shape;
    at = next + 1;
  }
}

std::vector<int> wanted_shape(const TopologyOptions& options) {
  if (!options.shape.empty() || options.node_of) return options.shape;
  const char* text = std::getenv("HEATPP_TOPOLOGY");
  return text && *text ? parse_shape(text) : std::vector<int>{};
}

void check_shape(const std::vector<int>& shape, int ranks) {
  const auto product = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  if (product != ranks || std::ranges::any_of(shape, [](int extent) { return extent < 1; }))
    detail::raise<ValueError>("Topology", "got the shape {} for {} ranks; expected positive extents with that product",
                              detail::tuple_text(shape), ranks);
}

std::string level_name(std::size_t level, std::size_t count) {
  if (level == 0) return "node";
  if (level + 1 == count) return "cluster";
  return level == 1 ? "rack" : fmt::format("level {}", level);
}

}  // namespace

Topology::Topology(const Communicator& comm, const TopologyOptions& options) : comm_(comm) {
  auto shape = wanted_shape(options);
  if (!shape.empty()) {
    check_shape(shape, comm.size());
    if (shape.size() == 1) shape.insert(shape.begin(), 1);
    place_in_grid(shape);
  } else if (options.node_of) {
    place_in_nodes(options.node_of(comm.rank()));
  } else {
    // A node is named by its lowest rank.
    std::array<std::int64_t, 1> lowest{comm.rank()};
    comm.split_shared().allreduce(lowest, ReduceOp::min);
    place_in_nodes(static_cast<int>(lowest[0]));
  }
}

void Topology::place_in_grid(const std::vector<int>& shape) {
  int inner = 1;  // ranks below the current level
  for (std::size_t level = 0; level < shape.size(); ++level) {
    const int extent = shape[shape.size() - 1 - level];
    const int place = comm_.rank() / inner % extent;
    levels_.push_back({level_name(level, shape.size()), *comm_.split(comm_.rank() - place * inner, comm_.rank())});
    inner *= extent;
  }
  across_ = shape.size() == 2 ? levels_[1].group : *comm_.split(comm_.rank() % shape.back(), comm_.rank());
}

void Topology::place_in_nodes(int node) {
  const auto all = comm_.allgather(node);
  // Node numbers may be anything; MPI wants colours that are not negative.
  auto distinct = all;
  std::ranges::sort(distinct);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const auto color = [&](std::int64_t id) {
    return static_cast<int>(std::ranges::lower_bound(distinct, id) - distinct.begin());
  };
  std::vector<int> ranks_in(distinct.size());
  for (const auto id : all) ++ranks_in[static_cast<std::size_t>(color(id))];
  uniform_ = std::ranges::all_of(ranks_in, [&](int n) { return n == ranks_in.front(); });

  levels_.push_back({"node", *comm_.split(color(node), comm_.rank())});
  levels_.push_back({"cluster", *comm_.split(levels_[0].group.rank(), color(node))});
  across_ = levels_[1].group;
}

void Topology::allreduce(Buffer data, ReduceOp op, std::string_view algorithm) const {
  comm::find_algorithm(algorithm, *this, data.bytes()).run(*this, data, op);
}

std::string comm::describe(const Topology& topology) {
  std::string text = fmt::format("{} ranks\n", topology.comm().size());
  for (auto level = topology.levels().rbegin(); level != topology.levels().rend(); ++level)
    text += fmt::format("{:>10}: groups of {}{}\n", level->name, level->group.size(),
                        topology.uniform() ? "" : " (nodes differ)");
  return text;
}

}  // namespace heatpp
