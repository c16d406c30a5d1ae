#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/core/literal.hpp>

namespace heatpp {

/// How a new array is stored. Factories are local, except that blocks of 64 MiB and more cost one allreduce of 8 bytes:
/// they throw MemoryError on all ranks where one has no memory.
struct ArrayOptions {
  std::optional<Dtype> dtype = std::nullopt;  ///< nullopt: the default one, or what the values suggest
  std::optional<int> split = std::nullopt;    ///< axis to cut evenly; nullopt: every rank holds all
  Device device = cpu;
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
};

/// An array of this shape: not set, of zeros, of ones.
[[nodiscard]] DNDarray empty(const Shape& shape, const ArrayOptions& options = {});
[[nodiscard]] DNDarray zeros(const Shape& shape, const ArrayOptions& options = {});
[[nodiscard]] DNDarray ones(const Shape& shape, const ArrayOptions& options = {});
/// The same with the dtype of T: `zeros<double>({n})`.
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
/// Every element `value`; the dtype is the value's (whole numbers int64, others the default one) unless given.
[[nodiscard]] DNDarray full(const Shape& shape, const Scalar& value, const ArrayOptions& options = {});

/// Arrays with the shape, dtype, layout, device and communicator of `x`.
[[nodiscard]] DNDarray empty_like(const DNDarray& x, std::optional<Dtype> dtype = std::nullopt);
[[nodiscard]] DNDarray zeros_like(const DNDarray& x, std::optional<Dtype> dtype = std::nullopt);
[[nodiscard]] DNDarray ones_like(const DNDarray& x, std::optional<Dtype> dtype = std::nullopt);
[[nodiscard]] DNDarray full_like(const DNDarray& x, const Scalar& value, std::optional<Dtype> dtype = std::nullopt);

/// 0, 1, ... stop - 1, as int64 unless `stop` is not a whole number (then the default dtype) or a dtype is given.
[[nodiscard]] DNDarray arange(const Scalar& stop, const ArrayOptions& options = {});
/// start, start + step, ... before stop. Throws ValueError for step 0, TypeError for more than two numbers as bool.
struct ArangeRange {
  Scalar start = 0;
  Scalar stop = 0;
  Scalar step = 1;  ///< for a dtype of whole numbers that from the first to the second, both without their fractions
};
[[nodiscard]] DNDarray arange(const ArangeRange& range, const ArrayOptions& options = {});
[[nodiscard]] inline DNDarray arange(const Scalar& start, const Scalar& stop, const ArrayOptions& options = {}) {
  return arange(ArangeRange{start, stop}, options);
}
[[nodiscard]] inline DNDarray arange(const Scalar& start, const Scalar& stop, const Scalar& step,
                                     const ArrayOptions& options = {}) {
  return arange(ArangeRange{start, stop, step}, options);
}
/// `num` numbers from `start` to `stop`, both included; rounded down for dtypes of whole numbers. Throws ValueError for
/// a negative num.
[[nodiscard]] DNDarray linspace(double start, double stop, std::int64_t num, const ArrayOptions& options = {});
struct LinspaceRange {
  double start = 0;
  double stop = 0;
  std::int64_t num = 50;
  bool endpoint = true;  ///< whether `stop` is the last number
};
[[nodiscard]] DNDarray linspace(const LinspaceRange& range, const ArrayOptions& options = {});
/// `rows` x `columns` with ones on the k-th diagonal, above the main one for k > 0; columns = rows if not given.
[[nodiscard]] DNDarray eye(std::int64_t rows, std::optional<std::int64_t> columns = std::nullopt,
                           const ArrayOptions& options = {});
[[nodiscard]] DNDarray eye(std::int64_t rows, std::optional<std::int64_t> columns, std::int64_t k,
                           const ArrayOptions& options = {});

[[nodiscard]] inline DNDarray eye(std::int64_t rows, const ArrayOptions& options) {
  return eye(rows, std::nullopt, options);
}

/// The numbers given, which every rank must give alike: array({{1, 2}, {3, 4}}, {.split = 0}). Without a dtype those in
/// braces are bool, int64, get_default_dtype() or its complex one, and those of vectors, arrays and spans, nested too,
/// what they are. Throws ValueError for rows of different lengths and whole numbers that a given dtype has not,
/// TypeError for complex ones in a real array.
[[nodiscard]] DNDarray array(const Literal& values, const ArrayOptions& options = {});

namespace detail {
/// Elements that lie in a row, and stay when the range is gone.
template <class R>
concept Elements =
    std::ranges::contiguous_range<R> && std::ranges::borrowed_range<R> && Element<std::ranges::range_value_t<R>>;
}  // namespace detail

/// How blocks that the ranks already hold form an array.
struct LocalOptions {
  std::optional<int> split = std::nullopt;  ///< axis along which the blocks lie in rank order; nullopt: all equal
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
};
/// Adopts this rank's block, shared and not copied; extents along the split axis may differ by rank. The array is
/// written where it lies, also by `x = value`; copies of it and what is selected from it are values, which what heatpp
/// writes does not change. What the host itself writes is seen by all arrays that still share the memory: `ht::copy`
/// takes a snapshot. Collective: one check that the blocks fit, which also tells every rank the offsets. Not writable
/// where elements of one rank's block may lie in the same memory. Gradients are left behind. Throws on all ranks:
/// ValueError where blocks do not fit, TypeError for a dtype that heatpp has not and for sparse tensors.
[[nodiscard]] DNDarray from_local(const at::Tensor& block, const LocalOptions& options = {});
/// The same for memory of the caller's, in C order with the given local shape; it must outlive the array and copies.
[[nodiscard]] DNDarray from_local(void* data, const Shape& shape, Dtype dtype, const LocalOptions& options = {});
/// The same for elements at strides, counted in elements and not negative where the extent is above 1.
[[nodiscard]] DNDarray from_local(void* data, const Shape& shape, const Shape& strides, Dtype dtype,
                                  const LocalOptions& options = {});
/// The same for memory that is not to be written to: the array is not writable, copies of it are.
[[nodiscard]] DNDarray from_local(const void* data, const Shape& shape, Dtype dtype, const LocalOptions& options = {});
/// The same for the elements of a span, a vector or an array of C++, to write to unless they are const.
template <detail::Elements R>
[[nodiscard]] DNDarray from_local(R&& data, const LocalOptions& options = {}) {
  return from_local(std::ranges::data(data), {std::ranges::ssize(data)}, dtype_of<std::ranges::range_value_t<R>>(),
                    options);
}
template <Temporary R>
DNDarray from_local(R&& data, const LocalOptions& options = {}) = delete;

}  // namespace heatpp
