#pragma once

#include <heatpp/comm/buffer.hpp>
#include <heatpp/comm/error.hpp>
#include <heatpp/comm/request.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <vector>

namespace heatpp {

/// How elements are combined. A mean is the sum divided by the number of ranks; integers have no mean.
enum class ReduceOp { sum, prod, min, max, mean };

/// What this rank has handed to a communicator so far. Bytes count the payload for other ranks: the whole buffer of a
/// reduction or broadcast, and the blocks for other ranks of an exchange. A group of one rank sends nothing and counts
/// nothing.
struct CommCounters {
  std::int64_t calls = 0;
  std::int64_t bytes = 0;
};

/// `receive` takes a message from any rank.
inline constexpr int any_rank = -1;

/// A group of ranks with a message space of its own: a duplicate of an MPI communicator. So messages of a host code and
/// of the library never mix. Copies share the group. All methods except rank(), size(), counters() and group() are
/// collective over the group; sending and receiving concern the two ranks named. Failures throw CommError.
/// `<heatpp/interop/mpi.hpp>` converts from and to MPI_Comm.
class Communicator {
 public:
  struct Impl;
  /// The place that calls a collective. If HEATPP_DEBUG=collectives is set, every collective is compared with the calls
  /// of the other ranks. A CommError names the ranks that call another collective, and those that call none within
  /// HEATPP_TIMEOUT seconds.
  using Site = std::source_location;
  explicit Communicator(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

  [[nodiscard]] int rank() const noexcept;
  [[nodiscard]] int size() const noexcept;
  [[nodiscard]] CommCounters counters() const noexcept;
  /// Returns a number that names the ranks of the group in their order. Copies and duplicates have equal numbers; 0
  /// stands for all ranks of the program. Local.
  [[nodiscard]] std::uint64_t group() const noexcept;
  /// Whether both communicators hold the same ranks in the same order, as duplicates do. Local.
  [[nodiscard]] bool same_ranks(const Communicator& other) const;

  void barrier(Site site = Site::current()) const;
  /// Replaces `data` on every rank by the element-wise reduction over all ranks; float16 and bfloat16 are
  /// accumulated in float32, and NaN wins a minimum or maximum. Every rank gets the same bits.
  void allreduce(Buffer data, ReduceOp op = ReduceOp::sum, Site site = Site::current()) const;
  /// Starts an allreduce without waiting. `data` belongs to the request until it is waited for.
  [[nodiscard]] Request iallreduce(Buffer data, ReduceOp op = ReduceOp::sum, Site site = Site::current()) const;
  /// Replaces `data` on every rank by the reduction over the ranks before it; a mean is the mean over these. The data
  /// of rank 0 stay and have no meaning.
  void exscan(Buffer data, ReduceOp op = ReduceOp::sum, Site site = Site::current()) const;
  /// Replaces `data` on every rank by the reduction over the ranks before it and itself.
  void scan(Buffer data, ReduceOp op = ReduceOp::sum, Site site = Site::current()) const;
  /// Merges `count` records of `bytes` bytes each over all ranks with `merge(in, inout, n)`, in rank order.
  using Merge = void (*)(const void* in, void* inout, std::int64_t n);
  void allreduce_records(void* records, std::int64_t count, std::int64_t bytes, Merge merge,
                         Site site = Site::current()) const;
  /// Replaces `data` on every rank by the data of `root`.
  void broadcast(Buffer data, int root, Site site = Site::current()) const;
  [[nodiscard]] Request ibroadcast(Buffer data, int root, Site site = Site::current()) const;
  /// Reduces `data` over all ranks into `data` of `root`. The data of the other ranks are undefined afterwards.
  void reduce(Buffer data, int root, ReduceOp op = ReduceOp::sum, Site site = Site::current()) const;
  /// Leaves in this rank's part of `data` the reduction of that part over all ranks. Parts lie in rank order and have
  /// `counts[r]` elements, which add up to those of `data`. The other parts are undefined afterwards.
  void reduce_scatter(Buffer data, std::span<const std::int64_t> counts, ReduceOp op = ReduceOp::sum,
                      Site site = Site::current()) const;
  [[nodiscard]] Request ireduce_scatter(Buffer data, std::span<const std::int64_t> counts, ReduceOp op = ReduceOp::sum,
                                        Site site = Site::current()) const;
  /// Places every rank's `mine` behind one another in `all`, in rank order. Counts may differ by rank: `counts[r]` is
  /// that of rank r, and the sum is that of `all`. `mine` may already lie in its place in `all`. If a rank's data have
  /// another count or dtype, all ranks throw ValueError; gather and scatter do so, too.
  void allgather(ConstBuffer mine, Buffer all, std::span<const std::int64_t> counts, Site site = Site::current()) const;
  [[nodiscard]] Request iallgather(ConstBuffer mine, Buffer all, std::span<const std::int64_t> counts,
                                   Site site = Site::current()) const;
  Request iallgather(const Temporary auto&& mine, Buffer all, std::span<const std::int64_t> counts) const = delete;
  /// Places every rank's `mine` behind one another in `all` of `root`. Other ranks' `all` is ignored.
  void gather(ConstBuffer mine, Buffer all, std::span<const std::int64_t> counts, int root,
              Site site = Site::current()) const;
  /// Gives every rank its part of `all` of `root`. Other ranks' `all` is ignored.
  void scatter(ConstBuffer all, Buffer mine, std::span<const std::int64_t> counts, int root,
               Site site = Site::current()) const;
  /// Returns one value of every rank, in rank order.
  [[nodiscard]] std::vector<std::int64_t> allgather(std::int64_t value, Site site = Site::current()) const;
  std::vector<std::int64_t> allgather(std::floating_point auto value, Site site = Site::current()) const = delete;
  /// Sends values[r] to rank r. Returns what the ranks sent to this one, in rank order, one value each.
  [[nodiscard]] std::vector<std::int64_t> alltoall(std::span<const std::int64_t> values,
                                                   Site site = Site::current()) const;
  /// Sends block r of `send` to rank r and receives block r of `receive` from it. Sizes must agree in pairs and are not
  /// exchanged. Strided blocks are packed in small pieces while others travel, so the extra memory is a few MiB.
  void exchange(std::span<const ConstBlock> send, std::span<const Block> receive, Site site = Site::current()) const;
  /// Messages match by rank and tag, from 0 to 16383, in the order in which they were sent. Sizes have to agree.
  void send(ConstBuffer data, int to, int tag = 0) const;
  /// Returns the rank that sent. `any_rank` takes messages of up to 2^30 bytes from any rank.
  int receive(Buffer data, int from, int tag = 0) const;
  /// Starts a send without waiting. `data` belongs to the request until it is waited for.
  [[nodiscard]] Request isend(ConstBuffer data, int to, int tag = 0) const;
  Request isend(const Temporary auto&& data, int to, int tag = 0) const = delete;  // a temporary ends before the send
  [[nodiscard]] Request ireceive(Buffer data, int from, int tag = 0) const;

  /// Forms a group of the ranks that pass the same `color`, ordered by `key`, then by rank. A negative color joins no
  /// group.
  [[nodiscard]] std::optional<Communicator> split(int color, int key = 0, Site site = Site::current()) const;
  /// Returns the group of ranks that share memory with this one.
  [[nodiscard]] Communicator split_shared(Site site = Site::current()) const;

  /// Throws on every rank if any rank passes an error; the message names the lowest such rank.
  struct Failure {
    ErrorKind kind;
    std::string message;
  };
  void agree(const std::optional<Failure>& failure, Site site = Site::current()) const;

  [[nodiscard]] Impl& impl() const { return *impl_; }
  friend bool operator==(const Communicator& a, const Communicator& b) { return a.impl_ == b.impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

/// Returns what this rank has handed to all communicators together. Local.
[[nodiscard]] CommCounters total_counters() noexcept;

/// Returns the communicator of all ranks. Throws CommError if MPI is not running (make an `Environment` first).
[[nodiscard]] const Communicator& world();
/// Returns the communicator of this rank alone.
[[nodiscard]] const Communicator& self();
/// Returns the communicator of arrays that name none: the world, unless `use_comm` set another. Local.
[[nodiscard]] const Communicator& default_comm();
void use_comm(const Communicator& comm);
/// Returns the communicator that options name, or default_comm(). Only default_comm() needs the world, which all ranks
/// of the program make together.
[[nodiscard]] const Communicator& comm_of(const std::optional<Communicator>& named);

/// Runs `work` on this rank and throws on every rank if it threw on any. Work that can fail on one rank only is wrapped
/// in this. Collective: one small allreduce, and after a failure a broadcast of the message.
void all_or_none(const Communicator& comm, const std::function<void()>& work,
                 Communicator::Site site = Communicator::Site::current());

namespace detail {
/// Returns default_comm().group() without making the world, because ranks that use a communicator of their own may not
/// be all ranks.
[[nodiscard]] std::uint64_t default_group();
/// Releases the library's communicators, which must happen before MPI_Finalize.
void release_communicators();
}  // namespace detail

}  // namespace heatpp
