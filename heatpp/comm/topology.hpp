#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/plan.hpp>
#include <heatpp/comm/wire.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace heatpp {

class Topology;
namespace detail {
class Tree;
/// Returns the topology by which the collectives of `comm` go, without groups for its levels.
[[nodiscard]] Topology topology_of(const Communicator& comm);
}  // namespace detail

/// How to arrange ranks in levels without asking the machine. Give at most one of the four. If none is given,
/// HEATPP_TOPOLOGY decides (extents such as "2x4", or the name of a file), else the nodes that MPI finds.
struct TopologyOptions {
  /// Extents of the levels, outermost first: {2, 4} is two nodes of four ranks, and rank 4 is the first of the second
  /// node.
  std::vector<int> shape = {};
  /// The node of each rank, for two levels and any placement. Must be the same function on all ranks.
  std::function<int(int rank)> node_of = {};
  /// The place of each rank, outermost part first, e.g. {rack, node}. Any numbers serve; all ranks have equally many.
  /// Parts may differ in size. Must be the same function on all ranks.
  std::function<std::vector<int>(int rank)> place_of = {};
  /// A file with one line for each node: its place and its ranks, as in `rack0/node1: 4-7, 12`. `#` starts a comment.
  std::string file = {};
};

/// Options of allreduce.
struct AllreduceOptions {
  ReduceOp op = ReduceOp::sum;
  std::string_view algorithm = {};  ///< empty: HEATPP_ALLREDUCE, or the fastest
  std::int64_t chunk_bytes = 0;     ///< of algorithms that cut the data into chunks; 0: as calibrated, or by the size
  /// Longer messages travel in pieces, except on the innermost level, because many networks take short ones without
  /// waiting for the receiver. 0: as calibrated, or in one piece. For algorithms that consist of messages.
  std::int64_t message_bytes = 0;
  /// Selects blueconnect and the order in which it goes through the levels that have several parts: their numbers,
  /// counted from the innermost. Empty: as calibrated, or outwards.
  std::vector<int> order = {};
  /// Whether a sum or mean of floating-point numbers is exact and rounded once. The bits are then the same for every
  /// order of the ranks, topology, chunk size and algorithm, for twice the bytes between nodes. HEATPP_REPRODUCIBLE=1
  /// sets this for all calls. A product is taken in the order of the ranks.
  bool reproducible = false;
  /// How float32 values travel between parts of the outermost level. The values of one scale all become NaN if one is
  /// not finite. Inside the parts they travel and are summed in float32.
  Wire wire = Wire::float32;
  /// The error that rounding for the wire makes, as many values as the data. The caller keeps it, zero at first, and
  /// the next call adds it. Empty: the error is lost.
  std::span<float> residual = {};
};

/// What was measured on a machine.
struct Calibration {
  struct Cost {
    std::string level;
    double latency;    ///< seconds
    double bandwidth;  ///< bytes a second that a rank sends and receives while all groups of the level do
  };
  struct Choice {
    std::int64_t up_to_bytes;
    std::string algorithm;
    std::int64_t chunk_bytes;        ///< 0: by the size
    std::int64_t message_bytes = 0;  ///< 0: in one piece
    std::vector<int> order = {};     ///< order of the levels; empty: outwards
    bool balanced = false;           ///< each chunk has its own order, which evens the loads of the levels
    bool rings = false;              ///< levels that use messages exchange round rings
  };
  std::vector<Cost> costs = {};      ///< innermost level first
  std::vector<Choice> choices = {};  ///< by size
};

/// What this rank sent on one level in collectives that consist of messages, and how long their steps on it lasted.
/// Steps of different chunks overlap.
struct LevelTraffic {
  std::string level;
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
  double seconds = 0;
};

/// One level of the machine. `group` holds the ranks that differ from this one only in their place at this level, e.g.
/// the ranks of a node, or the ranks with the same number in all nodes.
struct Level {
  std::string name;
  Communicator group;
};

/// The levels of the network, each with a communicator of its own. Copies share them. Levels may hold parts of
/// different sizes, and ranks may be placed in any order.
class Topology {
 public:
  using Site = Communicator::Site;
  /// Makes the levels. Collective over `comm`. Throws ValueError if the options do not hold exactly the ranks of
  /// `comm`, and IoError for a file that cannot be read.
  explicit Topology(const Communicator& comm, const TopologyOptions& options = {});

  [[nodiscard]] const Communicator& comm() const { return comm_; }
  /// Returns the levels, innermost first, at least two. They are named "node" and "cluster" unless a deeper shape was
  /// given. If the ranks of a node are bound to several processor packages, these are the innermost level, "package".
  [[nodiscard]] const std::vector<Level>& levels() const;
  /// Returns the group of the ranks of this node.
  [[nodiscard]] const Communicator& node() const;
  /// Returns the group of the ranks with this rank's number in each node, over all outer levels.
  [[nodiscard]] const Communicator& across() const;
  /// Whether all parts of a level hold equally many ranks.
  [[nodiscard]] bool uniform() const;
  /// Returns all ranks as a tree of levels.
  [[nodiscard]] const detail::Tree& tree() const;

