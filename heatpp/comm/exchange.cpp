#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/direct_copies.hpp>
#include <heatpp/comm/detail/machine/scratch.hpp>
#include <heatpp/comm/detail/progress/collective.hpp>
#include <heatpp/comm/detail/progress/exchange.hpp>
#include <heatpp/comm/detail/schedule/execution.hpp>
#include <heatpp/comm/detail/checks.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/runs.hpp>
#include <heatpp/comm/device/collectives.hpp>

#include <cstring>
#include <numeric>
#include <optional>

namespace heatpp {
namespace {

using detail::check_mpi;
using detail::for_each_run;

// A piece fits into a core's second-level cache, so that packing costs one pass over memory. Few pieces are under way
// at once, so that the staging memory stays small.
constexpr std::int64_t piece_bytes = std::int64_t{512} << 10;
constexpr std::size_t window = 4;

void pack(const ConstBlock& block, std::int64_t first, std::int64_t length, std::byte* out) {
  for_each_run(block, first, length, [&](const std::byte* in, std::int64_t n) {
    std::memcpy(out, in, static_cast<std::size_t>(n));
    out += n;
  });
}

void unpack(const std::byte* in, const Block& block, std::int64_t first, std::int64_t length) {
  for_each_run(block, first, length, [&](std::byte* out, std::int64_t n) {
    std::memcpy(out, in, static_cast<std::size_t>(n));
    in += n;
  });
}

void copy(const ConstBlock& from, const Block& to) {
  std::int64_t first = 0;
  for_each_run(from, 0, from.bytes(), [&](const std::byte* in, std::int64_t n) {
    unpack(in, to, first, n);
    first += n;
  });
}

/// One direction of an exchange. It goes through the peers in the given order, piece by piece, with `window` pieces
/// under way. Both directions follow one order of rounds on all ranks, so the windows cannot block each other.
template <class B>
class Stream {
 public:
  Stream(std::span<const B> blocks, std::vector<int> peers, MPI_Comm comm, const char* call, int tag)
      : blocks_(blocks.begin(), blocks.end()), peers_(std::move(peers)), comm_(comm), call_(call), tag_(tag) {}

  [[nodiscard]] bool in_flight() const { return active_ > 0; }

  /// Starts pieces while there is room, and ends those that have arrived. Returns whether all have.
  bool advance() {
    while (active_ < window && start_next()) {
    }
    while (active_ > 0 && finish_oldest()) start_next();
    return peer_ == peers_.size() && active_ == 0;
  }

 private:
  struct Piece {
    MPI_Request request = MPI_REQUEST_NULL;
    const B* block = nullptr;
    std::int64_t first = 0, length = 0;
    detail::Scratch staging;
  };

  bool start_next() {
    while (peer_ < peers_.size() && first_ >= block().bytes()) {
      ++peer_;
      first_ = 0;
    }
    if (peer_ == peers_.size()) return false;
    auto& piece = pieces_[(oldest_ + active_) % window];
    piece.block = &block();
    piece.first = first_;
    piece.length = std::min(piece_bytes, block().bytes() - first_);
    post(piece, peers_[peer_]);
    first_ += piece.length;
    ++active_;
    return true;
  }

  void post(Piece& piece, int peer) {
    const bool direct = piece.block->contiguous();
    if (!direct && !piece.staging.data()) piece.staging = detail::Scratch(piece_bytes);
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
    oldest_ = (oldest_ + 1) % window;
    --active_;
    return true;
  }

  [[nodiscard]] const B& block() const { return blocks_[static_cast<std::size_t>(peers_[peer_])]; }

  std::vector<B> blocks_;
  std::vector<int> peers_;
  MPI_Comm comm_;
  const char* call_;
  int tag_;
  std::array<Piece, window> pieces_;
  std::size_t peer_ = 0, oldest_ = 0, active_ = 0;
  std::int64_t first_ = 0;
};

/// Returns the other ranks, beginning with the next rank or with the one before.
std::vector<int> peers_of(const Communicator& comm, bool onwards) {
  std::vector<int> peers;
  for (int round = 1; round < comm.size(); ++round)
    peers.push_back((comm.rank() + (onwards ? round : comm.size() - round)) % comm.size());
  return peers;
}

/// Copies large blocks from the memory of ranks that can be read. The other blocks come in messages, as soon as it is
/// known which these are.
class Exchange final : public detail::Operation {
 public:
  Exchange(const Communicator& comm, std::span<const ConstBlock> send, std::span<const Block> receive, const char* call,
           const detail::ExchangeTags& tags = {})
      : comm_(comm),
        call_(call),
        send_(send.begin(), send.end()),
        receive_(receive.begin(), receive.end()),
        tag_(tags.data),
        direct_(comm, send, receive, call, tags) {}

  bool advance() override {
    const bool settled = direct_.advance(), ended = settled && advance_streams();
    const auto me = static_cast<std::size_t>(comm_.rank());
    if (!std::exchange(own_is_there_, true)) copy(send_[me], receive_[me]);
    return ended;
  }
  [[nodiscard]] bool in_flight() const override {
    return direct_.in_flight() || (incoming_ && (incoming_->in_flight() || outgoing_->in_flight()));
  }

