#include <heatpp/ops/reductions/detail/cached/reduced_in_pieces.hpp>

#include <heatpp/ops/operands/detail/align_pending.hpp>
#include <heatpp/ops/reductions/detail/extremes.hpp>
#include <heatpp/ops/reductions/detail/float_sums.hpp>
#include <heatpp/ops/reductions/detail/whole_sums.hpp>

#include <ATen/Dispatch.h>
#include <functional>

namespace heatpp::detail {
namespace {

bool is_wide_float(at::ScalarType type) { return type == at::kFloat || type == at::kDouble; }
bool is_extremum_or_sum(const BlockReduction& reduction) {
  return reduction.is_extremum || reduction.joined == ReduceOp::sum;
}

/// Returns the results of f(record) as a block in the order of the pieces.
template <class T, class Record, class F>
at::Tensor results_of(const CachedPieces& pieces, const std::vector<Record>& records, F f) {
  auto result = at::empty(pieces.view().kept, c10::CppTypeToScalarType<T>::value);
  std::ranges::transform(records, result.template data_ptr<T>(), f);
  return result;
}

template <class T>
at::Tensor sums_of(const CachedPieces& pieces) {
  std::vector<double> sums(static_cast<std::size_t>(pieces.view().extents.others()));
  pieces.each<T>([&](const T* data, const Around& extents, std::int64_t first) {
    add_float_sums(data, extents, sums.data() + first);
  });
  return results_of<T>(pieces, sums, [](double sum) { return static_cast<T>(sum); });
}

template <class T>
at::Tensor extremes_of(const CachedPieces& pieces, bool largest) {
  std::vector<Extremes<T>> ends(static_cast<std::size_t>(pieces.view().extents.others()));
  pieces.each<T>([&](const T* data, const Around& extents, std::int64_t first) {
    add_extremes(data, extents, ends.data() + first, largest ? Extreme::most : Extreme::least);
  });
  return results_of<T>(pieces, ends, [=](const Extremes<T>& both) { return largest ? both.most : both.least; });
}

at::Tensor of_floats(const CachedPieces& pieces, const BlockReduction& reduction) {
  return AT_DISPATCH_FLOATING_TYPES(pieces.type(), "reduction", [&] {
    return reduction.is_extremum ? extremes_of<scalar_t>(pieces, reduction.joined == ReduceOp::max)
                                 : sums_of<scalar_t>(pieces);
  });
}

/// Sums of whole numbers, and any and all of truth values by how many are true.
template <class T>
at::Tensor of_counts(const CachedPieces& pieces, const BlockReduction& reduction) {
  std::vector<std::int64_t> sums(static_cast<std::size_t>(pieces.view().extents.others()));
  pieces.each<T>([&](const T* data, const Around& extents, std::int64_t first) {
    add_whole_sums(data, extents, sums.data() + first);
  });
  if (reduction.joined == ReduceOp::sum) return results_of<std::int64_t>(pieces, sums, std::identity());
  const auto least = reduction.joined == ReduceOp::max ? 1 : pieces.view().extents.n;
  return results_of<bool>(pieces, sums, [=](std::int64_t count) { return count >= least; });
}

/// Joins results of pieces, in any order: they are whole numbers or truth values.
void join(const at::Tensor& from, const at::Tensor& into, ReduceOp joined) {
  if (joined == ReduceOp::sum) into.add_(from);
  else into.copy_(joined == ReduceOp::max ? at::maximum(into, from) : at::minimum(into, from));
}

at::Tensor joined_pieces(const CachedPieces& pieces, at::ScalarType type, const BlockReduction& reduction) {
  at::Tensor result;
  pieces.each<std::byte>([&](const std::byte* data, const Around& extents, std::int64_t first) {
    const auto [outer, n, inner] = extents;
    const auto block = at::from_blob(const_cast<std::byte*>(data), {outer, n, inner}, type);
    const auto piece = reduction.local(block, at::IntArrayRef{1}, false, std::nullopt).flatten();
    if (!result.defined()) result = at::full({pieces.view().extents.others()}, reduction.neutral, piece.options());
    join(piece, result.narrow(0, first, outer * inner), reduction.joined);
  });
  return result.view(pieces.view().kept);
}

std::optional<CachedPieces> pieces_to_reduce(const DNDarray& x, const ReducedAxes& reduced, bool in_memory) {
  if (auto formula = CachedPieces::of_formula(x, reduced)) return formula;
  return in_memory ? CachedPieces::of_memory(reduced.counted(x.larray()), reduced.axes) : std::nullopt;
}

}  // namespace

std::optional<at::Tensor> reduced_in_pieces(const DNDarray& x, const ReducedAxes& reduced,
                                            const BlockReduction& reduction) {
  if (reduction.joined == ReduceOp::prod || reduced.axes.empty()) return std::nullopt;
  const auto type = pending_block(x).scalar_type();
  const bool floats = is_wide_float(type) && is_extremum_or_sum(reduction);
  const auto pieces = pieces_to_reduce(x, reduced, floats);
  if (!pieces) return std::nullopt;
  const bool sum = reduction.joined == ReduceOp::sum;
  const auto local = floats                                        ? of_floats(*pieces, reduction)
                     : type == at::kLong && sum                    ? of_counts<std::int64_t>(*pieces, reduction)
                     : type == at::kBool && !reduction.is_extremum ? of_counts<std::uint8_t>(*pieces, reduction)
                                                                   : joined_pieces(*pieces, type, reduction);
  const auto result = pieces->view().order.restored(local);
  return reduced.keepdims ? result : result.squeeze(reduced.axes);
}

}  // namespace heatpp::detail
