#include <heatpp/sparse/detail/strong.hpp>

#include <heatpp/comm/detail/hash.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/detail/route.hpp>
#include <heatpp/sparse/detail/halo.hpp>
#include <heatpp/sparse/detail/impl.hpp>
#include <heatpp/sparse/detail/tarjan.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <queue>
#include <utility>

namespace heatpp::sparse::detail {
namespace {

constexpr std::int64_t none = -1;

std::size_t at(std::int32_t node) { return static_cast<std::size_t>(node); }

/// Returns the place of a vertex in a pseudorandom order, which differs from round to round.
std::uint64_t place_of(std::int64_t vertex, std::uint64_t round) {
  return heatpp::detail::mixed(round, static_cast<std::uint64_t>(vertex));
}

Edges edges_of(const CsrBlock& block, const at::Tensor& columns) {
  Edges edges;
  const auto* column = columns.const_data_ptr<std::int32_t>();
  edges.begins.assign(block.ptr(), block.ptr() + block.rows() + 1);
  edges.targets.assign(column, column + edges.begins.back());
  return edges;
}

/// Nodes of the graph on this rank. Vertices that this rank's own edges connect strongly form one node. The vertices of
/// other ranks to which edges lead follow as nodes without edges.
struct Nodes {
  std::vector<std::int32_t> of_vertex;
  std::vector<std::int64_t> least;  ///< vertex of each own node, by which others know it
  Edges out, in;                    ///< from own nodes to all, and from all to own
  [[nodiscard]] std::int32_t own() const { return static_cast<std::int32_t>(least.size()); }
};

Nodes nodes_of(const Edges& edges, std::int64_t first, std::int64_t others) {
  Nodes nodes{strong_components_of(edges), {}, {}, {}};
  for (std::size_t v = 0; v < nodes.of_vertex.size(); ++v) {
    const auto node = at(nodes.of_vertex[v]);
    if (node >= nodes.least.size()) nodes.least.resize(node + 1, none);
    if (nodes.least[node] == none) nodes.least[node] = first + static_cast<std::int64_t>(v);
  }
  const auto each_edge = [&](auto f) {
    const auto vertices = edges.vertices();
    for (std::int32_t v = 0; v < vertices; ++v)
      for (const auto target : edges.of(v)) {
        const auto to = target < vertices ? nodes.of_vertex[at(target)] : nodes.own() + target - vertices;
        if (to != nodes.of_vertex[at(v)]) f(nodes.of_vertex[at(v)], to);
      }
  };
  auto& begins = nodes.out.begins;
  begins.assign(nodes.least.size() + 1, 0);
  each_edge([&](auto from, auto) { ++begins[at(from) + 1]; });
  for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
  nodes.out.targets.resize(static_cast<std::size_t>(begins.back()));
  auto free = begins;
  each_edge([&](auto from, auto to) { nodes.out.targets[static_cast<std::size_t>(free[at(from)]++)] = to; });
  nodes.in = reversed(nodes.out, nodes.own() + static_cast<std::int32_t>(others));
  return nodes;
}

/// Finds the components of a graph whose parts lie on the ranks. A node that no edge enters, or that no edge leaves, is
/// a component (McLendon et al. 2005). Every other node finds the node that reaches it and comes first in a random
/// order. Nodes with the same first node are a region. The nodes of the region that also reach this first node are a
/// component (Orzan 2004). No component has nodes of several regions.
class Search {
 public:
  Search(const DCSRMatrix& a, const HaloPlan& plan)
      : comm_(a.comm()),
        plan_(plan),
        nodes_(nodes_of(edges_of(block_of(a), plan.columns.places), first_row(a), plan.received)),
        region_(at(nodes_.own()) + static_cast<std::size_t>(plan.received), 0),
        found_(at(nodes_.own()), none) {}

  /// Returns for each own node a vertex that names its component.
  std::vector<std::int64_t> operator()() {
    for (std::uint64_t round = 0; any_left(); ++round) {
      peel();
      spread(round);
      gather();
    }
    return std::move(found_);
  }
  [[nodiscard]] const Nodes& nodes() const { return nodes_; }

 private:
  [[nodiscard]] std::int32_t own() const { return nodes_.own(); }
  [[nodiscard]] bool lives(std::int32_t node) const { return region_[at(node)] != none; }
  [[nodiscard]] bool joined(std::int32_t from, std::int32_t to) const {
    return lives(from) && region_[at(from)] == region_[at(to)];
  }
  [[nodiscard]] bool any(bool here) const {
    std::array<bool, 1> flag{here};
    comm_.allreduce(flag);
    return flag[0];
  }
  [[nodiscard]] bool any_left() const {
    return any(std::any_of(region_.begin(), region_.begin() + own(), [](auto region) { return region != none; }));
  }

