#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/direct_copies.hpp>
#include <heatpp/comm/detail/machine/scratch.hpp>
#include <heatpp/comm/detail/progress/collective.hpp>
#include <heatpp/comm/detail/progress/exchange.hpp>
#include <heatpp/comm/detail/schedule/execution.hpp>
#include <heatpp/comm/detail/checks.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/runs.hpp>
#include <heatpp/comm/detail/shared/two_hops.hpp>
#include <heatpp/comm/device/collectives.hpp>
#include <heatpp/comm/recovery/detail/lost_messages.hpp>

#include <numeric>
#include <optional>

namespace heatpp {
namespace {

using detail::check_mpi;
using detail::pack;
using detail::PeerBlock;
using detail::Receives;
using detail::Sends;
using detail::unpack;

// A piece fits into a core's second-level cache, so that packing costs one pass over memory. Few long pieces are under
// way at once, so that the staging memory stays small, or some more short ones, so that no slow one holds up the
// others.
constexpr std::int64_t piece_bytes = std::int64_t{512} << 10, bytes_under_way = 4 * piece_bytes;
constexpr std::int64_t window = 16;

/// One direction of an exchange. It goes through the peers in the given order, piece by piece, with up to `window`
/// pieces under way. Both directions follow one order of rounds on all ranks, so the windows cannot block each other.
template <class B>
class Stream {
 public:
  Stream(std::vector<PeerBlock<B>> blocks, MPI_Comm comm, const char* call, int tag)
      : blocks_(std::move(blocks)), comm_(comm), call_(call), tag_(tag), pieces_(places(blocks_)) {}

  [[nodiscard]] bool in_flight() const { return active_ > 0; }
  void end() noexcept {
    for (auto& piece : pieces_) detail::end_lost_messages({&piece.request, 1});
  }

  /// Starts pieces while there is room, and ends those that have arrived. Returns whether all have.
  bool advance() {
    while (active_ < pieces_.size() && start_next()) {
    }
    while (active_ > 0 && finish_oldest()) start_next();
    return peer_ == blocks_.size() && active_ == 0;
  }

 private:
  /// Returns how many pieces are under way at most.
  static std::size_t places(const std::vector<PeerBlock<B>>& blocks) {
    std::int64_t pieces = 0;
    for (const auto& one : blocks) pieces += (one.block.bytes() + piece_bytes - 1) / piece_bytes;
    return static_cast<std::size_t>(std::min(pieces, window));
  }

  struct Piece {
    MPI_Request request = MPI_REQUEST_NULL;
    const B* block = nullptr;
    std::int64_t first = 0, length = 0, staged = 0;
    detail::Scratch staging;  // of `staged` bytes
  };

  bool start_next() {
    while (peer_ < blocks_.size() && first_ >= block().bytes()) {
      ++peer_;
      first_ = 0;
    }
    if (peer_ == blocks_.size()) return false;
    const auto length = std::min(piece_bytes, block().bytes() - first_);
    if (under_way_ + length > bytes_under_way) return false;
    auto& piece = pieces_[(oldest_ + active_) % pieces_.size()];
    piece.block = &block();
    piece.first = first_;
    piece.length = length;
    under_way_ += length;
    post(piece, blocks_[peer_].rank);
    first_ += piece.length;
    ++active_;
    return true;
  }

  void post(Piece& piece, int peer) {
    const bool direct = piece.block->contiguous();
    if (!direct && piece.staged < piece.length) {
      piece.staging = detail::Scratch(piece.length);
      piece.staged = piece.length;
    }
    const auto n = static_cast<int>(piece.length);
    if constexpr (std::is_same_v<B, ConstBlock>) {
      if (!direct) pack(*piece.block, piece.first, piece.length, piece.staging.data());
      const auto* from = direct ? piece.block->data + piece.first : piece.staging.data();
      check_mpi(MPI_Isend(from, n, MPI_BYTE, peer, tag_, comm_, &piece.request), call_);
    } else {
      auto* to = direct ? piece.block->data + piece.first : piece.staging.data();
      check_mpi(MPI_Irecv(to, n, MPI_BYTE, peer, tag_, comm_, &piece.request), call_);
    }
  }