 private:
  bool advance_streams() {
    if (!incoming_) {
      auto from = peers_of(comm_, false), to = peers_of(comm_, true);
      std::erase_if(from, [&](int rank) { return direct_.received(rank); });
      std::erase_if(to, [&](int rank) { return direct_.sent(rank); });
      incoming_.emplace(receive_, std::move(from), comm_.impl().mpi, call_, tag_);
      outgoing_.emplace(send_, std::move(to), comm_.impl().mpi, call_, tag_);
    }
    const bool received = incoming_->advance(), sent = outgoing_->advance();
    return received && sent;
  }

  Communicator comm_;
  const char* call_;
  std::vector<ConstBlock> send_;
  std::vector<Block> receive_;
  int tag_;
  detail::DirectCopies direct_;
  std::optional<Stream<Block>> incoming_;
  std::optional<Stream<ConstBlock>> outgoing_;
  bool own_is_there_ = false;
};

/// If calls are compared, throws CommError on all ranks if two ranks expect different sizes of the block between
/// them.
void check_pairs(const Communicator& comm, std::span<const ConstBlock> send, std::span<const Block> receive) {
  if (!detail::debugging(comm)) return;
  std::vector<std::int64_t> sizes;
  for (const auto& block : send) sizes.push_back(block.bytes());
  const auto offered = comm.alltoall(sizes);
  all_or_none(comm, [&] {
    for (std::size_t peer = 0; peer < offered.size(); ++peer)
      if (offered[peer] != receive[peer].bytes())
        detail::raise<CommError>("exchange",
                                 "got {} bytes that rank {} sends to rank {}, which waits for {}; expected "
                                 "the same arguments on all ranks",
                                 offered[peer], peer, comm.rank(), receive[peer].bytes());
  });
}

void check_blocks(const char* op, const Communicator& comm, std::span<const ConstBlock> send,
                  std::span<const Block> receive) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  if (send.size() != ranks || receive.size() != ranks)
    detail::raise<ValueError>(op, "got {} and {} blocks; expected one for each of {} ranks", send.size(),
                              receive.size(), ranks);
}

void count_sent(const Communicator& comm, std::span<const ConstBlock> send) {
  std::int64_t payload = 0;
  for (const auto peer : peers_of(comm, true)) payload += send[static_cast<std::size_t>(peer)].bytes();
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
std::vector<B> parts_at_root(const Communicator& comm, const Data& data, int root,
                             std::span<const std::int64_t> counts) {
  std::vector<B> blocks(counts.size());
  std::int64_t first = 0;
  for (std::size_t rank = 0; comm.rank() == root && rank < counts.size(); first += counts[rank++])
    blocks[rank] = block_of(data, first, counts[rank]);
  return blocks;
}
/// Returns blocks of which only the root's has data.
template <class B, class Data>
std::vector<B> only_for(const Communicator& comm, int root, const Data& data) {
  std::vector<B> blocks(static_cast<std::size_t>(comm.size()));
  blocks[static_cast<std::size_t>(root)] = block_of(data, 0, data.count);
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
                                                  std::span<const ConstBlock> send, std::span<const Block> receive) {
  detail::run(detail::unless_wrong_anywhere(comm, op, std::move(wrong)));
  return std::make_unique<Exchange>(comm, send, receive, op);
}

}  // namespace

void Communicator::exchange(std::span<const ConstBlock> send, std::span<const Block> receive, Site site) const {
  check_blocks("exchange", *this, send, receive);
  count_sent(*this, send);
  detail::run_collective(*this, {"exchange"}, site, [&] {
    check_pairs(*this, send, receive);
    return std::make_unique<Exchange>(*this, send, receive, "exchange");
  });
}

Request detail::iexchange(const Communicator& comm, std::span<const ConstBlock> send, std::span<const Block> receive,
                          const std::source_location& site) {
  check_blocks("iexchange", comm, send, receive);
  count_sent(comm, send);
  const auto make = [comm, out = std::vector(send.begin(), send.end()),
                     in = std::vector(receive.begin(), receive.end())]() -> std::unique_ptr<Operation> {
    const auto tag = next_tag(comm.impl());
    return std::make_unique<Exchange>(comm, out, in, "iexchange", ExchangeTags{tag, tag + 1, tag + 2});
  };
  return start_collective(comm, {"iexchange"}, site, make);
}

void Communicator::gather(ConstBuffer mine, Buffer all, std::span<const std::int64_t> counts, int root,
                          Site site) const {
  check_shares("gather", *this, mine, all, root, counts);
  const auto send = only_for<ConstBlock>(*this, root, mine);
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
  const auto receive = only_for<Block>(*this, root, mine);
  count_sent(*this, send);
  detail::run_collective(*this, {"scatter", 0, mine.dtype, root, detail::plan_of(*this, counts)}, site, [&] {
    return start_exchange("scatter", *this, wrong_in(*this, mine, all, root, counts), send, receive);
  });
}

}  // namespace heatpp
