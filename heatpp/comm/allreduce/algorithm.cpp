#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/combine.hpp>
#include <heatpp/comm/detail/execution.hpp>
#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/state.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace heatpp {
namespace comm {
namespace {

constexpr std::array table{
    Algorithm{"native", nullptr, &native},  Algorithm{"ring", &ring},
    Algorithm{"recursive", &recursive},     Algorithm{"tree", &tree},
    Algorithm{"blueconnect", &blueconnect}, Algorithm{"shared", nullptr, &shared, &shares_memory},
};

// Below this size latency rules, and the stages of a decomposition cost more than they save.
constexpr std::int64_t decompose_from_bytes = std::int64_t{1} << 20;

std::string_view choose(const Topology& topology, std::int64_t bytes) {
  // A topology of several nodes says that these do not share memory, whatever the machine is.
  if (topology.across().size() == 1 && shares_memory(topology)) return "shared";
  const bool hierarchy = topology.node().size() > 1 && topology.across().size() > 1;
  return hierarchy && topology.uniform() && bytes >= decompose_from_bytes ? "blueconnect" : "native";
}

std::string known_names() {
  std::string names;
  for (const auto& algorithm : table) names += fmt::format("{}{}", names.empty() ? "" : ", ", algorithm.name);
  return names;
}

std::unique_ptr<detail::Operation> start(const Algorithm& algorithm, const Topology& topology, Buffer data,
                                         ReduceOp op) {
  const auto& comm = topology.comm();
  if (algorithm.start) return algorithm.start(topology, data, op);
  auto schedule =
      algorithm.schedule(topology.tree(), {comm.rank(), data.count, static_cast<std::int64_t>(itemsize(data.dtype))});
  return std::make_unique<detail::Execution>(comm, std::move(schedule), data, op);
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

}  // namespace comm

namespace {

std::unique_ptr<detail::Operation> start_allreduce(const Topology& topology, const comm::Algorithm& algorithm,
                                                   const Buffer& data, ReduceOp op) {
  topology.comm().impl().count(data.bytes());
  return detail::rounded_once(data, op, topology.comm().size(),
                              [&](Buffer wide) { return comm::start(algorithm, topology, wide, op); });
}

}  // namespace

void Topology::allreduce(Buffer data, ReduceOp op, std::string_view algorithm) const {
  detail::check_op("allreduce", op, data.dtype);
  const auto& chosen = comm::find_algorithm(algorithm, *this, data.bytes());
  if (comm_.size() == 1) return;
  if (chosen.start == &comm::native) return comm_.allreduce(data, op);  // its blocking form has less latency
  detail::run(*start_allreduce(*this, chosen, data, op));
}

Request Topology::iallreduce(Buffer data, ReduceOp op, std::string_view algorithm) const {
  detail::check_op("iallreduce", op, data.dtype);
  const auto& chosen = comm::find_algorithm(algorithm, *this, data.bytes());
  if (comm_.size() == 1) return {};
  return detail::start(start_allreduce(*this, chosen, data, op));
}

}  // namespace heatpp
