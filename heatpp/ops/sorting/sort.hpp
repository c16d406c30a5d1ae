#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/ops/operands/axes.hpp>

namespace heatpp {

/// Options of sort and argsort.
struct SortOptions {
  std::optional<int> axis = -1;  ///< nullopt: of the array flattened to one axis
  bool descending = false;       ///< NaN first, equal elements in the order they had
  bool stable = true;            ///< both always are
};

/// The elements in rising order along `axis`, NaN last, complex numbers by their real, then their imaginary parts;
/// dtype and layout of `x`. Along the split axis: local sort, exact splitters digit by digit (one small allreduce
/// each), one exchange of all columns together after one of their counts, and a merge; columns too short for
/// that are brought together whole and back instead, in two exchanges. Along others: local. Collective. Throws
/// IndexError for an axis out of range.
[[nodiscard]] DNDarray sort(const DNDarray& x, const SortOptions& options = {});
HEATPP_ALONG_AXIS(DNDarray, sort, SortOptions)

/// The positions along `axis` of the elements in sorted order, as int64 in the layout of `x`; equal elements in the
/// order they have in `x`. Communicates as sort, with the positions beside the elements.
[[nodiscard]] DNDarray argsort(const DNDarray& x, const SortOptions& options = {});
HEATPP_ALONG_AXIS(DNDarray, argsort, SortOptions)

/// sort, whose result has the element at position `kth` of the sorted axis, or at several, in its place, as all others.
/// Throws ValueError for kth out of range.
[[nodiscard]] DNDarray partition(const DNDarray& x, std::int64_t kth, std::optional<int> axis = -1);
[[nodiscard]] DNDarray partition(const DNDarray& x, const std::vector<std::int64_t>& kth, std::optional<int> axis = -1);
/// The positions of the elements of `partition`, as argsort gives them.
[[nodiscard]] DNDarray argpartition(const DNDarray& x, std::int64_t kth, std::optional<int> axis = -1);
[[nodiscard]] DNDarray argpartition(const DNDarray& x, const std::vector<std::int64_t>& kth,
                                    std::optional<int> axis = -1);

/// sort along the last axis with a complex result: complex64 for whole numbers of up to 16 bits and complex64, else
/// complex128.
[[nodiscard]] DNDarray sort_complex(const DNDarray& x);

/// The positions that sort by the last of `keys`, equal elements by the last but one, and so on, as int64 in the layout
/// of the last key. Each key but the first costs what two calls of unique_inverse do, and all together
/// one argsort. Throws ValueError where there are no
/// keys or their shapes differ.
[[nodiscard]] DNDarray lexsort(const std::vector<DNDarray>& keys, int axis = -1);

struct TopkOptions {
  int axis = -1;
  bool largest = true;  ///< else the smallest; NaN counts as the largest
  bool sorted = true;   ///< the result always is
};
struct Topk {
  DNDarray values, indices;
};
/// The `k` largest elements along `axis`, the largest first, of equal ones the first, and their positions along it
/// (int64). Along the split axis, along which the result is cut evenly: every rank finds its k best, whose splitters
/// are found digit by digit, and one exchange brings each to its place. Along others: local, and the split stays.
/// Collective. Throws ValueError for k < 0 or beyond the extent, TypeError for complex arrays.
[[nodiscard]] Topk topk(const DNDarray& x, std::int64_t k, const TopkOptions& options = {});

}  // namespace heatpp