  /// Reduces `data` over all ranks in place, by the algorithm named, else by that of HEATPP_ALLREDUCE, else by a
  /// choice. Every rank gets the same bits. 16-bit floats are accumulated in float32 and rounded once. Collective over
  /// comm(). Throws ValueError for a name that is unknown or that the topology rules out, and TypeError for an
  /// operation that the dtype does not have.
  void allreduce(Buffer data, ReduceOp op = ReduceOp::sum, std::string_view algorithm = {},
                 Site site = Site::current()) const;
  /// Starts an allreduce without waiting. `data` belongs to the request until it is waited for.
  [[nodiscard]] Request iallreduce(Buffer data, ReduceOp op = ReduceOp::sum, std::string_view algorithm = {},
                                   Site site = Site::current()) const;

  /// Reduces with options. Throws TypeError if the wire format does not fit the data, ValueError for an order that does
  /// not name the levels, and for an order of levels whose parts differ in size.
  void allreduce(Buffer data, const AllreduceOptions& options, Site site = Site::current()) const;
  [[nodiscard]] Request iallreduce(Buffer data, const AllreduceOptions& options, Site site = Site::current()) const;
  /// Sets up an all-reduce for many calls on the same memory and `residual`, which have to outlive the plan. Local; all
  /// ranks make plans with the same arguments.
  [[nodiscard]] AllreducePlan plan(Buffer data, const AllreduceOptions& options = {}) const;
  /// Reduces many arrays in one call; small ones travel together. Every rank passes the same list.
  void allreduce(std::span<const Buffer> data, ReduceOp op = ReduceOp::sum, Site site = Site::current()) const;
  [[nodiscard]] Request iallreduce(std::span<const Buffer> data, ReduceOp op = ReduceOp::sum,
                                   Site site = Site::current()) const;
  /// Starts an allreduce of many arrays with options. Throws ValueError if a residual is given.
  [[nodiscard]] Request iallreduce(std::span<const Buffer> data, const AllreduceOptions& options,
                                   Site site = Site::current()) const;

  // These go level by level, as BlueConnect does. Their contracts are those of Communicator.
  /// Leaves in this rank's part of `data` the reduction of that part. The other parts are undefined afterwards.
  void reduce_scatter(Buffer data, std::span<const std::int64_t> counts, ReduceOp op = ReduceOp::sum,
                      Site site = Site::current()) const;
  /// Starts a reduce_scatter without waiting. For memory of a device it waits.
  [[nodiscard]] Request ireduce_scatter(Buffer data, std::span<const std::int64_t> counts, ReduceOp op = ReduceOp::sum,
                                        Site site = Site::current()) const;
  void allgather(ConstBuffer mine, Buffer all, std::span<const std::int64_t> counts, Site site = Site::current()) const;
  /// Starts an allgather without waiting. For memory of a device it waits.
  [[nodiscard]] Request iallgather(ConstBuffer mine, Buffer all, std::span<const std::int64_t> counts,
                                   Site site = Site::current()) const;
  Request iallgather(const Temporary auto&& mine, Buffer all, std::span<const std::int64_t> counts) const = delete;
  void broadcast(Buffer data, int root, Site site = Site::current()) const;
  /// Reduces into `data` of `root`. The data of the other ranks are undefined afterwards.
  void reduce(Buffer data, int root, ReduceOp op = ReduceOp::sum, Site site = Site::current()) const;

  /// Times messages on each level and all all-reduces at several sizes, in a second or two. From now on all copies
  /// choose by the result, which is the same on all ranks. If HEATPP_CALIBRATION=<file> is set, a topology is
  /// calibrated when it is made, or takes what an earlier run with the same arrangement wrote to the file. Collective.
  const Calibration& calibrate();
  /// Returns the calibration; empty before calibrate().
  [[nodiscard]] const Calibration& calibration() const;

  /// Returns the traffic of this communicator's collectives and of all its topologies, innermost level first. Local.
  [[nodiscard]] std::vector<LevelTraffic> traffic() const;

  struct State;
  [[nodiscard]] State& state() const { return *state_; }

 private:
  friend Topology detail::topology_of(const Communicator& comm);
  Topology(const Communicator& comm, std::shared_ptr<State> state) : comm_(comm), state_(std::move(state)) {}

  Communicator comm_;
  std::shared_ptr<State> state_;
};

namespace comm {
/// Draws the levels and the places of the ranks as text.
[[nodiscard]] std::string describe(const Topology& topology);
}  // namespace comm

}  // namespace heatpp
