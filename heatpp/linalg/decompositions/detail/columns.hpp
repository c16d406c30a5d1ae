#pragma once

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// The floating dtype in which decompositions are computed: inexact_type, 16-bit floats in float32.
[[nodiscard]] Dtype decomposition_type(Dtype dtype);
/// The distance from 1 to the next number of a floating dtype's real parts.
[[nodiscard]] double real_epsilon(Dtype dtype);
/// The power of 2 that is next below `size`, as a normal number of a floating dtype.
[[nodiscard]] double power_of_2(double size, Dtype dtype);
/// The root of the sum of |x|^2 as a multiple of a power of 2 next to the largest |x|: the square of neither over- or
/// underflows.
struct Length {
  double scale, relative;
};
/// On every rank. Collective: one allreduce. Throws ValueError where elements are not finite.
[[nodiscard]] Length length_of(const char* op, const DNDarray& x);
/// Whether all elements are finite, on every rank alike. Collective: one allreduce if `x` is cut.
[[nodiscard]] bool all_finite(const DNDarray& x);
/// For each matrix of a stack (..., 1, 1) whether its elements are finite.
[[nodiscard]] at::Tensor finite_matrices(const at::Tensor& blocks);
/// Throws ValueError naming `op` where not all elements are `finite`.
void check_finite(const char* op, bool finite);
/// Throws ValueError naming `op` where `x` is no matrix or stack of matrices, or, if asked, not square ones.
void check_matrices(const char* op, const DNDarray& x, bool square = false);
/// Whether every rank can decompose what it has: a replicated matrix, or a stack that is not cut inside its matrices.
[[nodiscard]] bool is_local(const DNDarray& x);
/// `x` in decomposition_type; a stack that is cut inside its matrices is recut along its longest leading axis.
[[nodiscard]] DNDarray decomposable(const DNDarray& x);
/// The conjugate transpose of matrices; a view where they are real.
[[nodiscard]] DNDarray adjoint(const DNDarray& x);
/// An array on every rank alike.
[[nodiscard]] DNDarray replicated(const at::Tensor& value, const Communicator& comm);
/// The array of every rank's `block`, cut as `like` along its leading axes.
[[nodiscard]] DNDarray stack_like(const DNDarray& like, const at::Tensor& block);
/// `x` cut along `split`, as it was if it is already.
[[nodiscard]] DNDarray cut_along(const DNDarray& x, int split);

/// f of this rank's block of `x`; elements that are not finite and what LibTorch refuses on one rank throw on all.
template <class F>
auto on_blocks(const char* op, const DNDarray& x, F f) {
  std::optional<std::invoke_result_t<F, const at::Tensor&>> result;
  const auto work = [&] {
    check_finite(op, at::isfinite(x.larray()).all().item<bool>());
    try {
      result.emplace(f(x.larray()));
    } catch (const c10::Error& error) {
      raise<Error>(op, "got a matrix of shape {} that cannot be decomposed; expected another: {}", to_string(x.shape()),
                   error.what_without_backtrace());
    }
  };
  if (x.split()) all_or_none(x.comm(), work);
  else work();
  return *result;
}

/// A matrix that is cut by columns, to be decomposed in place panel by panel: whoever has a panel decomposes it and
/// broadcasts it, the others update the columns that they have.
class Columns {
 public:
  struct Panel {
    int owner;
    std::int64_t first, count;  ///< columns
  };

  /// A copy of `x`, recut if need be.
  explicit Columns(const DNDarray& x);

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] const Communicator& comm() const { return comm_; }
  [[nodiscard]] bool owns(const Panel& panel) const { return panel.owner == comm_.rank(); }
  /// The panels of the first `count` columns, none across a cut.
  [[nodiscard]] std::vector<Panel> panels(std::int64_t count) const;
  /// This rank's block, column by column in memory.
  [[nodiscard]] const at::Tensor& block() const { return block_; }
  /// The columns of a panel; only on its owner.
  [[nodiscard]] at::Tensor columns(const Panel& panel) const;
  /// This rank's columns behind the panel.
  [[nodiscard]] at::Tensor behind(const Panel& panel) const;
  [[nodiscard]] std::int64_t first_column() const { return layout_.offset(comm_.rank()); }
  [[nodiscard]] DNDarray array() const;

  /// The owner's `value` on every rank; the others pass its shape.
  [[nodiscard]] at::Tensor broadcast(const Panel& panel, const at::Tensor& value, at::IntArrayRef shape,
                                     at::ScalarType type) const;

 private:
  Layout layout_;
  Communicator comm_;
  at::Tensor block_;
};

}  // namespace heatpp::detail
