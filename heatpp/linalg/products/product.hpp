#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp {

// Products of arrays. The dtype is that of promote_types. Whole numbers are exact modulo their width, booleans give
// "any of both", 16-bit floats are accumulated in float32. Operands may have any layout. All are collective, and throw
// ValueError for shapes that do not fit, CommError for different communicators; always on all ranks.
//
// Two replicated operands communicate nothing, and the result is replicated. Otherwise the method that sends the fewest
// bytes over all ranks is chosen. On P ranks, with sizes in bytes, it is one of:
//   keep a batch axis   both operands are cut along a common axis, along which one of them is cut; the other one moves.
//   rotate b            the result is cut along an axis of `a`; the blocks of `b` go round the ring, (P-1) |b|, while
//                       present blocks are multiplied. Nothing is sent if `b` is replicated.
//   add up              both are cut along an axis that is summed over; each block of the result collects its sums on
//                       its way round the ring, (P-1) |result|. A result of sums alone is allreduced instead.
//   rotate a, add up    as the two above, with the result cut along an axis of `b`.
// An operand with another cut moves first, at most its own size, which counts as redistributed; cutting a
// replicated one is free. An axis shorter than P is cut only if it already was, or if there is no other. Under
// Redistribution::forbid the cheapest method that moves no operand is chosen, if there is one.
//
// For matrices of about equal size, the splits of a, b -> of the result are:
//   0, none -> 0 and none, 1 -> 1   nothing moves
//   0, 0 -> 0 and 0, 1 -> 0         b rotates
//   1, 1 -> 1                       a rotates
//   1, 0 -> 0                       added up
//   1, none -> 0 and none, 0 -> 1   the split operand is recut, (P-1) / P of its size
//
// If an operand is cut over a grid of ranks, so is the result: over the grid of the rows of `a` and the columns of `b`.
// On a grid of p x q ranks for both, panels of `a` are broadcast along rows of the grid, and those of `b` along its
// columns, while panels before are multiplied (SUMMA: van de Geijn and Watts, 1997): (q-1) |a| + (p-1) |b|. Operands
// that are recut, in one exchange, to a grid of p x q x d ranks send (q-1) |a| + (p-1) |b| + (d-1) |result| more: each
// of d groups of ranks sums over a part of the summed axis, and they add up their results (2.5-D: Solomonik and Demmel,
// 2011). Then the result is cut over p d x q ranks, or p x q d if its columns are longer. A depth d of more than one is
// taken if that sends less and if the sums of a rank take no more than four times its share of the three arrays. The
// grid is the one that sends the fewest bytes, of all whose product is the number of ranks, or that of an operand as it
// is cut (after Kwasniewski et al., 2019). An operand with one cut is recut to the grid; a replicated one sends
// nothing. Axes of stacks are cut, too, if an operand is cut along them. kron, and outer of arrays with several axes,
// recut.

/// Computes the matrix product by NumPy's rules: over the last axis of `a` and the second to last of `b`; earlier axes
/// broadcast. An operand with one axis is a row on the left and a column on the right.
[[nodiscard]] DNDarray matmul(const DNDarray& a, const DNDarray& b);
/// Options of dot, inner and vdot.
struct DotOptions {
  /// Whether a result that is one number is the exact sum of the exact products of floating numbers, rounded once, with
  /// the same bits on any number of ranks and any layout. HEATPP_REPRODUCIBLE=1 sets this for all.
  bool reproducible = false;
};
/// Does matmul for at most two axes; with more, it sums over the last axis of `a` and the second to last of `b`, and
/// the other axes follow each other; without axes, it is the elementwise product.
[[nodiscard]] DNDarray dot(const DNDarray& a, const DNDarray& b, const DotOptions& options = {});
/// Sums conj(a) * b over all elements, in C order. Operands of different shapes are flattened first.
[[nodiscard]] DNDarray vdot(const DNDarray& a, const DNDarray& b, const DotOptions& options = {});
/// Sums conj(a) * b along `axis` of both; the other axes broadcast.
[[nodiscard]] DNDarray vecdot(const DNDarray& a, const DNDarray& b, int axis = -1);
/// Multiplies matrices by vectors: (..., m, n) by (..., n) gives (..., m).
[[nodiscard]] DNDarray matvec(const DNDarray& a, const DNDarray& x);
/// Multiplies conjugated vectors by matrices: (..., m) by (..., m, n) gives (..., n).
[[nodiscard]] DNDarray vecmat(const DNDarray& x, const DNDarray& a);
/// Sums over the last axis of both; the other axes follow each other.
[[nodiscard]] DNDarray inner(const DNDarray& a, const DNDarray& b, const DotOptions& options = {});
/// Multiplies each element of `a` by each of `b`, as a matrix; both are flattened first.
[[nodiscard]] DNDarray outer(const DNDarray& a, const DNDarray& b);
/// Computes the Kronecker product: blocks `a[i] * b` in the places i. Cut along an axis of `a`.
[[nodiscard]] DNDarray kron(const DNDarray& a, const DNDarray& b);

/// Pairs of axes of two arrays that are summed over.
struct TensordotAxes {
  std::vector<int> a, b;
};
/// Sums over pairs of axes; the other axes of `a` come first, then those of `b`. Throws IndexError.
[[nodiscard]] DNDarray tensordot(const DNDarray& a, const DNDarray& b, const TensordotAxes& axes);
/// Sums over the last `axes` axes of `a` and the first ones of `b`; over none for a negative number.
[[nodiscard]] DNDarray tensordot(const DNDarray& a, const DNDarray& b, int axes = 2);

}  // namespace heatpp

namespace heatpp::linalg {
using heatpp::matmul;
using heatpp::tensordot;
using heatpp::vecdot;

/// Does heatpp::outer for two vectors. Throws ValueError for other numbers of axes.
[[nodiscard]] DNDarray outer(const DNDarray& a, const DNDarray& b);
/// Multiplies several matrices in the order of the fewest operations; the first and the last may have one axis. Throws
/// ValueError for fewer than two.
[[nodiscard]] DNDarray multi_dot(const std::vector<DNDarray>& matrices);

}  // namespace heatpp::linalg
