#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/schedule/tree.hpp>
#include <heatpp/comm/plan.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace heatpp {

/// How to arrange ranks in levels where the machine is not to be asked. At most one of the four is given; where none
/// is, HEATPP_TOPOLOGY decides (extents such as "2x4", or the name of a file), else the nodes that MPI finds.
struct TopologyOptions {
  /// Extents of the levels, outermost first: {2, 4} is two nodes of four ranks, rank 4 being the first of the second
  /// node.
  std::vector<int> shape = {};
  /// The node of each rank, for two levels and any placement. Must be the same function on all ranks.
  std::function<int(int rank)> node_of = {};
  /// The place of each rank, outermost part first, e.g. {rack, node}; any numbers, and as many of them for all ranks.
  /// Parts may differ in size. Must be the same function on all ranks.
  std::function<std::vector<int>(int rank)> place_of = {};
  /// A file with a line for each node: its place, and its ranks, as in `rack0/node1: 4-7, 12`. `#` starts a comment.
  std::string file = {};
};

/// Options of allreduce.
struct AllreduceOptions {
  ReduceOp op = ReduceOp::sum;
  std::string_view algorithm = {};  ///< empty: HEATPP_ALLREDUCE, or the fastest
  std::int64_t chunk_bytes = 0;     ///< of algorithms that cut the data into chunks; 0: as calibrated, or by the size
  /// Longer messages than this travel in pieces, except on the innermost level: many networks take short ones without
  /// waiting for the receiver. 0: as calibrated, or in one. Of algorithms that are made of messages.
  std::int64_t message_bytes = 0;
  /// The order in which blueconnect, which this selects, goes through levels of more than one part: their numbers,
  /// counted from the innermost. Empty: as calibrated, or outwards.
  std::vector<int> order = {};
  /// The exact sum of floating numbers, or its mean, rounded once: the same bits in any order of the ranks, on every
  /// topology, in any chunks and by any algorithm, for twice the bytes between nodes. HEATPP_REPRODUCIBLE=1 says so for
  /// all. A product is taken in the order of the ranks.
  bool reproducible = false;
  /// How float32 values travel between the parts of the outermost level: float32, bfloat16, or int8 with a scale for
  /// each 256 values, of which one that is not finite makes NaN of all. Inside they travel and are summed in float32.
  Dtype wire = Dtype::float32;
  /// As many values as the data, zero at first and kept by the caller for the next call: what rounding for the wire
  /// took away is added then. Empty: it is lost.
  std::span<float> residual = {};
};

/// What was measured on a machine.
struct Calibration {
  struct Cost {
    std::string level;
    double latency;    ///< seconds
    double bandwidth;  ///< bytes a second that a rank sends and receives, while all groups of the level do
  };
  struct Choice {
    std::int64_t up_to_bytes;
    std::string algorithm;
    std::int64_t chunk_bytes;        ///< 0: by the size
    std::int64_t message_bytes = 0;  ///< 0: in one
    std::vector<int> order = {};     ///< of the levels; empty: outwards
    bool balanced = false;           ///< each chunk has an order of its own, which evens the loads of the levels
    bool rings = false;              ///< levels that go by messages exchange round rings
  };
  std::vector<Cost> costs = {};      ///< innermost level first
  std::vector<Choice> choices = {};  ///< by size
};

/// What this rank sent on a level in collectives that are made of messages, and how long their steps on it lasted.
/// Steps of different chunks overlap.
struct LevelTraffic {
  std::string level;
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
  double seconds = 0;
};

/// One level of the machine. `group` holds the ranks that differ from this one in their place at this level only, e.g.
/// the ranks of a node, or the ranks with the same number in all nodes.
struct Level {
  std::string name;
  Communicator group;
};

/// The levels of the network, each with a communicator of its own that everything above shares. Copies share them.
/// Levels may hold parts of different sizes, with ranks placed anyhow.
class Topology {
 public:
  using Site = Communicator::Site;
  /// Collective over `comm`. Throws ValueError where what is given does not hold exactly the ranks of `comm`, and
  /// IoError for a file that cannot be read.
  explicit Topology(const Communicator& comm, const TopologyOptions& options = {});

  [[nodiscard]] const Communicator& comm() const { return comm_; }
  /// Innermost first; at least two, named "node" and "cluster" unless a deeper shape was given, or the ranks of a node
  /// are bound to several packages of processors, which then are the innermost level, "package".
  [[nodiscard]] const std::vector<Level>& levels() const { return levels_; }
  /// The ranks of this node.
  [[nodiscard]] const Communicator& node() const { return *node_; }
  /// The ranks with this rank's number in each node, over all outer levels.
  [[nodiscard]] const Communicator& across() const { return *across_; }
  /// Whether all parts of a level hold equally many ranks.
  [[nodiscard]] bool uniform() const { return uniform_; }
  /// All ranks, level within level.
  [[nodiscard]] const detail::Tree& tree() const;

