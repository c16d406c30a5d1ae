#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/progress/collective.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/shared/by_nodes.hpp>
#include <heatpp/comm/detail/shared/collectives.hpp>
#include <heatpp/comm/detail/state.hpp>

#include <algorithm>
#include <array>

namespace heatpp::comm {
namespace {

bool share_memory(const Topology& topology) { return detail::shares_memory(topology.comm()); }
bool have_nodes(const Topology& topology) { return topology.state().groups != nullptr; }

constexpr std::array table{
    Algorithm{"native", nullptr, &native},
    Algorithm{"ring", &ring},
    Algorithm{"recursive", &recursive},
    Algorithm{"doubling", &doubling},
    Algorithm{"tree", &tree},
    Algorithm{"blueconnect", &blueconnect},
    Algorithm{"ordered", &ordered},
    Algorithm{"shared", nullptr, &shared, &share_memory},
    Algorithm{"nodes", nullptr, &detail::allreduce_by_nodes, &have_nodes},
};

bool fits(const Algorithm& algorithm, const Topology& topology) {
  return topology.comm().size() == 1 || !algorithm.fits || algorithm.fits(topology);
}

std::string known_names() {
  std::string names;
  for (const auto& algorithm : table) names += detail::formatted("{}{}", names.empty() ? "" : ", ", algorithm.name);
  return names;
}

const Algorithm& named(std::string_view name, const Topology& topology) {
  const auto& found = algorithm(name);
  if (!fits(found, topology))
    detail::raise<ValueError>("allreduce", "got the algorithm \"{}\" for ranks that share no memory; expected another",
                              name);
  return found;
}

/// The choice for arrays and topologies alike.
Choice choose(const Topology& topology, std::int64_t bytes) {
  const auto& state = topology.state();
  for (const auto& choice : state.calibration.choices)
    if (bytes <= choice.up_to_bytes) return choice_of(choice);
  if (detail::by_segment(topology)) return {&algorithm("shared")};
  // Plans of a program's topology start again without allocations, which "nodes" does not.
  const bool by_nodes = state.groups && state.levels.empty();
  if (bytes <= detail::small_bytes) return {&algorithm(by_nodes ? "nodes" : "doubling")};
  return {&algorithm(state.nodes > 1 && bytes >= detail::decompose_from_bytes ? "blueconnect" : "native")};
}

}  // namespace

std::span<const Algorithm> algorithms() { return table; }

const Algorithm& algorithm(std::string_view name) {
  const auto found = std::ranges::find(table, name, &Algorithm::name);
  if (found == table.end())
    detail::raise<ValueError>("allreduce", "got the algorithm \"{}\"; expected one of {}", name, known_names());
  return *found;
}

Choice choice_of(const Calibration::Choice& choice) {
  return {&algorithm(choice.algorithm),
          choice.chunk_bytes,
          choice.message_bytes,
          choice.order,
          choice.balanced,
          choice.rings};
}

Choice find_algorithm(std::string_view name, const Topology& topology, std::int64_t bytes) {
  if (!name.empty()) return {&named(name, topology)};
  const std::string_view wanted = topology.state().settings->allreduce;
  if (!wanted.empty() && fits(algorithm(wanted), topology)) return {&algorithm(wanted)};
  return choose(topology, bytes);
}

}  // namespace heatpp::comm
