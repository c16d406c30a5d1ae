#pragma once

#include <heatpp/ops/operands/axes.hpp>
#include <heatpp/ops/operands/operand.hpp>

namespace heatpp {

enum class Side { left, right };
struct SearchOptions {
  Side side = Side::left;                         ///< before or behind equal elements
  std::optional<DNDarray> sorter = std::nullopt;  ///< positions that put `a` in order
};

/// Returns the positions at which the elements of `v` belong in the rising array `a`, as int64 in the layout of `v`;
/// NaN comes last. If `a` is replicated: local. If `a` is split, the method that moves less: `a` is gathered; or the
/// elements of `v` go to the ranks of their blocks and the positions back; or, for a replicated `v`, each rank counts
/// in its own block, and one allreduce adds the counts. A sorter costs what indexing with it does, and its extremes.
/// Collective. Throws ValueError unless `a` has one axis, for a sorter of another length and for positions in it that
/// are out of range, TypeError for one that holds no whole numbers.
[[nodiscard]] DNDarray searchsorted(const DNDarray& a, const Operand& v, const SearchOptions& options = {});

struct BinOptions {
  bool right = false;  ///< see the functions
};
/// Returns the number of the bin of each element of `x`, as int64 in its layout: bins[i - 1] <= x < bins[i], or with
/// `right` bins[i - 1] < x <= bins[i]; falling bins reverse the comparisons. Replicated bins: local. For split ones
/// neighbors compare their ends, falling ones are flipped, and then it communicates as searchsorted. Throws ValueError
/// unless they rise or fall.
[[nodiscard]] DNDarray digitize(const DNDarray& x, const DNDarray& bins, const BinOptions& options = {});
/// Numbers bins as PyTorch and HeAT: boundaries[i - 1] < x <= boundaries[i], or with `right` boundaries[i - 1] <= x <
/// boundaries[i]. Communicates as searchsorted.
[[nodiscard]] DNDarray bucketize(const DNDarray& x, const DNDarray& boundaries, const BinOptions& options = {});

}  // namespace heatpp
