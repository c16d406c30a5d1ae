#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

/// What lies beyond the ends of an axis.
enum class Boundary {
  none,      ///< nothing: blocks at the ends have fewer ghosts
  constant,  ///< a value
  periodic,  ///< the other end
  edge,      ///< the last element again
  reflect,   ///< the elements inside, mirrored at the last one
};

struct HaloOptions {
  std::int64_t width = 1;                             ///< indices before and behind the block
  std::optional<std::int64_t> behind = std::nullopt;  ///< behind it, if not as many
  std::optional<int> axis = std::nullopt;             ///< nullopt: the split axis, or 0
  Boundary boundary = Boundary::none;
  Scalar value = 0.0;  ///< for Boundary::constant
};

/// The ghosts of this rank's block: what its neighbours hold next to it.
class Halo {
 public:
  struct Impl;
  explicit Halo(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

  /// Waits for the ghosts. The functions below do so themselves.
  void wait() const;
  /// The ghosts before the block and behind it, of the block's shape but along the axis.
  [[nodiscard]] at::Tensor before() const;
  [[nodiscard]] at::Tensor behind() const;
  /// Ghosts, block and ghosts in one contiguous tensor. These three throw MemoryError where this rank has no memory for
  /// them.
  [[nodiscard]] at::Tensor with_block() const;

 private:
  std::shared_ptr<Impl> impl_;
};

/// Starts to fetch the ghosts of every rank's block, from whichever ranks hold them: several where blocks are smaller
/// than the width. Returns at once, so that the inside of the block can be computed meanwhile; `x` must not change
/// before the ghosts have come. Empty blocks get none. Collective: at most one message between any two ranks, of the
/// rows that one needs of the other. Throws ValueError for a negative width, for one beyond the extent with periodic or
/// reflect, and for a value that the dtype has not, TypeError for a complex value in a real array.
[[nodiscard]] Halo halo(const DNDarray& x, const HaloOptions& options = {});

/// halo(x, options).with_block(), and an allreduce of 8 bytes where the width is beyond the size of `x`. Throws
/// MemoryError where there is no memory for it.
[[nodiscard]] at::Tensor array_with_halos(const DNDarray& x, const HaloOptions& options = {});

}  // namespace heatpp