  /// Reduces `data` over all ranks in place, by the algorithm named, by HEATPP_ALLREDUCE, or by choice. Every rank gets
  /// the same bits; 16-bit floats are accumulated in float32 and rounded once. Collective over comm(). Throws
  /// ValueError for an unknown name or one that the topology rules out, TypeError for an operation the dtype does not
  /// have.
  void allreduce(Buffer data, ReduceOp op = ReduceOp::sum, std::string_view algorithm = {},
                 Site site = Site::current()) const;
  /// The same, without waiting: `data` belongs to the request until it is waited for.
  [[nodiscard]] Request iallreduce(Buffer data, ReduceOp op = ReduceOp::sum, std::string_view algorithm = {},
                                   Site site = Site::current()) const;

  /// The same with options. Throws TypeError for a wire format that does not fit the data, ValueError for an order that
  /// is not one of the levels, or of levels whose parts differ in size.
  void allreduce(Buffer data, const AllreduceOptions& options, Site site = Site::current()) const;
  [[nodiscard]] Request iallreduce(Buffer data, const AllreduceOptions& options, Site site = Site::current()) const;
  /// The same for many calls on the same memory, and `residual`, which live as long as the plan. Local; all ranks make
  /// plans of the same arguments.
  [[nodiscard]] AllreducePlan plan(Buffer data, const AllreduceOptions& options = {}) const;
  /// Many arrays in one call: small ones travel together. Every rank passes the same list.
  void allreduce(std::span<const Buffer> data, ReduceOp op = ReduceOp::sum, Site site = Site::current()) const;
  [[nodiscard]] Request iallreduce(std::span<const Buffer> data, ReduceOp op = ReduceOp::sum,
                                   Site site = Site::current()) const;
  /// The same with options, but for a residual, for which it throws ValueError.
  [[nodiscard]] Request iallreduce(std::span<const Buffer> data, const AllreduceOptions& options,
                                   Site site = Site::current()) const;

  // Level by level, as BlueConnect does: contracts as those of Communicator.
  /// Leaves in this rank's part of `data` the reduction of that part; the other parts are undefined afterwards.
  void reduce_scatter(Buffer data, std::span<const std::int64_t> counts, ReduceOp op = ReduceOp::sum,
                      Site site = Site::current()) const;
  /// The same, without waiting; memory of a device is waited for.
  [[nodiscard]] Request ireduce_scatter(Buffer data, std::span<const std::int64_t> counts, ReduceOp op = ReduceOp::sum,
                                        Site site = Site::current()) const;
  void allgather(ConstBuffer mine, Buffer all, std::span<const std::int64_t> counts, Site site = Site::current()) const;
  /// The same, without waiting; memory of a device is waited for.
  [[nodiscard]] Request iallgather(ConstBuffer mine, Buffer all, std::span<const std::int64_t> counts,
                                   Site site = Site::current()) const;
  Request iallgather(const Temporary auto&& mine, Buffer all, std::span<const std::int64_t> counts) const = delete;
  void broadcast(Buffer data, int root, Site site = Site::current()) const;
  /// The reduction ends up in `data` of `root`; that of the other ranks is undefined afterwards.
  void reduce(Buffer data, int root, ReduceOp op = ReduceOp::sum, Site site = Site::current()) const;

  /// Times messages on each level and all all-reduces at several sizes, in a second or two, and lets all copies choose
  /// by that from now on: the same on all ranks. With HEATPP_CALIBRATION=<file> a topology is calibrated when it is
  /// made, or takes what an earlier run with the same arrangement wrote there. Collective.
  const Calibration& calibrate();
  /// Empty before calibrate().
  [[nodiscard]] const Calibration& calibration() const;

  /// Of the topologies of this communicator together, innermost level first. Local.
  [[nodiscard]] std::vector<LevelTraffic> traffic() const;

  struct State;
  [[nodiscard]] State& state() const { return *state_; }

 private:
  void make_levels();
  void share_memory();

  Communicator comm_;
  std::vector<Level> levels_;
  std::optional<Communicator> node_, across_;
  bool uniform_ = true;
  std::shared_ptr<State> state_;
};

namespace comm {
/// A picture of the levels and of who sits where, in text.
[[nodiscard]] std::string describe(const Topology& topology);
}  // namespace comm

}  // namespace heatpp
