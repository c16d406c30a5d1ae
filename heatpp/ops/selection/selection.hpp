#pragma once

#include <functional>
#include <heatpp/core/dndarray.hpp>
#include <heatpp/ops/operands/operand.hpp>
#include <heatpp/ops/shape/reshape.hpp>

namespace heatpp {

/// The meaning of a position out of range.
enum class IndexMode {
  raise,  ///< an error
  wrap,   ///< the position modulo the extent
  clip,   ///< the first or the last index; negative ones do not count from the end
};
struct ModeOptions {
  IndexMode mode = IndexMode::raise;
};

/// Takes x at `positions` along `axis`, whose axes replace it; from the flattened array for nullopt, and for an array
/// without axes, which has axis 0 here. bool positions count as 0 and 1. Communicates as `x.index`.
[[nodiscard]] DNDarray take(const DNDarray& x, const DNDarray& positions, std::optional<int> axis = std::nullopt);
struct TakeOptions {
  std::optional<int> axis = std::nullopt;
  IndexMode mode = IndexMode::raise;
};
[[nodiscard]] DNDarray take(const DNDarray& x, const DNDarray& positions, const TakeOptions& options);
/// Takes x[..., positions[i, j], j] along `axis`: the positions have as many axes as `x` and broadcast with its other
/// ones. If `axis` is not split and the other extents are equal, the positions move to the cut of `x` if they have
/// another; the rest is local, except for one byte that says whether they are in range. Otherwise each element is
/// fetched once, to its position. For nullopt, `x` is flattened and the positions are a vector.
[[nodiscard]] DNDarray take_along_axis(const DNDarray& x, const DNDarray& positions, std::optional<int> axis = -1);
/// Writes `values` where take_along_axis would read; positions move as there. Throws ValueError if that needs a vector
/// and does not get one.
void put_along_axis(DNDarray& x, const DNDarray& positions, const Operand& values, std::optional<int> axis);
void put_along_axis(Selection&& x, const DNDarray& positions, const Operand& values, std::optional<int> axis);
/// Writes `values`, repeated from the start as needed, to positions in the flattened array. This and the function
/// before throw as index_put.
void put(DNDarray& x, const DNDarray& positions, const Operand& values, const ModeOptions& options = {});
void put(Selection&& x, const DNDarray& positions, const Operand& values, const ModeOptions& options = {});
/// Writes values[n] to the places n of the flattened array where `mask` is true, repeated from the start as needed;
/// split ones are fetched by their positions. The mask has as many elements as `x`, in any shape. This and the next two
/// throw ValueError for another mask or number out of range, TypeError for a number of another kind, such as a float
/// for whole numbers, and, except copyto, for values of a dtype that x's does not hold (`can_cast`).
void putmask(DNDarray& x, const DNDarray& mask, const Operand& values);
void putmask(Selection&& x, const DNDarray& mask, const Operand& values);
/// Writes one value after another to the places where `mask`, as that of putmask, is true.
void place(DNDarray& x, const DNDarray& mask, const DNDarray& values);
void place(Selection&& x, const DNDarray& mask, const DNDarray& values);
/// Writes `source`, broadcast, into `x`; only where `where`, of bool, is true if it is given.
void copyto(DNDarray& x, const Operand& source, const std::optional<DNDarray>& where = std::nullopt);
void copyto(Selection&& x, const Operand& source, const std::optional<DNDarray>& where = std::nullopt);

/// Returns the elements of the flattened array where the flattened condition is not 0. Works as compress.
[[nodiscard]] DNDarray extract(const DNDarray& condition, const DNDarray& x);
/// Returns the indices along `axis` where the vector `condition` is not 0; of the flattened array for nullopt, and for
/// an array without axes, which has axis 0 here. The condition may be shorter than the axis, or longer by zeros. Throws
/// ValueError for a condition that is no vector, IndexError for one that is true beyond the axis.
[[nodiscard]] DNDarray compress(const DNDarray& condition, const DNDarray& x, std::optional<int> axis = std::nullopt);
/// Arrays and numbers to choose from.
struct Choices : std::vector<KeptOperand> {
  using std::vector<KeptOperand>::vector;
  Choices(const std::vector<DNDarray>& arrays) : vector(arrays.begin(), arrays.end()) {}  // NOLINT: conversion intended
};
/// Returns choices[which] element by element; bool positions count as 0 and 1. Throws ValueError on all ranks for
/// positions without a choice, IndexError for those that are not whole numbers.
[[nodiscard]] DNDarray choose(const DNDarray& which, const Choices& choices, const ModeOptions& options = {});

/// Convert positions in the flattened array of this shape to positions along each axis, and back. They throw ValueError
/// on all ranks for positions out of range, which costs their extremes, and for a shape with more elements than int64
/// counts; IndexError for positions that are not whole numbers.
[[nodiscard]] std::vector<DNDarray> unravel_index(const DNDarray& positions, const Shape& shape,
                                                  Order order = Order::C);
struct RavelOptions {
  IndexMode mode = IndexMode::raise;
  std::vector<IndexMode> modes = {};  ///< one for each axis, instead of `mode`
  Order order = Order::C;
};
[[nodiscard]] DNDarray ravel_multi_index(const std::vector<DNDarray>& positions, const Shape& shape,
                                         const RavelOptions& options = {});
/// Shapes vectors of positions, or masks, so that together they index their product. An array is indexed by them along
/// one axis after another, the split one last, and stays split along that.
[[nodiscard]] std::vector<DNDarray> ix_(const std::vector<DNDarray>& positions);

}  // namespace heatpp
