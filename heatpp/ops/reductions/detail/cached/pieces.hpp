#pragma once

#include <heatpp/core/detail/fused/pending.hpp>
#include <heatpp/ops/operands/detail/around.hpp>
#include <heatpp/ops/reductions/detail/reduced.hpp>

namespace heatpp::detail {

inline constexpr std::int64_t most_inner = 1024;  ///< elements of a row, of which a piece in the cache has many

/// Calls f(first element, extents, first result) for pieces of a block that stay in the cache; for all of it if rows
/// are long. The pieces depend on the extents and the number of threads only.
template <class F>
void each_cached_piece(const Around& extents, F f) {
  const auto [outer, n, inner] = extents;
  if (inner > most_inner) return f(std::int64_t{0}, extents, std::int64_t{0});
  const auto piece = worth_a_thread * at::get_num_threads(), all = std::max<std::int64_t>(1, n * inner);
  const auto together = std::max<std::int64_t>(1, piece / all);
  const auto rows = together > 1 ? n : piece / inner / 4 * 4;  // kernels take four rows at a time
  for (std::int64_t o = 0; o < outer; o += together)
    for (std::int64_t row = 0; row < n; row += rows)
      f((o * n + row) * inner, Around{std::min(together, outer - o), std::min(rows, n - row), inner}, o * inner);
}

/// A block around the reduced axes that is read in cached pieces: from its memory, or from a formula that is computed
/// piece by piece. Both ways give the same pieces, so that sums have the same bits.
class CachedPieces {
 public:
  explicit CachedPieces(AroundAxes view) : view_(std::move(view)) {}
  /// Returns the pieces of a pending block that belongs to `x` alone, or nullopt if it has to be computed first.
  [[nodiscard]] static std::optional<CachedPieces> of_formula(const DNDarray& x, const ReducedAxes& reduced);
  /// Returns the pieces of a block on the CPU whose rows are short, or nullopt if its elements would have to be copied.
  [[nodiscard]] static std::optional<CachedPieces> of_memory(const at::Tensor& block, at::IntArrayRef axes);

  [[nodiscard]] const AroundAxes& view() const { return view_; }
  /// The dtype of the elements, in which bool is uint8.
  [[nodiscard]] at::ScalarType type() const {
    const auto type = view_.data.scalar_type();
    return type == at::kBool ? at::kByte : type;
  }
  /// Calls f(elements, extents, first result) for each piece.
  template <class T, class F>
  void each(F f) const {
    each_cached_piece(view_.extents, [&](std::int64_t first, const Around& extents, std::int64_t result) {
      f(static_cast<const T*>(read(first, extents.others() * extents.n)), extents, result);
    });
  }

 private:
  CachedPieces(AroundAxes view, fused::Reading formula, at::Tensor buffer)
      : view_(std::move(view)), formula_(std::move(formula)), buffer_(std::move(buffer)) {}
  [[nodiscard]] const void* read(std::int64_t first, std::int64_t count) const;

  AroundAxes view_;  // of a formula: without elements
  std::optional<fused::Reading> formula_ = std::nullopt;
  at::Tensor buffer_ = {};
};

/// Returns what a reduction reads: a formula, or else the computed block; bool as uint8, 16-bit floats as float.
[[nodiscard]] CachedPieces cached_pieces(const DNDarray& x, const ReducedAxes& reduced);

}  // namespace heatpp::detail
