#include <heatpp/ops/reductions/detail/cached/pieces.hpp>

#include <heatpp/ops/elementwise/detail/fused_functions.hpp>
#include <heatpp/ops/operands/detail/align_pending.hpp>

namespace heatpp::detail {
namespace {

/// Returns the extents of a block in C order around neighboring axes, or nullopt if there are no such pieces.
std::optional<Around> extents_around(at::IntArrayRef shape, at::IntArrayRef axes) {
  if (axes.empty() || axes.back() - axes.front() + 1 != std::ssize(axes)) return std::nullopt;
  Around extents;
  for (std::int64_t axis = 0; axis < std::ssize(shape); ++axis)
    (axis < axes.front() ? extents.outer : axis > axes.back() ? extents.inner : extents.n) *= shape[axis];
  return extents.inner <= most_inner ? std::optional(extents) : std::nullopt;
}

/// Whether nothing but `x` refers to its pending block, and this rank adds all of it.
bool is_readable_alone(const DNDarray& x, const ReducedAxes& reduced) {
  return !reduced.is_copy && local::is_pending_alone(x);
}

}  // namespace

std::optional<CachedPieces> CachedPieces::of_formula(const DNDarray& x, const ReducedAxes& reduced) {
  if (!is_readable_alone(x, reduced)) return std::nullopt;
  const auto& block = pending_block(x);
  const auto extents = extents_around(block.sizes(), reduced.axes);
  if (!extents) return std::nullopt;
  auto formula = fused::Reading::of(block);
  if (!formula) return std::nullopt;
  std::int64_t most = 0;
  each_cached_piece(*extents,
                    [&](auto, const Around& piece, auto) { most = std::max(most, piece.others() * piece.n); });
  AroundAxes view{
      .data = at::empty({0}, block.options()), .order = AxisOrder::unchanged(block.dim()), .extents = *extents};
  for (std::int64_t axis = 0; axis < block.dim(); ++axis)
    view.kept.push_back(reduced.contains(static_cast<int>(axis)) ? 1 : block.size(axis));
  return CachedPieces(std::move(view), *std::move(formula), at::empty({most}, block.options()));
}

std::optional<CachedPieces> CachedPieces::of_memory(const at::Tensor& block, at::IntArrayRef axes) {
  if (!block.is_cpu() || block.is_neg()) return std::nullopt;
  const auto order = AxisOrder::in_memory(block);
  const auto ordered = order.permuted(block);
  auto places = order.places_of(axes);
  std::ranges::sort(places);
  if (!ordered.is_contiguous() || !extents_around(ordered.sizes(), places)) return std::nullopt;
  return CachedPieces(around_axes(block, axes));
}

const void* CachedPieces::read(std::int64_t first, std::int64_t count) const {
  if (!formula_) return static_cast<const std::byte*>(view_.data.const_data_ptr()) + first * view_.data.element_size();
  return formula_->read(first, first + count, buffer_.mutable_data_ptr());
}

CachedPieces cached_pieces(const DNDarray& x, const ReducedAxes& reduced) {
  if (auto formula = CachedPieces::of_formula(x, reduced)) return *std::move(formula);
  return CachedPieces(around_axes(readable(reduced.counted(x.larray())), reduced.axes));
}

}  // namespace heatpp::detail