  bool finish_oldest() {
    auto& piece = pieces_[oldest_];
    int arrived = 0;
    check_mpi(MPI_Test(&piece.request, &arrived, MPI_STATUS_IGNORE), call_);
    if (!arrived) return false;
    if constexpr (std::is_same_v<B, Block>)
      if (!piece.block->contiguous()) unpack(piece.staging.data(), *piece.block, piece.first, piece.length);
    under_way_ -= piece.length;
    oldest_ = (oldest_ + 1) % pieces_.size();
    --active_;
    return true;
  }

  [[nodiscard]] const B& block() const { return blocks_[peer_].block; }

  std::vector<PeerBlock<B>> blocks_;
  MPI_Comm comm_;
  const char* call_;
  int tag_;
  std::vector<Piece> pieces_;  // a ring
  std::size_t peer_ = 0, oldest_ = 0, active_ = 0;
  std::int64_t first_ = 0, under_way_ = 0;
};

/// Returns the inverse of a step whose multiples modulo `ranks` are all ranks, near and far ones in turns. So all
/// levels of the network are loaded evenly at any time.
std::int64_t inverse_of_step(std::int64_t ranks) {
  auto step = std::max<std::int64_t>(1, ranks * 618 / 1000);
  while (std::gcd(step, ranks) != 1) --step;
  std::int64_t inverse = 1, before = 0;  // Euclid's algorithm
  for (auto a = step, b = ranks; b != 0;) {
    const auto quotient = a / b;
    a = std::exchange(b, a - quotient * b);
    inverse = std::exchange(before, inverse - quotient * before);
  }
  return (inverse % ranks + ranks) % ranks;
}

/// Puts the ranks in the order of rounds: those at a distance of 0, and of multiples of a step, onwards or backwards.
/// Empty blocks are left out.
template <class B>
void into_rounds(std::vector<PeerBlock<B>>& blocks, const Communicator& comm, bool onwards) {
  std::erase_if(blocks, [](const auto& one) { return one.block.bytes() == 0; });
  const std::int64_t ranks = comm.size(), inverse = inverse_of_step(ranks);
  std::ranges::sort(blocks, {}, [&](const auto& one) {
    const auto distance = onwards ? one.rank - comm.rank() : comm.rank() - one.rank;
    return (distance + ranks) % ranks * inverse % ranks;
  });
}

/// Takes this rank's own block out of the list, in which it is the first, if it is there.
template <class B>
B take_own(std::vector<PeerBlock<B>>& blocks, int rank) {
  if (blocks.empty() || blocks.front().rank != rank) return {};
  const auto own = blocks.front().block;
  blocks.erase(blocks.begin());
  return own;
}

/// Copies large blocks from the memory of ranks that can be read. The other blocks come in messages, as soon as it is
/// known which these are.
class Exchange final : public detail::Operation {
 public:
  Exchange(const Communicator& comm, Sends send, Receives receive, const char* call,
           const detail::ExchangeTags& tags = {})
      : comm_(comm), call_(call), send_(std::move(send)), receive_(std::move(receive)), tag_(tags.data) {
    into_rounds(send_, comm, true);
    into_rounds(receive_, comm, false);
    own_out_ = take_own(send_, comm.rank());
    own_in_ = take_own(receive_, comm.rank());
    direct_.emplace(comm, send_, receive_, call, tags);
  }

  bool advance() override {
    const bool settled = direct_->advance(), ended = settled && advance_streams();
    if (!std::exchange(own_is_there_, true)) detail::copy_block(own_out_, own_in_);
    return ended;
  }
  [[nodiscard]] bool in_flight() const override {
    return direct_->in_flight() || (incoming_ && (incoming_->in_flight() || outgoing_->in_flight()));
  }
  void end_messages() noexcept override {
    if (incoming_) incoming_->end(), outgoing_->end();
  }

