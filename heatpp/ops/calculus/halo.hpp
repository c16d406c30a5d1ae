#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

/// The values beyond the ends of an axis.
enum class Boundary {
  none,      ///< no values: blocks at the ends have fewer ghosts
  constant,  ///< a value
  periodic,  ///< the other end
  edge,      ///< the last element again
  reflect,   ///< the elements inside, mirrored at the last one
};

struct HaloOptions {
  std::int64_t width = 1;                             ///< indices before the block, and behind it if not set otherwise
  std::optional<std::int64_t> behind = std::nullopt;  ///< indices behind the block, if the number differs
  std::optional<int> axis = std::nullopt;             ///< nullopt: the split axis, or 0
  Boundary boundary = Boundary::none;
  Scalar value = 0.0;  ///< value for Boundary::constant
};

/// The ghosts of this rank's block: the elements next to it that its neighbors hold.
class Halo {
 public:
  struct Impl;
  explicit Halo(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

  /// Waits for the ghosts. The functions below wait, too.
  void wait() const;
  /// Return the ghosts before the block and behind it, with the block's shape except along the axis.
  [[nodiscard]] at::Tensor before() const;
  [[nodiscard]] at::Tensor behind() const;
  /// Returns ghosts, block and ghosts in one contiguous tensor. These three throw MemoryError if this rank has no
  /// memory for them.
  [[nodiscard]] at::Tensor with_block() const;

 private:
  std::shared_ptr<Impl> impl_;
};

/// Starts to fetch the ghosts of every rank's block from the ranks that hold them: several ranks if blocks are smaller
/// than the width. Returns at once, so that the inside of the block can be computed meanwhile. `x` must not change
/// until the ghosts are there. Empty blocks get none. Collective: at most one message between any two ranks, with the
/// needed rows. Throws ValueError for a negative width, for one beyond the extent with periodic or reflect, and for a
/// value out of the dtype's range, TypeError for a complex value in a real array.
[[nodiscard]] Halo halo(const DNDarray& x, const HaloOptions& options = {});

/// Does halo(x, options).with_block(), and an allreduce of 8 bytes if the width is beyond the size of `x`. Throws
/// MemoryError if there is no memory for it.
[[nodiscard]] at::Tensor array_with_halos(const DNDarray& x, const HaloOptions& options = {});

}  // namespace heatpp
