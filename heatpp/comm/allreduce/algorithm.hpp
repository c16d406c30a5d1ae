#pragma once

#include <heatpp/comm/detail/progress/operation.hpp>
#include <heatpp/comm/detail/schedule/schedule.hpp>
#include <heatpp/comm/topology.hpp>

namespace heatpp::comm {

/// The arguments of a schedule.
struct Job {
  int rank;
  std::int64_t count;
  std::int64_t itemsize;           ///< of the elements that travel between nodes
  std::int64_t chunk = 0;          ///< elements; 0: the algorithm's own size
  detail::NodeMemory memory = {};  ///< the shared memory of a node
  /// Costs of the levels with several parts, innermost first. If they are given, each chunk has the order of levels
  /// that evens their loads. Empty: all chunks go outwards.
  std::span<const Calibration::Cost> costs = {};
  detail::Style style = detail::Style::direct;  ///< of the levels of blueconnect that use messages
};

/// An all-reduce over a topology. Each has its own file beside this one and one line in the table in algorithm.cpp. It
/// is either a schedule of messages, which is a function of the machine and the size alone, or an operation of its
/// own.
struct Algorithm {
  std::string_view name;
  detail::Schedule (*schedule)(const detail::Tree& tree, const Job& job);
  std::unique_ptr<detail::Operation> (*start)(const Topology& topology, Buffer data, ReduceOp op,
                                              const char* call) = nullptr;
  bool (*fits)(const Topology& topology) = nullptr;  ///< nullptr: it fits every machine
};

/// Returns all algorithms.
[[nodiscard]] std::span<const Algorithm> algorithms();

/// Returns the algorithm with this name. Throws ValueError if the table has no such name.
[[nodiscard]] const Algorithm& algorithm(std::string_view name);

/// An algorithm and its settings: the size of its chunks (0: its own), of its longest message (0: any), the order of
/// the levels (empty: outwards), whether each chunk has its own order, and whether messages go round rings.
struct Choice {
  const Algorithm* algorithm;
  std::int64_t chunk_bytes = 0, message_bytes = 0;
  std::vector<int> order = {};
  bool balanced = false, rings = false;
};
/// Converts a choice of a calibration.
[[nodiscard]] Choice choice_of(const Calibration::Choice& choice);
/// Returns the algorithm with that name. For an empty name: that of HEATPP_ALLREDUCE if it fits, or the one for this
/// machine and size. Throws ValueError if the table has no such name or the algorithm does not fit.
[[nodiscard]] Choice find_algorithm(std::string_view name, const Topology& topology, std::int64_t bytes);

/// The all-reduce of the MPI library over all ranks.
[[nodiscard]] std::unique_ptr<detail::Operation> native(const Topology& topology, Buffer data, ReduceOp op,
                                                        const char* call);

/// Every rank reduces a slice of the data from the memory of all ranks, which have to share memory.
[[nodiscard]] std::unique_ptr<detail::Operation> shared(const Topology& topology, Buffer data, ReduceOp op,
                                                        const char* call);

/// Reduce-scatter and all-gather round a ring of all ranks, in the order of the topology.
[[nodiscard]] detail::Schedule ring(const detail::Tree& tree, const Job& job);

/// Recursive halving and doubling over all ranks in the order of the topology, in 2 log2 p steps. Numbers of ranks that
/// are no powers of two use other factors, or halves of different size.
[[nodiscard]] detail::Schedule recursive(const detail::Tree& tree, const Job& job);

/// Each rank exchanges the whole data with a rank twice as far away at each step, in log2 p steps. For tiny data.
[[nodiscard]] detail::Schedule doubling(const detail::Tree& tree, const Job& job);

/// Reduces up to one rank and sends down again, node by node, in 2 log2 p steps of the whole data. For small data.
[[nodiscard]] detail::Schedule tree(const detail::Tree& tree, const Job& job);

/// Reduce-scatter at each level from the innermost out and all-gather back in. So level l carries 1 / (ranks below it)
/// of the data and all its groups work at once (Cho et al., BlueConnect, MLSys 2019). Chunks are on different levels at
/// the same time. Parts of a level may differ in size.
[[nodiscard]] detail::Schedule blueconnect(const detail::Tree& tree, const Job& job);
/// blueconnect whose outermost level is coded for the wire.
[[nodiscard]] detail::Schedule coded_blueconnect(const detail::Tree& tree, const Job& job);

/// Every rank sums a share of the data from all ranks, in the order of the communicator's ranks, with the same bits on
/// every topology. Between nodes it sends what blueconnect sends, times the number of ranks in a node.
[[nodiscard]] detail::Schedule ordered(const detail::Tree& tree, const Job& job);

}  // namespace heatpp::comm
