#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/state.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace heatpp::comm {
namespace {

constexpr std::array table{
    Algorithm{"native", nullptr, &native},
    Algorithm{"ring", &ring},
    Algorithm{"recursive", &recursive},
    Algorithm{"tree", &tree},
    Algorithm{"blueconnect", &blueconnect},
    Algorithm{"ordered", &ordered},
    Algorithm{"shared", nullptr, &shared, &shares_memory},
};

// Below this size latency rules, and the stages of a decomposition cost more than they save.
constexpr std::int64_t decompose_from_bytes = std::int64_t{1} << 20;

std::string_view choose(const Topology& topology, std::int64_t bytes) {
  const auto& state = topology.state();
  // A topology of several nodes says that these do not share memory, whatever the machine is.
  if (state.nodes == 1 && shares_memory(topology)) return "shared";
  const bool hierarchy = state.nodes > 1 && state.largest_node > 1;
  return hierarchy && bytes >= decompose_from_bytes ? "blueconnect" : "native";
}

std::string known_names() {
  std::string names;
  for (const auto& algorithm : table) names += fmt::format("{}{}", names.empty() ? "" : ", ", algorithm.name);
  return names;
}

}  // namespace

std::span<const Algorithm> algorithms() { return table; }

const Algorithm& find_algorithm(std::string_view name, const Topology& topology, std::int64_t bytes) {
  const char* wanted = std::getenv("HEATPP_ALLREDUCE");
  if (name.empty()) name = wanted && *wanted ? std::string_view(wanted) : choose(topology, bytes);
  const auto found = std::ranges::find(table, name, &Algorithm::name);
  if (found == table.end())
    detail::raise<ValueError>("allreduce", "got the algorithm \"{}\"; expected one of {}", name, known_names());
  if (found->fits && !found->fits(topology))
    detail::raise<ValueError>("allreduce", "got the algorithm \"{}\" for ranks that share no memory; expected another",
                              name);
  return *found;
}

}  // namespace heatpp::comm