  /// Returns the values that other ranks hold for their nodes.
  std::vector<std::int64_t> asked(const std::vector<std::int64_t>& own_values) const {
    auto values = at::empty({plan_.own}, at::kLong);
    for (std::int64_t v = 0; v < plan_.own; ++v)
      values.mutable_data_ptr<std::int64_t>()[v] = own_values[at(nodes_.of_vertex[static_cast<std::size_t>(v)])];
    Halo halo(plan_, values, comm_);
    const auto& told = halo.wait();
    return {told.const_data_ptr<std::int64_t>(), told.const_data_ptr<std::int64_t>() + told.numel()};
  }
  /// Sends a number for each node of another rank to its owner. Calls f(own node, number) for each number that arrives.
  template <class F>
  void tell(std::span<const std::int64_t> of_others, F f) const {
    const at::Tensor heard = heatpp::detail::exchange_rows(at::tensor(at::ArrayRef(of_others.data(), of_others.size())),
                                                           plan_.receive, plan_.send, comm_);
    const auto* places = plan_.sent.const_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < heard.numel(); ++i)
      f(nodes_.of_vertex[static_cast<std::size_t>(places[i])], heard.const_data_ptr<std::int64_t>()[i]);
  }

  /// Receives the current regions of other ranks' nodes. Calls f(node, former region) for nodes whose component has
  /// become known.
  template <class F>
  void hear_regions(F f) {
    const auto regions = asked({region_.begin(), region_.begin() + own()});
    for (std::size_t i = 0; i < regions.size(); ++i) {
      const auto before = std::exchange(region_[at(own()) + i], regions[i]);
      if (before != none && regions[i] == none) f(own() + static_cast<std::int32_t>(i), before);
    }
  }

  /// Removes nodes that no edge enters, or that no edge leaves, until each node has both kinds of edges.
  void peel() {
    hear_regions([](auto, auto) {});
    std::vector<std::int64_t> in(region_.size(), 0), out(at(own()), 0);
    for (std::int32_t node = 0; node < own(); ++node)
      for (const auto to : nodes_.out.of(node))
        if (joined(node, to)) ++out[at(node)], ++in[at(to)];
    tell(std::span(in).subspan(at(own())), [&](auto node, auto more) { in[at(node)] += more; });
    std::vector<std::int32_t> ends;
    for (std::int32_t node = 0; node < own(); ++node)
      if (lives(node) && (in[at(node)] == 0 || out[at(node)] == 0)) ends.push_back(node);
    const auto lose = [&](std::vector<std::int64_t>& edges, std::int32_t node, std::int64_t count) {
      if (lives(node) && count > 0 && (edges[at(node)] -= count) == 0) ends.push_back(node);
    };
    while (any(!ends.empty())) {
      std::vector<std::int64_t> lost(region_.size(), 0);
      while (!ends.empty()) {
        const auto node = ends.back();
        ends.pop_back();
        if (!lives(node)) continue;
        const auto region = take(node, nodes_.least[at(node)]);
        for (const auto to : nodes_.out.of(node))
          if (region_[at(to)] == region) {
            if (to < own()) lose(in, to, 1);
            else ++lost[at(to)];
          }
        for (const auto from : nodes_.in.of(node))
          if (region_[at(from)] == region) lose(out, from, 1);
      }
      tell(std::span(lost).subspan(at(own())), [&](auto node, auto count) { lose(in, node, count); });
      hear_regions([&](auto node, auto region) {
        for (const auto from : nodes_.in.of(node))
          if (region_[at(from)] == region) lose(out, from, 1);
      });
    }
  }

  /// Adds the node to the component that a vertex names. Returns its region.
  std::int64_t take(std::int32_t node, std::int64_t component) {
    found_[at(node)] = component;
    return std::exchange(region_[at(node)], none);
  }

