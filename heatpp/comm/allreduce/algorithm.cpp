#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace heatpp::comm {
namespace {

constexpr std::array table{
    Algorithm{"native", &native, false},
    Algorithm{"blueconnect", &blueconnect, true},
};

// Below this size latency rules, and the stages of a decomposition cost more than they save.
constexpr std::int64_t decompose_from_bytes = std::int64_t{1} << 20;

std::string_view choose(const Topology& topology, std::int64_t bytes) {
  const bool hierarchy = topology.node().size() > 1 && topology.across().size() > 1;
  return hierarchy && topology.uniform() && bytes >= decompose_from_bytes ? "blueconnect" : "native";
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
  if (found->needs_uniform && !topology.uniform())
    detail::raise<ValueError>(
        "allreduce", "got the algorithm \"{}\" for nodes with different numbers of ranks; expected equal nodes", name);
  return *found;
}

}  // namespace heatpp::comm