 private:
  bool advance_streams() {
    if (!incoming_) {
      std::erase_if(receive_, [&](const auto& one) { return direct_->received(one.rank); });
      std::erase_if(send_, [&](const auto& one) { return direct_->sent(one.rank); });
      incoming_.emplace(std::move(receive_), comm_.impl().mpi, call_, tag_);
      outgoing_.emplace(std::move(send_), comm_.impl().mpi, call_, tag_);
    }
    const bool received = incoming_->advance(), sent = outgoing_->advance();
    return received && sent;
  }

  Communicator comm_;
  const char* call_;
  Sends send_;
  Receives receive_;
  ConstBlock own_out_;
  Block own_in_;
  int tag_;
  std::optional<detail::DirectCopies> direct_;
  std::optional<Stream<Block>> incoming_;
  std::optional<Stream<ConstBlock>> outgoing_;
  bool own_is_there_ = false;
};

/// If calls are compared, throws CommError on all ranks if two ranks expect different sizes of the block between
/// them.
void check_pairs(const Communicator& comm, const Sends& send, const Receives& receive) {
  if (!detail::debugging(comm)) return;
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(comm.size())), wanted(sizes);
  for (const auto& [rank, block] : send) sizes[static_cast<std::size_t>(rank)] = block.bytes();
  for (const auto& [rank, block] : receive) wanted[static_cast<std::size_t>(rank)] = block.bytes();
  const auto offered = comm.alltoall(sizes);
  all_or_none(comm, [&] {
    for (std::size_t peer = 0; peer < offered.size(); ++peer)
      if (offered[peer] != wanted[peer])
        detail::raise<CommError>("exchange",
                                 "got {} bytes that rank {} sends to rank {}, which waits for {}; expected "
                                 "the same arguments on all ranks",
                                 offered[peer], peer, comm.rank(), wanted[peer]);
  });
}

/// Returns the blocks that are not empty, blocks[r] as that of rank r.
template <class B>
std::vector<PeerBlock<B>> listed(const char* op, const Communicator& comm, std::span<const B> blocks) {
  if (std::ssize(blocks) != comm.size())
    detail::raise<ValueError>(op, "got {} blocks; expected one for each of {} ranks", blocks.size(), comm.size());
  std::vector<PeerBlock<B>> list;
  for (int rank = 0; rank < comm.size(); ++rank)
    if (const auto& block = blocks[static_cast<std::size_t>(rank)]; block.bytes() > 0) list.push_back({rank, block});
  return list;
}

void count_sent(const Communicator& comm, const Sends& send) {
  std::int64_t payload = 0;
  for (const auto& [rank, block] : send) payload += rank == comm.rank() ? 0 : block.bytes();
  comm.impl().count(payload);
}

ConstBlock block_of(const ConstBuffer& data, std::int64_t first, std::int64_t count) {
  const auto item = static_cast<std::int64_t>(itemsize(data.dtype));
  return {static_cast<const std::byte*>(data.data) + first * item, 1, count * item, count * item};
}
Block block_of(const Buffer& data, std::int64_t first, std::int64_t count) {
  const auto bytes = count * static_cast<std::int64_t>(itemsize(data.dtype));
  return {detail::address(data, first), 1, bytes, bytes};
}

/// Returns the parts of the root's data; on other ranks nothing.
template <class B, class Data>
std::vector<PeerBlock<B>> parts_at_root(const Communicator& comm, const Data& data, int root,
                                        std::span<const std::int64_t> counts) {
  std::vector<PeerBlock<B>> blocks;
  std::int64_t first = 0;
  for (std::size_t rank = 0; comm.rank() == root && rank < counts.size(); first += counts[rank++])
    blocks.push_back({static_cast<int>(rank), block_of(data, first, counts[rank])});
  return blocks;
}

/// Says what is wrong with this rank's share of a gather or scatter; empty if nothing is.
std::string wrong_in(const Communicator& comm, const ConstBuffer& mine, const ConstBuffer& all, int root,
                     std::span<const std::int64_t> counts) {
  const auto wanted = counts[static_cast<std::size_t>(comm.rank())];
  const auto sum = std::reduce(counts.begin(), counts.end(), std::int64_t{0});
  if (mine.count != wanted)
    return detail::formatted("got {} elements on rank {}; expected its count, {}", mine.count, comm.rank(), wanted);
  if (comm.rank() != root || (all.count == sum && all.dtype == mine.dtype)) return {};
  return detail::formatted("got {} x {} on the root; expected {} x {}", all.count, name(all.dtype), sum,
                           name(mine.dtype));
}

void check_shares(const char* op, const Communicator& comm, const ConstBuffer& mine, const ConstBuffer& all, int root,
                  std::span<const std::int64_t> counts) {
  device::expect_host(op, mine.memory);
  device::expect_host(op, all.memory);
  detail::check_root(op, comm, root);
  detail::check_counts(op, comm, counts, std::reduce(counts.begin(), counts.end(), std::int64_t{0}));
}

/// Starts the exchange if the shares of all ranks are right.
std::unique_ptr<detail::Operation> start_exchange(const char* op, const Communicator& comm, std::string wrong,
                                                  const Sends& send, const Receives& receive) {
  detail::run(detail::unless_wrong_anywhere(comm, op, std::move(wrong)));
  return std::make_unique<Exchange>(comm, send, receive, op);
}

}  // namespace

