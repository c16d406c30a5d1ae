#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Transforms a block that has all of an axis. The result may have another dtype, and another length along the axis.
using BlockTransform = std::function<at::Tensor(const at::Tensor& block)>;

/// Returns how many pieces transformed_in_pieces() takes: one up to 64 MiB on a rank.
[[nodiscard]] std::int64_t pieces_of(const DNDarray& x, int other);

/// Transforms along the split axis piece by piece: each is a part of axis `other`, recut along it so that a rank has
/// whole lines, transformed, and brought to its place in the result, whose layout is `target`. So the array and the
/// result are in memory, and two pieces of some MiB. For memory of the host. Collective: two exchanges for each piece.
[[nodiscard]] DNDarray transformed_in_pieces(const DNDarray& x, int other, std::int64_t pieces, const Layout& target,
                                             const BlockTransform& transform);

}  // namespace heatpp::detail
