#pragma once

#include <heatpp/ops/operands/axes.hpp>
#include <heatpp/ops/operands/operand.hpp>

namespace heatpp {

struct UniqueOptions {
  std::optional<int> axis = std::nullopt;  ///< nullopt: distinct elements; else distinct slices along it
  bool equal_nan = true;                   ///< all NaN are one element, else each is one, as always in longer slices
};

/// The distinct elements in rising order, with one axis. Of a split array the result is split 0, uneven, in shares
/// about as large as a rank has distinct elements on average; of a replicated one replicated. Each rank finds its own
/// distinct elements; exact quantiles of these (one small allreduce a digit; of few elements every rank sees all the
/// keys instead) cut the range of values among the ranks, and one exchange brings equal ones together. Along an axis
/// the slices are compared as wholes, in order of their elements. Collective. Throws IndexError for an axis out of
/// range.
[[nodiscard]] DNDarray unique(const DNDarray& x, const UniqueOptions& options = {});
HEATPP_ALONG_AXIS(DNDarray, unique, UniqueOptions)

struct UniqueCounts {
  DNDarray values, counts;
};
struct UniqueInverse {
  DNDarray values, inverse;
};
struct UniqueAll {
  DNDarray values, indices, inverse, counts;
};
/// The array API's functions, in which no NaN equals another: the distinct elements as unique has them, how often each
/// occurs, where each element of `x` is among them (in the layout of `x`), and the first index of each in the flattened
/// array; all int64, for one exchange more each.
[[nodiscard]] DNDarray unique_values(const DNDarray& x);
[[nodiscard]] UniqueCounts unique_counts(const DNDarray& x);
[[nodiscard]] UniqueInverse unique_inverse(const DNDarray& x);
[[nodiscard]] UniqueAll unique_all(const DNDarray& x);
/// The same of the slices along `axis`: positions count along it, and `inverse` has one axis. Split along `axis`, along
/// which `x` is recut first; every slice travels once, and its place back.
[[nodiscard]] UniqueAll unique_all(const DNDarray& x, int axis);

/// The sets of elements of flattened arrays, in rising order: in both, in either, in `a` only, in exactly one. Dtypes
/// are promoted; the result lies as that of unique, replicated if both arrays are. Each rank sends its own distinct
/// elements once, as unique. No NaN equals another, but for union1d; setdiff1d keeps the dtype of `a`. Collective.
/// Throws CommError for arrays on different communicators.
[[nodiscard]] DNDarray intersect1d(const DNDarray& a, const DNDarray& b);
[[nodiscard]] DNDarray union1d(const DNDarray& a, const DNDarray& b);
[[nodiscard]] DNDarray setdiff1d(const DNDarray& a, const DNDarray& b);
[[nodiscard]] DNDarray setxor1d(const DNDarray& a, const DNDarray& b);

/// The elements in both arrays, and where each is first in the flattened ones (int64).
struct Intersection {
  DNDarray values, indices_a, indices_b;
};
/// intersect1d with return_indices. Communicates as two calls of unique_all and one of isin each.
[[nodiscard]] Intersection intersect1d_indices(const DNDarray& a, const DNDarray& b);

struct IsinOptions {
  bool invert = false;         ///< whether they are not among them
  bool assume_unique = false;  ///< that no element is repeated, which needs not be known
};
/// Whether each element of `x` is among those of `test`, as bool in the layout of `x`; NaN never is. Communicates as
/// the set functions, and the answers; nothing if `test` is replicated, which up to 4096 of its elements are first.
/// Collective.
[[nodiscard]] DNDarray isin(const DNDarray& x, const DNDarray& test, const IsinOptions& options = {});

struct Ediff1dOptions {
  std::vector<Scalar> to_begin = {}, to_end = {};  ///< put before and behind, alike on all ranks
};
/// The differences of neighbours in the flattened array, in its dtype. Of a split array split 0; each rank receives the
/// element behind its own. Collective. Throws TypeError for bool, and ends of a later kind, of which int64 is signed.
[[nodiscard]] DNDarray ediff1d(const DNDarray& x, const Ediff1dOptions& options = {});

}  // namespace heatpp