  /// Returns for each node the first vertex, in the order of this round, that reaches it within its region.
  void spread(std::uint64_t round) {
    reached_by_.assign(region_.size(), none);
    const auto before = [round](std::int64_t a, std::int64_t b) {
      return b == none || place_of(a, round) < place_of(b, round);
    };
    using Entry = std::pair<std::uint64_t, std::int32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    const auto reach = [&](std::int32_t node, std::int64_t vertex) {
      if (vertex == none || !before(vertex, reached_by_[at(node)])) return false;
      reached_by_[at(node)] = vertex;
      if (node < own()) open.emplace(place_of(vertex, round), node);
      return true;
    };
    for (std::int32_t node = 0; node < own(); ++node)
      if (lives(node)) reach(node, nodes_.least[at(node)]);
    for (bool changed = true; changed;) {
      while (!open.empty()) {
        const auto [place, node] = open.top();
        open.pop();
        if (place != place_of(reached_by_[at(node)], round)) continue;
        for (const auto to : nodes_.out.of(node))
          if (joined(node, to)) reach(to, reached_by_[at(node)]);
      }
      bool here = false;
      tell(std::span(reached_by_).subspan(at(own())), [&](auto node, auto vertex) { here |= reach(node, vertex); });
      changed = any(here);
    }
  }

  /// Finds the nodes that reach the first vertex by which they are reached: they are its component. The other nodes
  /// with this first vertex become a new region.
  void gather() {
    const auto vertices = asked({reached_by_.begin(), reached_by_.begin() + own()});
    std::ranges::copy(vertices, reached_by_.begin() + own());
    std::vector<std::int64_t> reaches(region_.size(), 0);
    std::vector<std::int32_t> open;
    const auto add = [&](std::int32_t node) {
      reaches[at(node)] = 1;
      open.push_back(node);
    };
    for (std::int32_t node = 0; node < own(); ++node)
      if (lives(node) && reached_by_[at(node)] == nodes_.least[at(node)]) add(node);
    for (bool changed = true; changed;) {
      while (!open.empty()) {
        const auto node = open.back();
        open.pop_back();
        for (const auto from : nodes_.in.of(node))
          if (joined(from, node) && reached_by_[at(from)] == reached_by_[at(node)] && reaches[at(from)] == 0) add(from);
      }
      const auto others = asked({reaches.begin(), reaches.begin() + own()});
      for (std::size_t i = 0; i < others.size(); ++i)
        if (others[i] != 0 && reaches[at(own()) + i] == 0) add(own() + static_cast<std::int32_t>(i));
      changed = any(!open.empty());
    }
    for (std::int32_t node = 0; node < own(); ++node) {
      if (!lives(node)) continue;
      if (reaches[at(node)] != 0) take(node, reached_by_[at(node)]);
      else region_[at(node)] = reached_by_[at(node)];
    }
  }

  const Communicator& comm_;
  const HaloPlan& plan_;
  Nodes nodes_;
  std::vector<std::int64_t> region_;      ///< of each node; none if its component is known
  std::vector<std::int64_t> found_;       ///< a vertex of the component of each own node
  std::vector<std::int64_t> reached_by_;  ///< of each node, in this round
};

at::Tensor tensor_of(const std::vector<std::int64_t>& values) { return at::tensor(at::ArrayRef(values)); }

/// Returns for each name the lowest of the vertices that the ranks give.
at::Tensor least_by_name(const at::Tensor& names, const at::Tensor& vertices, const DCSRMatrix& a) {
  const auto first = a.layout().offset(a.comm().rank()), rows = a.layout().offset(a.comm().rank() + 1) - first;
  const auto route = heatpp::detail::route_to(heatpp::detail::owners_of(names, a.layout().cut()), a.comm());
  const auto places = route.there(names) - first;
  const auto least = at::full({rows}, std::numeric_limits<std::int64_t>::max(), at::kLong)
                         .scatter_reduce(0, places, route.there(vertices), "amin");
  return route.back(least.index_select(0, places));
}

at::Tensor for_vertices(const at::Tensor& of_nodes, const Nodes& nodes) {
  return of_nodes.index_select(0, at::tensor(at::ArrayRef(nodes.of_vertex), at::kInt));
}

}  // namespace

at::Tensor least_of_strong_components(const DCSRMatrix& a) {
  if (!a.split()) {
    const auto nodes = nodes_of(edges_of(block_of(a), block_of(a).columns.to(at::kInt)), 0, 0);
    return for_vertices(tensor_of(nodes.least), nodes);
  }
  const auto plan = halo_plan(a, a.layout().cut());
  Search search(a, *plan);
  const auto names = tensor_of(search());
  return for_vertices(least_by_name(names, tensor_of(search.nodes().least), a), search.nodes());
}

}  // namespace heatpp::sparse::detail
