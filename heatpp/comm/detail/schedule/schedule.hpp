#pragma once

#include <cstdint>
#include <functional>
#include <heatpp/comm/detail/schedule/tree.hpp>
#include <memory>
#include <span>
#include <vector>

namespace heatpp::detail {

/// Elements [first, first + count) of the buffer that a collective works on.
struct Range {
  std::int64_t first = 0;
  std::int64_t count = 0;
  [[nodiscard]] std::int64_t end() const { return first + count; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// Returns part `index` of this many parts of a range. The first parts are longer by one if needed.
[[nodiscard]] Range part_of(Range whole, std::size_t index, std::size_t parts);

/// A range, and the rank that it belongs to.
struct Owned {
  Range range;
  int owner = 0;
};
using Parts = std::vector<Owned>;
/// Returns ranges[r] as the part of rank r.
[[nodiscard]] Parts parts_by_rank(std::span<const Range> ranges);

struct Message {
  int peer;
  Range range;
};

/// The range arrives from each of `peers` and is combined with this rank's own, which is operand `place`.
struct Sum {
  Range range;
  std::vector<int> peers;
  std::size_t place = 0;
  bool complete = false;  ///< whether this completes the sum over all ranks
};

/// Whether the values of a step travel in the wire format: sums of a part of the machine, or the result.
enum class Coded { no, partial, result };

/// Messages that may travel at the same time. Between a pair of ranks they match in order.
struct Step {
  int level = 0;  ///< of the network, 0 being the innermost
  Coded coded = Coded::no;
  bool in_memory = false;  ///< its messages go through memory that the ranks share
  std::vector<Message> sends = {};
  std::vector<Message> receives = {};  ///< overwrite the range
  std::vector<Sum> sums = {};
};
using Steps = std::vector<Step>;

/// What one rank does in a collective. The steps of a lane follow one another. Lanes run at the same time, at most
/// `window` of them, each one step behind the one before it. Lanes of equal shape share their steps and differ by an
/// offset in elements.
struct Lane {
  std::shared_ptr<const Steps> steps;
  std::int64_t offset = 0;
};
struct Schedule {
  std::vector<Lane> lanes;
  int window = 8;
  bool in_memory = false;          ///< whether a step of any rank may be
  std::int64_t message_bytes = 0;  ///< beyond the innermost level, longer messages travel in pieces; 0: in one
};

/// Memory that the ranks of a node share. The innermost levels exchange data through it.
struct NodeMemory {
  int level = -1;         ///< the outermost of these levels; -1: no such memory
  std::int64_t slot = 0;  ///< elements that fit in a rank's slot in one step
  [[nodiscard]] bool carries(int level_of_group) const { return level_of_group >= 0 && level_of_group <= level; }
};

/// How the members of a group exchange their shares: each with every other at once, which costs one latency; or round a
/// ring, in one step for each other member, in which two messages never arrive at one place.
enum class Style { direct, ring };

/// Returns the steps of `rank` that reduce `range` over all ranks of the tree. From the innermost level out, the owners
/// of a range in the children of a node split it among themselves, until each element has one owner; then the data go
/// back the same way (Cho et al., BlueConnect, MLSys 2019). If nodes differ in size, their cuts are refined to common
/// ones. Steps through memory are divided to fit in its room.
[[nodiscard]] Steps allreduce_steps(const Tree& tree, Range range, int rank, const NodeMemory& memory = {},
                                    Style style = Style::direct);

/// Marks the steps of the outermost node as coded. These use messages.
[[nodiscard]] Steps coded_allreduce_steps(const Tree& tree, Range range, int rank, NodeMemory memory = {});

/// Returns the first half of it for given owners: each part, which may be empty, is reduced to its owner; parts lie in
/// order. If only one part is not empty, this is a reduction to one rank.
[[nodiscard]] Steps reduce_scatter_steps(const Tree& tree, std::span<const Owned> parts, int rank,
                                         const NodeMemory& memory = {});
/// Returns the second half: owners send their parts to every rank. If there is one part, this is a broadcast.
[[nodiscard]] Steps allgather_steps(const Tree& tree, std::span<const Owned> parts, int rank,
                                    const NodeMemory& memory = {});

/// Makes a lane for each of `slices` slices of all parts; `steps` makes the steps of one slice. Slices of equally
/// divided parts share their steps.
[[nodiscard]] Schedule in_slices(std::span<const Owned> parts, std::int64_t slices,
                                 const std::function<Steps(std::span<const Owned>)>& steps);

/// Cuts `count` elements into chunks, each a lane; `steps` makes the steps of one range. If there are several kinds of
/// lanes, kinds[i] is the kind of lane i.
[[nodiscard]] Schedule in_chunks(std::int64_t count, std::int64_t chunk,
                                 const std::function<Steps(Range range, std::size_t kind)>& steps,
                                 std::span<const std::size_t> kinds = {});

}  // namespace heatpp::detail
