#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/state.hpp>

#include <algorithm>
#include <array>

namespace heatpp::comm {
namespace {

constexpr std::array table{
    Algorithm{"native", nullptr, &native},
    Algorithm{"ring", &ring},
    Algorithm{"recursive", &recursive},
    Algorithm{"doubling", &doubling},
    Algorithm{"tree", &tree},
    Algorithm{"blueconnect", &blueconnect},
    Algorithm{"ordered", &ordered},
    Algorithm{"shared", nullptr, &shared, &shares_memory},
};

// Below this size latency dominates, and the stages of a decomposition cost more than they save.
constexpr std::int64_t decompose_from_bytes = 64 << 10;
constexpr std::int64_t whole_to_bytes = 4 << 10;

std::string known_names() {
  std::string names;
  for (const auto& algorithm : table) names += detail::formatted("{}{}", names.empty() ? "" : ", ", algorithm.name);
  return names;
}

const Algorithm* named(std::string_view name, const Topology& topology) {
  const auto& found = algorithm(name);
  if (topology.comm().size() > 1 && found.fits && !found.fits(topology))
    detail::raise<ValueError>("allreduce", "got the algorithm \"{}\" for ranks that share no memory; expected another",
                              name);
  return &found;
}

Choice choose(const Topology& topology, std::int64_t bytes) {
  const auto& state = topology.state();
  for (const auto& choice : state.calibration.choices)
    if (bytes <= choice.up_to_bytes) return choice_of(choice, topology);
  // A topology of several nodes says that they share no memory, whatever the machine is.
  if (state.nodes == 1 && shares_memory(topology)) return {named("shared", topology)};
  if (bytes <= whole_to_bytes) return {named("doubling", topology)};
  return {named(state.nodes > 1 && bytes >= decompose_from_bytes ? "blueconnect" : "native", topology)};
}

}  // namespace

std::span<const Algorithm> algorithms() { return table; }

const Algorithm& algorithm(std::string_view name) {
  const auto found = std::ranges::find(table, name, &Algorithm::name);
  if (found == table.end())
    detail::raise<ValueError>("allreduce", "got the algorithm \"{}\"; expected one of {}", name, known_names());
  return *found;
}

Choice choice_of(const Calibration::Choice& choice, const Topology& topology) {
  return {named(choice.algorithm, topology),
          choice.chunk_bytes,
          choice.message_bytes,
          choice.order,
          choice.balanced,
          choice.rings};
}

Choice find_algorithm(std::string_view name, const Topology& topology, std::int64_t bytes) {
  const std::string_view wanted = name.empty() ? topology.state().settings->allreduce : name;
  return wanted.empty() ? choose(topology, bytes) : Choice{named(wanted, topology)};
}

}  // namespace heatpp::comm
