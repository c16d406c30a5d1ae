#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/core/literal.hpp>

namespace heatpp {

/// How a new array is stored. Factories are local, except that blocks of 64 MiB and more cost one allreduce of 8 bytes:
/// if one rank has no memory, all throw MemoryError.
struct ArrayOptions {
  std::optional<Dtype> dtype = std::nullopt;  ///< nullopt: the default dtype, or that of the values
  std::optional<int> split = std::nullopt;    ///< axis to cut evenly; nullopt: every rank holds the whole array
  /// Ranks along each axis, to cut several axes evenly: {2, 2, 1}, or balanced_grid. Empty: as `split` says. Throws
  /// ValueError beside a split, and if the product is not the number of ranks.
  Grid grid = {};
  Device device = cpu;
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
};

/// Makes an array of this shape: not initialized, of zeros, of ones.
[[nodiscard]] DNDarray empty(const Shape& shape, const ArrayOptions& options = {});
[[nodiscard]] DNDarray zeros(const Shape& shape, const ArrayOptions& options = {});
[[nodiscard]] DNDarray ones(const Shape& shape, const ArrayOptions& options = {});
/// Makes the array with the dtype of T: `zeros<double>({n})`.
template <Element T>
[[nodiscard]] DNDarray empty(const Shape& shape, ArrayOptions options = {}) {
  options.dtype = dtype_of<T>();
  return empty(shape, options);
}
template <Element T>
[[nodiscard]] DNDarray zeros(const Shape& shape, ArrayOptions options = {}) {
  options.dtype = dtype_of<T>();
  return zeros(shape, options);
}
template <Element T>
[[nodiscard]] DNDarray ones(const Shape& shape, ArrayOptions options = {}) {
  options.dtype = dtype_of<T>();
  return ones(shape, options);
}
/// Sets every element to `value`. The default dtype is the value's (whole numbers int64, others the default one).
[[nodiscard]] DNDarray full(const Shape& shape, const Scalar& value, const ArrayOptions& options = {});

/// Makes arrays with the shape, dtype, layout, device and communicator of `x`.
[[nodiscard]] DNDarray empty_like(const DNDarray& x, std::optional<Dtype> dtype = std::nullopt);
[[nodiscard]] DNDarray zeros_like(const DNDarray& x, std::optional<Dtype> dtype = std::nullopt);
[[nodiscard]] DNDarray ones_like(const DNDarray& x, std::optional<Dtype> dtype = std::nullopt);
[[nodiscard]] DNDarray full_like(const DNDarray& x, const Scalar& value, std::optional<Dtype> dtype = std::nullopt);

/// Counts 0, 1, ... stop - 1. The dtype is int64 for a whole `stop`, else the default one, unless it is given.
[[nodiscard]] DNDarray arange(const Scalar& stop, const ArrayOptions& options = {});
/// Counts start, start + step, ... before stop. Throws ValueError for step 0, TypeError for more than two bool.
struct ArangeRange {
  Scalar start = 0;
  Scalar stop = 0;
  Scalar step = 1;  ///< for whole numbers the step from the first number to the second, both without fractions
};
[[nodiscard]] DNDarray arange(const ArangeRange& range, const ArrayOptions& options = {});
[[nodiscard]] inline DNDarray arange(const Scalar& start, const Scalar& stop, const ArrayOptions& options = {}) {
  return arange(ArangeRange{start, stop}, options);
}
[[nodiscard]] inline DNDarray arange(const Scalar& start, const Scalar& stop, const Scalar& step,
                                     const ArrayOptions& options = {}) {
  return arange(ArangeRange{start, stop, step}, options);
}
/// Makes `num` numbers from `start` to `stop`, both included, rounded down for dtypes of whole numbers. Throws
/// ValueError for a negative num.
[[nodiscard]] DNDarray linspace(double start, double stop, std::int64_t num, const ArrayOptions& options = {});
struct LinspaceRange {
  double start = 0;
  double stop = 0;
  std::int64_t num = 50;
  bool endpoint = true;  ///< whether `stop` is the last number
};
[[nodiscard]] DNDarray linspace(const LinspaceRange& range, const ArrayOptions& options = {});
/// Makes `rows` x `columns` with ones on diagonal k, above the main one for k > 0; columns = rows if not given.
[[nodiscard]] DNDarray eye(std::int64_t rows, std::optional<std::int64_t> columns = std::nullopt,
                           const ArrayOptions& options = {});
[[nodiscard]] DNDarray eye(std::int64_t rows, std::optional<std::int64_t> columns, std::int64_t k,
                           const ArrayOptions& options = {});

[[nodiscard]] inline DNDarray eye(std::int64_t rows, const ArrayOptions& options) {
  return eye(rows, std::nullopt, options);
}

/// Makes an array of the numbers given, which must be equal on all ranks: array({{1, 2}, {3, 4}}, {.split = 0}).
/// Without a dtype, numbers in braces become bool, int64, get_default_dtype() or its complex one; vectors, arrays and
/// spans, also nested ones, keep their dtype. Throws ValueError for rows of different lengths and whole numbers out of
/// the range of a given dtype, TypeError for complex numbers in a real array.
[[nodiscard]] DNDarray array(const Literal& values, const ArrayOptions& options = {});

namespace detail {
/// Elements that lie in a row, and that exist longer than the range object.
template <class R>
concept Elements =
    std::ranges::contiguous_range<R> && std::ranges::borrowed_range<R> && Element<std::ranges::range_value_t<R>>;
}  // namespace detail

/// How blocks on the ranks form an array.
struct LocalOptions {
  std::optional<int> split = std::nullopt;  ///< axis along which blocks lie in rank order; nullopt: all are equal
  /// Ranks along each axis: blocks form a grid of ranks in C order, and have equal extents along an axis if they are at
  /// the same place along it. Empty: as `split` says. Throws ValueError beside a split. from_local takes no
  /// balanced_grid.
  Grid grid = {};
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
};
/// Adopts this rank's block without a copy; extents along the split axis may differ by rank. The array is written in
/// place, also by `x = value`. Copies and selections of it are values, which do not change when heatpp writes. When the
/// host itself writes, all arrays that still share the memory see it: `ht::copy` takes a snapshot. Collective: one
/// check that the blocks fit, which also tells every rank the offsets; a grid costs an allgather of the shapes besides.
/// The array is not writable if elements of a
/// rank's block may overlap. Gradients are not kept. Throws on all ranks: ValueError if blocks do not fit, TypeError
/// for a dtype that heatpp does not have and for sparse tensors.
[[nodiscard]] DNDarray from_local(const at::Tensor& block, const LocalOptions& options = {});
/// Adopts memory of the caller, in C order with the given local shape. It must outlive the array and its copies.
[[nodiscard]] DNDarray from_local(void* data, const Shape& shape, Dtype dtype, const LocalOptions& options = {});
/// Adopts elements at strides, counted in elements; a stride is not negative if its extent is above 1.
[[nodiscard]] DNDarray from_local(void* data, const Shape& shape, const Shape& strides, Dtype dtype,
                                  const LocalOptions& options = {});
/// Adopts memory that must not be written to: the array is not writable, its copies are.
[[nodiscard]] DNDarray from_local(const void* data, const Shape& shape, Dtype dtype, const LocalOptions& options = {});
/// Adopts the elements of a span, a vector or an array of C++; writable unless they are const.
template <detail::Elements R>
[[nodiscard]] DNDarray from_local(R&& data, const LocalOptions& options = {}) {
  return from_local(std::ranges::data(data), {std::ranges::ssize(data)}, dtype_of<std::ranges::range_value_t<R>>(),
                    options);
}
template <Temporary R>
DNDarray from_local(R&& data, const LocalOptions& options = {}) = delete;

}  // namespace heatpp
