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

/// How elements are combined. A mean, which integers have none of, is the sum divided by the number of ranks.
enum class ReduceOp { sum, prod, min, max, mean };

/// What this rank handed to a communicator so far. Bytes count the payload that is meant for other ranks: the whole
/// buffer of a reduction or broadcast, the blocks for other ranks of an exchange. A group of one has nobody to talk to
/// and counts nothing.
struct CommCounters {
  std::int64_t calls = 0;
  std::int64_t bytes = 0;
};

/// For `receive`: from whichever rank sends.
inline constexpr int any_rank = -1;

/// A group of ranks with a message space of their own: a duplicate of an MPI communicator, so that a host code's
/// messages and the library's never meet. Copies share it. All methods but rank(), size(), counters() and group() are
/// collective over the group, sending and receiving over the two ranks named; failures throw CommError.
/// `<heatpp/interop/mpi.hpp>` converts from and to MPI_Comm.
class Communicator {
 public:
  struct Impl;
  /// Where a collective is called, which HEATPP_DEBUG=collectives reports: with it every collective is compared with
  /// what the other ranks call, and a CommError names those that call another one, or none within HEATPP_TIMEOUT
  /// seconds.
  using Site = std::source_location;
  explicit Communicator(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

  [[nodiscard]] int rank() const noexcept;
  [[nodiscard]] int size() const noexcept;
  [[nodiscard]] CommCounters counters() const noexcept;
  /// A number of the group's ranks in their order, by which copies and duplicates know each other; 0 for all ranks of
  /// the program. Local.
  [[nodiscard]] std::uint64_t group() const noexcept;
  /// Whether both are of the same ranks in the same order, as duplicates are. Local.
  [[nodiscard]] bool same_ranks(const Communicator& other) const;

  void barrier(Site site = Site::current()) const;
  /// Replaces `data` on every rank by the element-wise reduction over all ranks; float16 and bfloat16 are
  /// accumulated in float32, and NaN wins a minimum or maximum. Every rank gets the same bits.
  void allreduce(Buffer data, ReduceOp op = ReduceOp::sum, Site site = Site::current()) const;
  /// The same, without waiting: `data` belongs to the request until it is waited for.
  [[nodiscard]] Request iallreduce(Buffer data, ReduceOp op = ReduceOp::sum, Site site = Site::current()) const;
  /// Replaces `data` on every rank by the reduction of the ranks before it, a mean being one over these; rank 0 keeps
  /// its own, to be ignored.
  void exscan(Buffer data, ReduceOp op = ReduceOp::sum, Site site = Site::current()) const;
  /// The same with this rank's own among those reduced.
  void scan(Buffer data, ReduceOp op = ReduceOp::sum, Site site = Site::current()) const;
  /// Merges `count` records of `bytes` bytes each over all ranks with `merge(in, inout, n)`, in rank order.
  using Merge = void (*)(const void* in, void* inout, std::int64_t n);
  void allreduce_records(void* records, std::int64_t count, std::int64_t bytes, Merge merge,
                         Site site = Site::current()) const;
  /// Replaces `data` on every rank by that of `root`.
  void broadcast(Buffer data, int root, Site site = Site::current()) const;
  [[nodiscard]] Request ibroadcast(Buffer data, int root, Site site = Site::current()) const;
  /// The reduction ends up in `data` of `root`; that of the other ranks is undefined afterwards.
  void reduce(Buffer data, int root, ReduceOp op = ReduceOp::sum, Site site = Site::current()) const;
  /// Leaves in this rank's part of `data` the reduction of that part over all ranks; parts lie in rank order and have
  /// `counts[r]` elements, together those of `data`. The other parts are undefined afterwards.
  void reduce_scatter(Buffer data, std::span<const std::int64_t> counts, ReduceOp op = ReduceOp::sum,
                      Site site = Site::current()) const;
  [[nodiscard]] Request ireduce_scatter(Buffer data, std::span<const std::int64_t> counts, ReduceOp op = ReduceOp::sum,
                                        Site site = Site::current()) const;
  /// Places every rank's `mine` behind one another in `all`, in rank order; counts may differ by rank, and
  /// `counts[r]` is rank r's, together those of `all`. `mine` may already lie in its place in `all`. Throws ValueError
  /// on all ranks where that of any has another count or dtype; so do gather and scatter.
  void allgather(ConstBuffer mine, Buffer all, std::span<const std::int64_t> counts, Site site = Site::current()) const;
  [[nodiscard]] Request iallgather(ConstBuffer mine, Buffer all, std::span<const std::int64_t> counts,
                                   Site site = Site::current()) const;
  Request iallgather(const Temporary auto&& mine, Buffer all, std::span<const std::int64_t> counts) const = delete;
  /// Places every rank's `mine` behind one another in `all` of `root`; that of the other ranks is not looked at.
  void gather(ConstBuffer mine, Buffer all, std::span<const std::int64_t> counts, int root,
              Site site = Site::current()) const;
  /// Gives every rank its part of `all` of `root`, which is not looked at on the other ranks.
  void scatter(ConstBuffer all, Buffer mine, std::span<const std::int64_t> counts, int root,
               Site site = Site::current()) const;
  /// One value of every rank, in rank order.
  [[nodiscard]] std::vector<std::int64_t> allgather(std::int64_t value, Site site = Site::current()) const;
  std::vector<std::int64_t> allgather(std::floating_point auto value, Site site = Site::current()) const = delete;
  /// values[r] goes to rank r; returns what the ranks sent here, in rank order. One value for each rank.
  [[nodiscard]] std::vector<std::int64_t> alltoall(std::span<const std::int64_t> values,
                                                   Site site = Site::current()) const;
  /// Sends block r of `send` to rank r and receives block r of `receive` from it. Sizes must agree in pairs and are
  /// not exchanged. Strided blocks are packed in small pieces while others travel: extra memory is a few MiB.
  void exchange(std::span<const ConstBlock> send, std::span<const Block> receive, Site site = Site::current()) const;
  /// Messages match by rank and tag, of 0 to 16383, in the order in which they were sent. Sizes have to agree.
  void send(ConstBuffer data, int to, int tag = 0) const;
  /// Returns the rank that sent, which `any_rank` leaves open for messages of up to 2^30 bytes.
  int receive(Buffer data, int from, int tag = 0) const;
  /// The same without waiting: `data` belongs to the request until it is waited for.
  [[nodiscard]] Request isend(ConstBuffer data, int to, int tag = 0) const;
  Request isend(const Temporary auto&& data, int to, int tag = 0) const = delete;  // gone before it is sent
  [[nodiscard]] Request ireceive(Buffer data, int from, int tag = 0) const;

  /// The ranks that pass the same `color` form a group, ordered by `key`, then by rank here. A negative colour joins
  /// none.
  [[nodiscard]] std::optional<Communicator> split(int color, int key = 0, Site site = Site::current()) const;
  /// The groups of ranks that share memory.
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

/// What this rank handed to all communicators together. Local.
[[nodiscard]] CommCounters total_counters() noexcept;

/// All ranks of the program. Throws CommError if MPI is not running (make an `Environment` first).
[[nodiscard]] const Communicator& world();
/// This rank alone.
[[nodiscard]] const Communicator& self();
/// The communicator of arrays that name none: the world, unless `use_comm` set another. Local.
[[nodiscard]] const Communicator& default_comm();
void use_comm(const Communicator& comm);
/// That of options, or default_comm() where they name none. Only then the world has to exist, which all ranks of the
/// program make together.
[[nodiscard]] const Communicator& comm_of(const std::optional<Communicator>& named);

/// Runs `work` on this rank and throws on every rank if it threw anywhere: what can fail on one rank alone is wrapped
/// in this. Collective: one small allreduce, and a broadcast of the message in case of failure.
void all_or_none(const Communicator& comm, const std::function<void()>& work,
                 Communicator::Site site = Communicator::Site::current());

namespace detail {
/// default_comm().group(), for which the world need not exist: ranks that use a communicator of their own may not be
/// all.
[[nodiscard]] std::uint64_t default_group();
/// Releases the library's communicators, which must happen before MPI_Finalize.
void release_communicators();
}  // namespace detail

}  // namespace heatpp
