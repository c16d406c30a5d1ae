#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/ops/operands/axes.hpp>

namespace heatpp {

/// Options of sort and argsort.
struct SortOptions {
  std::optional<int> axis = -1;  ///< nullopt: sort the flattened array
  bool descending = false;       ///< NaN first, equal elements in their order
  bool stable = true;            ///< both always are
};

/// Sorts the elements along `axis` in rising order, NaN last, complex numbers by their real, then their imaginary
/// parts; dtype and layout of `x`. Along the split axis: local sort, exact splitters digit by digit (one small
/// allreduce each), one exchange of all columns together after one of their counts, and a merge; shorter columns are
/// brought together whole and back instead, in two exchanges. Along others: local. Collective. Throws IndexError for an
/// axis out of range.
[[nodiscard]] DNDarray sort(const DNDarray& x, const SortOptions& options = {});
HEATPP_ALONG_AXIS(DNDarray, sort, SortOptions)

/// Returns the positions along `axis` of the elements in sorted order, as int64 in the layout of `x`; equal elements
/// keep their order in `x`. Communicates as sort, with the positions beside the elements.
[[nodiscard]] DNDarray argsort(const DNDarray& x, const SortOptions& options = {});
HEATPP_ALONG_AXIS(DNDarray, argsort, SortOptions)

/// Does sort: the element at position `kth` of the sorted axis, or at several, is in its place, as are all others.
/// Throws ValueError for kth out of range.
[[nodiscard]] DNDarray partition(const DNDarray& x, std::int64_t kth, std::optional<int> axis = -1);
[[nodiscard]] DNDarray partition(const DNDarray& x, const std::vector<std::int64_t>& kth, std::optional<int> axis = -1);
/// Returns the positions of the elements of `partition`, as argsort does.
[[nodiscard]] DNDarray argpartition(const DNDarray& x, std::int64_t kth, std::optional<int> axis = -1);
[[nodiscard]] DNDarray argpartition(const DNDarray& x, const std::vector<std::int64_t>& kth,
                                    std::optional<int> axis = -1);

/// Sorts along the last axis with a complex result: complex64 for whole numbers of up to 16 bits and complex64, else
/// complex128.
[[nodiscard]] DNDarray sort_complex(const DNDarray& x);

/// Returns the positions that sort by the last of `keys`, equal elements by the last but one, and so
/// on, as int64 in the layout of the last key. Each key except the first costs two calls of
/// unique_inverse, and all together one argsort. Throws ValueError if there are no keys or their shapes
/// differ.
[[nodiscard]] DNDarray lexsort(const std::vector<DNDarray>& keys, int axis = -1);

struct TopkOptions {
  int axis = -1;
  bool largest = true;  ///< else the smallest; NaN counts as the largest
  bool sorted = true;   ///< the result always is
};
struct Topk {
  DNDarray values, indices;
};
/// Returns the `k` largest elements along `axis`, the largest first, of equal ones the first, and their positions along
/// it (int64). Along the split axis, along which the result is cut evenly: every rank finds its k best, splitters are
/// found digit by digit, and one exchange brings each to its place. Along others: local, and the split stays.
/// Collective. Throws ValueError for k < 0 or beyond the extent, TypeError for complex arrays.
[[nodiscard]] Topk topk(const DNDarray& x, std::int64_t k, const TopkOptions& options = {});

}  // namespace heatpp
