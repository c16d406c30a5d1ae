#pragma once

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Returns the floating dtype of decompositions: inexact_type, float32 for 16-bit floats.
[[nodiscard]] Dtype decomposition_type(Dtype dtype);
/// Returns the distance from 1 to the next number of a floating dtype's real parts.
[[nodiscard]] double real_epsilon(Dtype dtype);
/// Returns the power of 2 just below `size`, as a normal number of a floating dtype.
[[nodiscard]] double power_of_2(double size, Dtype dtype);
/// The root of the sum of |x|^2 as a multiple of a power of 2 near the largest |x|, so that no square over- or
/// underflows.
struct Length {
  double scale, relative;
};
/// Computes the length on every rank. Collective: one allreduce. Throws ValueError unless elements are finite.
[[nodiscard]] Length length_of(const char* op, const DNDarray& x);
/// Whether all elements are finite, equally on every rank. Collective: one allreduce if `x` is cut.
[[nodiscard]] bool all_finite(const DNDarray& x);
/// Returns for each matrix of a stack (..., 1, 1) whether its elements are finite.
[[nodiscard]] at::Tensor finite_matrices(const at::Tensor& blocks);
/// Throws ValueError naming `op` unless all elements are `finite`.
void check_finite(const char* op, bool finite);
/// Throws ValueError naming `op` unless `x` is a matrix or stack of matrices, and square if `square`.
void check_matrices(const char* op, const DNDarray& x, bool square = false);
/// Whether every rank can decompose its part: a replicated matrix, or a stack that is not cut inside matrices.
[[nodiscard]] bool is_local(const DNDarray& x);
/// Returns `x` in decomposition_type; a stack cut inside its matrices is recut along its longest leading axis.
[[nodiscard]] DNDarray decomposable(const DNDarray& x);
/// Returns the conjugate transpose of matrices; a view if they are real.
[[nodiscard]] DNDarray adjoint(const DNDarray& x);
/// Makes an array that is equal on every rank.
[[nodiscard]] DNDarray replicated(const at::Tensor& value, const Communicator& comm);
/// Makes an array of every rank's `block`, cut as `like` along its leading axes.
[[nodiscard]] DNDarray stack_like(const DNDarray& like, const at::Tensor& block);
/// Cuts `x` along `split`; keeps the cut if it has that split.
[[nodiscard]] DNDarray cut_along(const DNDarray& x, int split);

/// Applies f to this rank's block of `x`. If elements are not finite or LibTorch throws on one rank, all throw.
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

/// A matrix that is cut by columns and decomposed in place panel by panel: the owner of a panel decomposes it and
/// broadcasts it, and the others update their columns.
class Columns {
 public:
  struct Panel {
    int owner;
    std::int64_t first, count;  ///< columns
  };

  /// Makes a copy of `x`, recut if needed.
  explicit Columns(const DNDarray& x);

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] const Communicator& comm() const { return comm_; }
  [[nodiscard]] bool owns(const Panel& panel) const { return panel.owner == comm_.rank(); }
  /// Returns the panels of the first `count` columns, none across a cut.
  [[nodiscard]] std::vector<Panel> panels(std::int64_t count) const;
  /// Returns this rank's block, column by column in memory.
  [[nodiscard]] const at::Tensor& block() const { return block_; }
  /// Returns the columns of a panel; only on its owner.
  [[nodiscard]] at::Tensor columns(const Panel& panel) const;
  /// Returns this rank's columns behind the panel.
  [[nodiscard]] at::Tensor behind(const Panel& panel) const;
  [[nodiscard]] std::int64_t first_column() const { return layout_.offset(comm_.rank()); }
  [[nodiscard]] DNDarray array() const;

  /// Returns the owner's `value` on every rank; the others pass its shape.
  [[nodiscard]] at::Tensor broadcast(const Panel& panel, const at::Tensor& value, at::IntArrayRef shape,
                                     at::ScalarType type) const;

 private:
  Layout layout_;
  Communicator comm_;
  at::Tensor block_;
};

}  // namespace heatpp::detail