void Communicator::exchange(std::span<const ConstBlock> send, std::span<const Block> receive, Site site) const {
  detail::exchange_with(*this, listed("exchange", *this, send), listed("exchange", *this, receive), site);
}

void detail::exchange_with(const Communicator& comm, Sends send, Receives receive, const std::source_location& site) {
  count_sent(comm, send);
  run_collective(comm, {"exchange"}, site, [&] {
    check_pairs(comm, send, receive);
    return std::make_unique<Exchange>(comm, std::move(send), std::move(receive), "exchange");
  });
}

void detail::exchange_among_all(const Communicator& comm, Sends send, Receives receive, std::int64_t most,
                                const std::source_location& site) {
  if (!worth_two_hops(comm, most)) return exchange_with(comm, std::move(send), std::move(receive), site);
  count_sent(comm, send);
  run_collective(comm, {"exchange"}, site, [&] {
    check_pairs(comm, send, receive);
    return two_hops(comm, std::move(send), std::move(receive), most, "exchange");
  });
}

Request detail::iexchange(const Communicator& comm, Sends send, Receives receive, const std::source_location& site) {
  count_sent(comm, send);
  const auto make = [comm, out = std::move(send), in = std::move(receive)]() -> std::unique_ptr<Operation> {
    const auto tag = next_tag(comm.impl());
    return std::make_unique<Exchange>(comm, out, in, "iexchange", ExchangeTags{tag, tag + 1, tag + 2});
  };
  return start_collective(comm, {"iexchange"}, site, make);
}

void Communicator::gather(ConstBuffer mine, Buffer all, std::span<const std::int64_t> counts, int root,
                          Site site) const {
  check_shares("gather", *this, mine, all, root, counts);
  const Sends send{{root, block_of(mine, 0, mine.count)}};
  const auto receive = parts_at_root<Block>(*this, all, root, counts);
  count_sent(*this, send);
  detail::run_collective(*this, {"gather", 0, mine.dtype, root, detail::plan_of(*this, counts)}, site, [&] {
    return start_exchange("gather", *this, wrong_in(*this, mine, all, root, counts), send, receive);
  });
}

void Communicator::scatter(ConstBuffer all, Buffer mine, std::span<const std::int64_t> counts, int root,
                           Site site) const {
  check_shares("scatter", *this, mine, all, root, counts);
  const auto send = parts_at_root<ConstBlock>(*this, all, root, counts);
  const Receives receive{{root, block_of(mine, 0, mine.count)}};
  count_sent(*this, send);
  detail::run_collective(*this, {"scatter", 0, mine.dtype, root, detail::plan_of(*this, counts)}, site, [&] {
    return start_exchange("scatter", *this, wrong_in(*this, mine, all, root, counts), send, receive);
  });
}

}  // namespace heatpp
