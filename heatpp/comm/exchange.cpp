#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/progress/fingerprint.hpp>
#include <heatpp/comm/detail/progress/patience.hpp>
#include <heatpp/comm/detail/raise.hpp>

#include <cstring>

namespace heatpp {
namespace {

using detail::check_collective;
using detail::check_mpi;

// Pieces fit into a core's second-level cache, so that packing costs one pass over memory, and few are under way at
// once, so that the staging memory stays small.
constexpr std::int64_t piece_bytes = std::int64_t{512} << 10;
constexpr std::size_t window = 4;

/// Calls f(address, length) for the runs that hold bytes [first, first + length) of the block, in order.
template <class Byte, class F>
void for_each_run(const BasicBlock<Byte>& block, std::int64_t first, std::int64_t length, F f) {
  if (length <= 0) return;
  auto run = first / block.run_bytes;
  auto inside = first % block.run_bytes;
  while (length > 0) {
    const auto n = std::min(length, block.run_bytes - inside);
    f(block.data + run * block.stride_bytes + inside, n);
    length -= n;
    ++run;
    inside = 0;
  }
}

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

/// One direction of an exchange: walks the peers in the given order, piece by piece, with `window` pieces under way.
/// Both directions follow the same order of rounds on all ranks, which is why the windows cannot block each other.
template <class B>
class Stream {
 public:
  Stream(std::span<const B> blocks, std::vector<int> peers, MPI_Comm comm)
      : blocks_(blocks), peers_(std::move(peers)), comm_(comm) {}

  [[nodiscard]] bool done() const { return peer_ == peers_.size() && active_ == 0; }

  /// Starts pieces while there is room, and ends those that have arrived. Returns the number ended.
  int advance() {
    while (active_ < window && start_next()) {
    }
    int ended = 0;
    while (active_ > 0 && finish_oldest()) ++ended;
    return ended;
  }

 private:
  struct Piece {
    MPI_Request request = MPI_REQUEST_NULL;
    const B* block = nullptr;
    std::int64_t first = 0, length = 0;
    std::vector<std::byte> staging;
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
    if (!direct) piece.staging.resize(static_cast<std::size_t>(piece.length));
    const auto n = static_cast<int>(piece.length);
    if constexpr (std::is_same_v<B, ConstBlock>) {
      if (!direct) pack(*piece.block, piece.first, piece.length, piece.staging.data());
      const auto* from = direct ? piece.block->data + piece.first : piece.staging.data();
      check_mpi(MPI_Isend(from, n, MPI_BYTE, peer, 2, comm_, &piece.request), "exchange");
    } else {
      auto* to = direct ? piece.block->data + piece.first : piece.staging.data();
      check_mpi(MPI_Irecv(to, n, MPI_BYTE, peer, 2, comm_, &piece.request), "exchange");
    }
  }

  bool finish_oldest() {
    auto& piece = pieces_[oldest_];
    int arrived = 0;
    check_mpi(MPI_Test(&piece.request, &arrived, MPI_STATUS_IGNORE), "exchange");
    if (!arrived) return false;
    if constexpr (std::is_same_v<B, Block>)
      if (!piece.block->contiguous()) unpack(piece.staging.data(), *piece.block, piece.first, piece.length);
    oldest_ = (oldest_ + 1) % window;
    --active_;
    return true;
  }

  [[nodiscard]] const B& block() const { return blocks_[static_cast<std::size_t>(peers_[peer_])]; }

  std::span<const B> blocks_;
  std::vector<int> peers_;
  MPI_Comm comm_;
  std::array<Piece, window> pieces_;
  std::size_t peer_ = 0, oldest_ = 0, active_ = 0;
  std::int64_t first_ = 0;
};

}  // namespace

void Communicator::exchange(std::span<const ConstBlock> send, std::span<const Block> receive, Site site) const {
  check_collective(*this, {"exchange"}, site);
  const auto ranks = static_cast<std::size_t>(size());
  if (send.size() != ranks || receive.size() != ranks)
    detail::raise<ValueError>("exchange", "got {} and {} blocks; expected one for each of {} ranks", send.size(),
                              receive.size(), ranks);
  std::vector<int> to, from;
  std::int64_t payload = 0;
  for (int round = 1; round < size(); ++round) {
    to.push_back((rank() + round) % size());
    from.push_back((rank() + size() - round) % size());
    payload += send[static_cast<std::size_t>(to.back())].bytes();
  }
  impl_->count(payload);

  Stream<Block> incoming(receive, std::move(from), impl_->mpi);
  Stream<ConstBlock> outgoing(send, std::move(to), impl_->mpi);
  incoming.advance();
  outgoing.advance();
  const auto me = static_cast<std::size_t>(rank());
  copy(send[me], receive[me]);
  const bool limited = detail::waits_are_limited();
  const auto deadline = limited ? std::optional<detail::Deadline>(std::in_place) : std::nullopt;
  while (!incoming.done() || !outgoing.done()) {
    const int ended = incoming.advance() + outgoing.advance();
    progress();
    if (limited && ended == 0) detail::check_deadline(*deadline, detail::latest_call());
  }
}

}  // namespace heatpp
