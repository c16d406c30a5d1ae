#pragma once

#include <heatpp/comm/detail/progress/operation.hpp>
#include <heatpp/comm/detail/schedule/schedule.hpp>
#include <heatpp/comm/topology.hpp>

namespace heatpp::comm {

/// What a schedule is made for.
struct Job {
  int rank;
  std::int64_t count;
  std::int64_t itemsize;           ///< of what travels between nodes
  std::int64_t chunk = 0;          ///< elements; 0: as the algorithm has it
  detail::NodeMemory memory = {};  ///< what the ranks of a node share
  /// Of the levels of several parts, innermost first: each chunk has the order of levels that evens their loads. None:
  /// all go outwards.
  std::span<const Calibration::Cost> costs = {};
  detail::Style style = detail::Style::direct;  ///< of blueconnect's levels that go by messages
};

/// An all-reduce over a topology. Each lives in a file of its own beside this one and is a line of the table in
/// algorithm.cpp. It is either a schedule of messages, which is a function of the machine and the size alone, or an
/// operation of its own.
struct Algorithm {
  std::string_view name;
  detail::Schedule (*schedule)(const detail::Tree& tree, const Job& job);
  std::unique_ptr<detail::Operation> (*start)(const Topology& topology, Buffer data, ReduceOp op) = nullptr;
  bool (*fits)(const Topology& topology) = nullptr;  ///< nullptr: it fits all
};

/// All of them.
[[nodiscard]] std::span<const Algorithm> algorithms();

/// The one with this name. Throws ValueError for a name that is not in the table.
[[nodiscard]] const Algorithm& algorithm(std::string_view name);

/// An algorithm, the size of its chunks, 0 for its own, of its longest message, 0 for any, the order of the levels,
/// empty for outwards, whether each chunk has one of its own, and whether messages go round rings.
struct Choice {
  const Algorithm* algorithm;
  std::int64_t chunk_bytes = 0, message_bytes = 0;
  std::vector<int> order = {};
  bool balanced = false, rings = false;
};
/// One of a calibration.
[[nodiscard]] Choice choice_of(const Calibration::Choice& choice, const Topology& topology);
/// The algorithm with that name; for an empty name the one that HEATPP_ALLREDUCE names, or the one for this size.
/// Throws ValueError for a name that is not in the table, and an algorithm that does not fit the machine.
[[nodiscard]] Choice find_algorithm(std::string_view name, const Topology& topology, std::int64_t bytes);

/// The MPI library's all-reduce over all ranks.
[[nodiscard]] std::unique_ptr<detail::Operation> native(const Topology& topology, Buffer data, ReduceOp op);

/// Every rank reduces a slice of the data from the memory of all. Where they share memory.
[[nodiscard]] std::unique_ptr<detail::Operation> shared(const Topology& topology, Buffer data, ReduceOp op);
[[nodiscard]] bool shares_memory(const Topology& topology);

/// Reduce-scatter and all-gather round a ring of all ranks in the order of the topology.
[[nodiscard]] detail::Schedule ring(const detail::Tree& tree, const Job& job);

/// Recursive halving and doubling over all ranks in the order of the topology, in 2 log2 p steps; numbers of ranks
/// other than powers of two go by other factors, or by halves of different size.
[[nodiscard]] detail::Schedule recursive(const detail::Tree& tree, const Job& job);

/// Each rank exchanges the whole data with one twice as far away at each step, in log2 p steps: for the least.
[[nodiscard]] detail::Schedule doubling(const detail::Tree& tree, const Job& job);

/// Up to one rank and down again, node by node, in 2 log2 p steps of the whole data: for small messages.
[[nodiscard]] detail::Schedule tree(const detail::Tree& tree, const Job& job);

/// Reduce-scatter at each level from the innermost out and all-gather back in, so that level l carries 1 / (ranks below
/// it) of the data and all its groups work at once (Cho et al., BlueConnect, MLSys 2019), in chunks that are on
/// different levels at the same time. Parts of a level may differ in size.
[[nodiscard]] detail::Schedule blueconnect(const detail::Tree& tree, const Job& job);
/// The same with the outermost level coded for the wire.
[[nodiscard]] detail::Schedule coded_blueconnect(const detail::Tree& tree, const Job& job);

/// Every rank sums a share of the data from all ranks, in the order of the communicator's ranks: the same bits on every
/// topology. Between nodes it sends as often as there are ranks in a node what blueconnect sends.
[[nodiscard]] detail::Schedule ordered(const detail::Tree& tree, const Job& job);

}  // namespace heatpp::comm
