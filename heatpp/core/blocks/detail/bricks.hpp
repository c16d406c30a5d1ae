#pragma once

#include <heatpp/core/blocks/blocks.hpp>
#include <heatpp/core/detail/peers/parcels.hpp>

namespace heatpp::detail {

/// The common cells of a brick and a rank's block of an array, in cells of the domain.
struct Piece {
  std::size_t brick;  ///< index among the bricks of its rank
  Shape first, count;
};

/// The pieces between this rank and another one.
struct PeerPieces {
  int rank;
  std::vector<Piece> pieces;
};

/// Bricks of any ranks: for each a rank that hears of it, its rank, its index there, its offset and its shape.
class Boxes {
 public:
  explicit Boxes(std::size_t ndim, std::vector<std::int64_t> numbers = {})
      : ndim_(ndim), parcels_{3 + 2 * ndim, std::move(numbers)} {}

  void add(int to, int rank, std::size_t brick, const Shape& offset, const Shape& shape);
  [[nodiscard]] std::size_t count() const { return parcels_.count(); }
  [[nodiscard]] int rank(std::size_t i) const { return static_cast<int>(parcels_.record(i)[1]); }
  [[nodiscard]] Piece whole(std::size_t i) const;
  [[nodiscard]] std::int64_t begin(std::size_t i, std::size_t axis) const { return parcels_.record(i)[3 + axis]; }
  [[nodiscard]] std::int64_t end(std::size_t i, std::size_t axis) const {
    return begin(i, axis) + parcels_.record(i)[3 + ndim_ + axis];
  }
  [[nodiscard]] std::size_t ndim() const { return ndim_; }
  [[nodiscard]] const Parcels& parcels() const { return parcels_; }

 private:
  std::size_t ndim_;
  Parcels parcels_;
};

/// Returns this rank's bricks, each for all ranks whose blocks under the layout meet it. The layout is cut. Local.
[[nodiscard]] Boxes boxes_to_owners(const std::vector<Brick>& mine, int rank, const Layout& layout);
/// Returns the bricks that meet this rank's block under the layout, by rank and index there: all bricks if the array is
/// not cut. Collective: what `delivered` sends, or two allgathers.
[[nodiscard]] Boxes boxes_at_owner(const std::vector<Brick>& mine, const Layout& layout, const Communicator& comm);
/// Throws ValueError if two of the boxes overlap. Local.
void check_disjoint(const char* op, const Boxes& boxes, const Layout& layout);
/// Throws ValueError on all ranks unless each cell lies in one brick. `boxes` are those at this rank. Collective: an
/// allreduce of 16 bytes.
void check_cover(const char* op, const std::vector<Brick>& mine, const Boxes& boxes, const Layout& layout,
                 const Communicator& comm);

/// Returns the pieces of this rank's bricks in the blocks of all ranks, in the order of these. Local.
[[nodiscard]] std::vector<PeerPieces> pieces_of_bricks(const std::vector<Brick>& mine, const Layout& layout);
/// Returns the pieces of the boxes in the block of `rank`, in the order of the ranks that have them. Local.
[[nodiscard]] std::vector<PeerPieces> pieces_of_block(const Boxes& boxes, const Layout& layout, int rank);

}  // namespace heatpp::detail
