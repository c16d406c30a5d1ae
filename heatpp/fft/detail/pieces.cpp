#include <heatpp/fft/detail/pieces.hpp>

#include <heatpp/comm/detail/progress/exchange.hpp>
#include <heatpp/core/detail/allocated.hpp>
#include <heatpp/core/detail/cuts/count_runs.hpp>
#include <heatpp/core/detail/peers/axis_block.hpp>

#include <algorithm>

namespace heatpp::detail {
namespace {

constexpr std::int64_t whole_up_to = std::int64_t{64} << 20, piece_bytes = std::int64_t{3} << 20;
constexpr std::int64_t message_bytes = std::int64_t{8} << 10;  // of a piece, to each rank: longer ones gain nothing

std::int64_t bytes_of_share(const DNDarray& x) { return x.size() / x.comm().size() * x.larray().element_size(); }

/// Indices first .. first + lines.extent() - 1 of an axis, cut so that each rank has some of them.
struct Piece {
  int axis;
  std::int64_t first;
  Cut lines;
};

/// Exchanges one cut of a piece for the other. Blocks that are cut along the split lie in a tensor with all of the
/// piece's axis, and the lines of this rank in one with all of the split axis.
class PieceMover {
 public:
  PieceMover(const Communicator& comm, int split, Piece piece) : comm_(comm), split_(split), piece_(std::move(piece)) {}

  void to_lines(const at::Tensor& block, const Cut& cut, const at::Tensor& lines) const {
    exchange_among_all(comm_, of_lines<const std::byte>(block), of_split<std::byte>(lines, cut), most(lines, cut));
  }
  void from_lines(const at::Tensor& lines, const at::Tensor& block, const Cut& cut) const {
    exchange_among_all(comm_, of_split<const std::byte>(lines, cut), of_lines<std::byte>(block), most(lines, cut));
  }

 private:
  template <class Byte>
  [[nodiscard]] std::vector<PeerBlock<BasicBlock<Byte>>> of_lines(const at::Tensor& block) const {
    std::vector<PeerBlock<BasicBlock<Byte>>> blocks;
    for (int rank = 0; rank < comm_.size(); ++rank)
      blocks.push_back({rank, axis_block<Byte>(block, piece_.axis, piece_.first + piece_.lines.first(rank),
                                               piece_.lines.extent(rank))});
    return blocks;
  }
  template <class Byte>
  [[nodiscard]] std::vector<PeerBlock<BasicBlock<Byte>>> of_split(const at::Tensor& lines, const Cut& cut) const {
    std::vector<PeerBlock<BasicBlock<Byte>>> blocks;
    for (int rank = 0; rank < comm_.size(); ++rank)
      blocks.push_back({rank, axis_block<Byte>(lines, split_, cut.first(rank), cut.extent(rank))});
    return blocks;
  }
  /// Returns the bytes of the piece on the rank that has most of it in either cut.
  [[nodiscard]] std::int64_t most(const at::Tensor& lines, const Cut& cut) const {
    std::int64_t others = lines.element_size();  // bytes of an index of both axes
    for (int axis = 0; axis < lines.dim(); ++axis)
      if (axis != split_ && axis != piece_.axis) others *= lines.size(axis);
    return others * std::max(most_indices(cut) * piece_.lines.extent(), most_indices(piece_.lines) * cut.extent());
  }

  Communicator comm_;
  int split_;
  Piece piece_;
};

}  // namespace

std::int64_t pieces_of(const DNDarray& x, int other) {
  const auto bytes = bytes_of_share(x), ranks = std::int64_t{x.comm().size()};
  if (ranks == 1 || bytes <= whole_up_to) return 1;
  const auto most = x.shape()[static_cast<std::size_t>(other)] / ranks;  // a line for each rank
  return std::clamp<std::int64_t>(bytes / std::max(piece_bytes, ranks * message_bytes), 1,
                                  std::max<std::int64_t>(1, most));
}

DNDarray transformed_in_pieces(const DNDarray& x, int other, std::int64_t pieces, const Layout& target,
                               const BlockTransform& transform) {
  const auto& comm = x.comm();
  const auto split = *x.split();
  const auto block = x.larray().resolve_conj().resolve_neg().contiguous();
  const auto parts = Cut::even(x.shape()[static_cast<std::size_t>(other)], static_cast<int>(pieces));
  at::Tensor result;
  for (int part = 0; part < parts.ranks(); ++part) {
    const Piece piece{other, parts.first(part), Cut::even(parts.extent(part), comm.size())};
    const PieceMover mover(comm, split, piece);
    auto shape = block.sizes().vec();
    shape[static_cast<std::size_t>(split)] = x.layout().cut().extent();
    shape[static_cast<std::size_t>(other)] = piece.lines.extent(comm.rank());
    auto lines = at::empty(shape, block.options());
    mover.to_lines(block, x.layout().cut(), lines);
    lines = transform(lines).resolve_conj().contiguous();
    if (!result.defined())
      result = allocated("fft", target, lines.options(), comm,
                         [&] { return at::empty(target.local_shape(comm.rank()), lines.options()); });
    mover.from_lines(lines, result, target.cut());
  }
  return wrap(result, target, comm);
}

}  // namespace heatpp::detail
