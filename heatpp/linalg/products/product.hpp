#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

// Products of arrays. The dtype is that of promote_types; whole numbers are exact modulo their width, booleans give
// "any of both", 16-bit floats are accumulated in float32. Operands of any layout. All are collective, and throw
// ValueError for shapes that do not fit, CommError for different communicators; always on all ranks.
//
// What they communicate. Two replicated operands: nothing, and the result is replicated. Otherwise the cheapest way is
// taken, by the bytes that all ranks send; on P ranks, with sizes in bytes, one of:
//   keep a batch axis   both operands cut along the axis of both that one of them is cut along; moves the other one.
//   rotate b            the result is cut along an axis of `a`; the blocks of `b` go round the ring, (P-1) |b|, while
//                       those that are there are multiplied. Nothing if `b` is replicated.
//   add up              both are cut along an axis that is summed over; each block of the result collects its sums on
//                       its way round the ring, (P-1) |result|. A result of sums alone is allreduced instead.
//   rotate a, add up    the same with the result cut along an axis of `b`.
// An operand that is not cut as it should be moves first, at most its own size, which counts as redistributed; cutting
// a replicated one is free. An axis shorter than P is cut only if it already was, or if there is no other. Under
// Redistribution::forbid the cheapest way in which no operand moves is taken, if there is one.
//
// So for matrices of about one size, with splits a, b -> of the result:
//   0, none -> 0 and none, 1 -> 1   nothing moves
//   0, 0 -> 0 and 0, 1 -> 0         b rotates
//   1, 1 -> 1                       a rotates
//   1, 0 -> 0                       added up
//   1, none -> 0 and none, 0 -> 1   the split operand is recut, (P-1) / P of its size

/// The matrix product by NumPy's rules: over the last axis of `a` and the second to last of `b`, earlier axes
/// broadcast; an operand with one axis stands for a row on the left, for a column on the right.
[[nodiscard]] DNDarray matmul(const DNDarray& a, const DNDarray& b);
/// Options of dot, inner and vdot.
struct DotOptions {
  /// Of a result that is one number: the exact sum of the exact products of floating numbers, rounded once, which has
  /// the same bits on any number of ranks and any layout. HEATPP_REPRODUCIBLE=1 says so for all of them.
  bool reproducible = false;
};
/// matmul of at most two axes; with more, the sum over the last axis of `a` and the second to last of `b`, the other
/// axes behind one another; with none, the elementwise product.
[[nodiscard]] DNDarray dot(const DNDarray& a, const DNDarray& b, const DotOptions& options = {});
/// The sum of conj(a) * b over all elements, in C order. Operands of different shapes are flattened first.
[[nodiscard]] DNDarray vdot(const DNDarray& a, const DNDarray& b, const DotOptions& options = {});
/// The sum of conj(a) * b along `axis` of both; the other axes broadcast.
[[nodiscard]] DNDarray vecdot(const DNDarray& a, const DNDarray& b, int axis = -1);
/// Matrices times vectors: (..., m, n) by (..., n) gives (..., m).
[[nodiscard]] DNDarray matvec(const DNDarray& a, const DNDarray& x);
/// Conjugated vectors times matrices: (..., m) by (..., m, n) gives (..., n).
[[nodiscard]] DNDarray vecmat(const DNDarray& x, const DNDarray& a);
/// The sum over the last axis of both, the other axes behind one another.
[[nodiscard]] DNDarray inner(const DNDarray& a, const DNDarray& b, const DotOptions& options = {});
/// All products of an element of `a` with one of `b`, as a matrix; both are flattened first.
[[nodiscard]] DNDarray outer(const DNDarray& a, const DNDarray& b);
/// The Kronecker product: blocks `a[i] * b` in the places i. Cut along an axis of `a`.
[[nodiscard]] DNDarray kron(const DNDarray& a, const DNDarray& b);

/// Which axes of two arrays are summed over, in pairs.
struct TensordotAxes {
  std::vector<int> a, b;
};
/// The sum over pairs of axes; the other axes of `a`, then those of `b`. Throws IndexError for axes out of range.
[[nodiscard]] DNDarray tensordot(const DNDarray& a, const DNDarray& b, const TensordotAxes& axes);
/// The same over the last `axes` axes of `a` and the first ones of `b`; over none for a negative number.
[[nodiscard]] DNDarray tensordot(const DNDarray& a, const DNDarray& b, int axes = 2);

}  // namespace heatpp

namespace heatpp::linalg {
using heatpp::matmul;
using heatpp::tensordot;
using heatpp::vecdot;

/// heatpp::outer of two vectors. Throws ValueError for other numbers of axes.
[[nodiscard]] DNDarray outer(const DNDarray& a, const DNDarray& b);
/// The product of several matrices, in the order of the fewest operations; the first and the last may have one axis.
/// Throws ValueError for fewer than two.
[[nodiscard]] DNDarray multi_dot(const std::vector<DNDarray>& matrices);

}  // namespace heatpp::linalg
