#pragma once

#include <heatpp/ops/operands/axes.hpp>
#include <heatpp/ops/operands/operand.hpp>

namespace heatpp {

struct UniqueOptions {
  std::optional<int> axis = std::nullopt;  ///< nullopt: distinct elements; else distinct slices along this axis
  bool equal_nan = true;                   ///< whether all NaN are one element; never so in longer slices
};

/// Returns the distinct elements in rising order, with one axis. For a split array the result is split 0, uneven, in
/// shares about as large as the mean number of distinct elements on a rank; for a replicated one it is replicated. Each
/// rank finds its own distinct elements. Exact quantiles of these (one small allreduce a digit; if elements are few,
/// every rank sees all the keys instead) cut the range of values among the ranks, and one exchange brings equal ones
/// together. Along an axis whole slices are compared, in order of their elements. Collective. Throws IndexError for an
/// axis out of range.
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
/// Return the distinct elements by the array API's rules, in which no NaN equals another: the elements as in unique,
/// how often each occurs, where each element of `x` is among them (in the layout of `x`), and the first index of each
/// in the flattened array; all int64, one exchange more each.
[[nodiscard]] DNDarray unique_values(const DNDarray& x);
[[nodiscard]] UniqueCounts unique_counts(const DNDarray& x);
[[nodiscard]] UniqueInverse unique_inverse(const DNDarray& x);
[[nodiscard]] UniqueAll unique_all(const DNDarray& x);
/// Does unique_all for slices along `axis`: positions count along it, and `inverse` has one axis. The result is split
/// along `axis`; `x` is recut along it first. Every slice travels once, and its place back.
[[nodiscard]] UniqueAll unique_all(const DNDarray& x, int axis);

/// These return the sets of elements of flattened arrays, in rising order: in both, in either, in `a` only, in exactly
/// one. Dtypes are promoted; the result is split as that of unique, replicated if both arrays are. Each rank sends its
/// own distinct elements once, as unique. No NaN equals another, except in union1d; setdiff1d keeps the dtype of `a`.
/// Collective. They throw CommError for arrays on different communicators.
[[nodiscard]] DNDarray intersect1d(const DNDarray& a, const DNDarray& b);
[[nodiscard]] DNDarray union1d(const DNDarray& a, const DNDarray& b);
[[nodiscard]] DNDarray setdiff1d(const DNDarray& a, const DNDarray& b);
[[nodiscard]] DNDarray setxor1d(const DNDarray& a, const DNDarray& b);

/// The elements in both arrays, and the first index of each in the flattened arrays (int64).
struct Intersection {
  DNDarray values, indices_a, indices_b;
};
/// Does intersect1d with return_indices. Communicates as two calls of unique_all and one of isin each.
[[nodiscard]] Intersection intersect1d_indices(const DNDarray& a, const DNDarray& b);

struct IsinOptions {
  bool invert = false;         ///< whether to return the negation
  bool assume_unique = false;  ///< whether no element is repeated; the result does not depend on it
};
/// Returns whether each element of `x` is in `test`, as bool in the layout of `x`; NaN never is. Communicates as the
/// set functions, and the answers. If `test` is replicated, nothing; up to 4096 elements are replicated first.
/// Collective.
[[nodiscard]] DNDarray isin(const DNDarray& x, const DNDarray& test, const IsinOptions& options = {});

struct Ediff1dOptions {
  std::vector<Scalar> to_begin = {}, to_end = {};  ///< values before and behind, equal on all ranks
};
/// Returns the differences of neighbors in the flattened array, in its dtype. A split array gives split 0; each rank
/// gets the element behind its own. Collective. Throws TypeError for bool, and ends of a later kind (int64 is signed).
[[nodiscard]] DNDarray ediff1d(const DNDarray& x, const Ediff1dOptions& options = {});

}  // namespace heatpp
