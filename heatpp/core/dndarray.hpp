#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp/core/device.hpp>
#include <heatpp/core/layout.hpp>
#include <heatpp/core/scalar.hpp>
#include <initializer_list>
#include <utility>

namespace at {
class Tensor;
}

namespace heatpp::detail {
struct Access;
template <class...>
inline constexpr bool never = false;
}  // namespace heatpp::detail

namespace heatpp {

class Index;
class Literal;
class Operand;
class Selection;

/// An n-dimensional array over the ranks of a communicator: a local block, and a Layout that tells where all blocks
/// lie. It is a value: copies, selections and results of `reshape`, `transpose` and so on share its elements until one
/// of them is written to. That one then takes memory of its own (for this rank's block, without a message). Memory that
/// `from_local` adopted is always written in place by the array that adopted it; arrays that share it get their own
/// elements before. If nothing was assigned to an array it has no elements: any use except assignment throws.
class DNDarray {
 public:
  struct Impl;
  DNDarray() = default;
  explicit DNDarray(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  DNDarray(const DNDarray& other);
  DNDarray(DNDarray&& other) noexcept = default;
  ~DNDarray() = default;
  /// Replaces the array by the other. An array that adopted memory is written to instead: it throws ValueError unless
  /// the other has its shape, dtype and layout. It is replaced only if the other adopted memory, too, and is moved.
  DNDarray& operator=(const DNDarray& other) &;
  DNDarray& operator=(DNDarray&& other) &;
  template <class T>
  requires std::is_arithmetic_v<T> DNDarray& operator=(T) & = delete;  // x(ht::ellipsis) = number fills an array

  [[nodiscard]] const Layout& layout() const&;
  [[nodiscard]] Layout layout() && { return std::as_const(*this).layout(); }
  [[nodiscard]] const Communicator& comm() const&;
  [[nodiscard]] Communicator comm() && { return std::as_const(*this).comm(); }
  [[nodiscard]] Dtype dtype() const;
  [[nodiscard]] Device device() const;
  [[nodiscard]] const Shape& shape() const& { return layout().shape(); }
  [[nodiscard]] Shape shape() && { return std::as_const(*this).shape(); }
  /// Returns the extent of one axis; a negative axis counts from the end. Throws IndexError.
  [[nodiscard]] std::int64_t shape(int axis) const {
    return shape()[static_cast<std::size_t>(sanitize_axis(axis, ndim(), "shape"))];
  }
  [[nodiscard]] Shape lshape() const { return layout().local_shape(comm().rank()); }
  /// Returns the axis that is cut, or nullopt if every rank holds the whole array. Throws ValueError on a grid.
  [[nodiscard]] std::optional<int> split() const { return layout().split(); }
  /// Returns the ranks along each axis: 1 along those that are not cut. Local.
  [[nodiscard]] std::vector<int> grid() const { return layout().grid(); }
  [[nodiscard]] int ndim() const { return layout().ndim(); }
  [[nodiscard]] std::int64_t size() const { return layout().size(); }
  [[nodiscard]] bool is_balanced() const { return layout().is_balanced(); }

  /// Returns this rank's block for reading. A write to it would change arrays that share its memory.
  [[nodiscard]] const at::Tensor& larray() const&;
  [[nodiscard]] at::Tensor larray() &&;
  /// Returns this rank's block for writing, in memory that no other array shares. A later copy or selection of the
  /// array shares it again. Local. Throws ValueError if the array is not writable.
  [[nodiscard]] const at::Tensor& mutable_larray() &;

  /// Whether functions in place take the array. They refuse memory that was adopted read-only or in which elements
  /// overlap. Equal on all ranks. Local.
  [[nodiscard]] bool is_writable() const;
  /// Whether from_local or from_dlpack adopted the array's memory, which is then written in place. Local.
  [[nodiscard]] bool is_adopted() const;

  /// Returns the array in another dtype, or itself if it has that dtype. Local.
  [[nodiscard]] DNDarray astype(Dtype dtype) const;

  /// Returns the array with its blocks in the memory of `device`, or itself if they are there. Ranks may name different
  /// GPUs. Local. Throws ValueError for a GPU that the node does not have.
  [[nodiscard]] DNDarray to_device(const Device& device) const;

  /// Returns the part that the entries select, by NumPy's rules (`<heatpp/ops/operands/index.hpp>`). Positions and
  /// slices share the memory of `x` if nothing has to move. Elements move to another rank only in four cases: the owner
  /// of a position along the split axis broadcasts it; a slice with a negative step along it is exchanged between ranks
  /// r and P-1-r; a mask over later axes, one of which is split, recuts the array along the first; arrays of positions
  /// along the split axis fetch each row once from its owner. A mask gives an uneven array, split as before. Positions
  /// give an array cut as they are, or evenly along their first axis longer than 1 if every rank holds them all.
  /// Collective. Throws IndexError for positions out of range, too many entries, and masks of other shapes.
  [[nodiscard]] DNDarray index(std::initializer_list<Index> entries) const;
  [[nodiscard]] DNDarray index(std::span<const Index> entries) const;
  /// Writes `value`, broadcast and converted to the dtype of `x`, to the part that the entries select. If positions
  /// repeat, the last one counts. Values move to the ranks that hold the places, with the positions unless every rank
  /// holds them all. Collective. Throws as `index`; ValueError for a value that does not broadcast, a number out of
  /// range and an array that is not writable; TypeError for complex values in a real array.
  void index_put(std::initializer_list<Index> entries, const Operand& value) &;
  void index_put(std::span<const Index> entries, const Operand& value) &;
  /// Writes numbers in braces, as array() takes them: `x.index_put({0}, {1, 2, 3})`.
  void index_put(std::initializer_list<Index> entries, std::initializer_list<Literal> values) &;
  /// Selects as index, from a named array: `x(0) = y` and `x(x > 3) += 1` on the Selection write to `x`.
  template <class... Entries>
  [[nodiscard]] Selection operator()(const Entries&... entries) &;
  template <std::size_t N, class I = Index>
  [[nodiscard]] Selection operator()(const int (&positions)[N]) &;
  template <class... Entries>
  [[nodiscard]] DNDarray operator()(const Entries&... entries) const& {
    return index({Index(entries)...});
  }
  template <class... Entries>
  [[nodiscard]] DNDarray operator()(const Entries&... entries) && {
    return index({Index(entries)...});
  }
  // I is Index, which is complete where this is called.
  template <std::size_t N, class I = Index>
  [[nodiscard]] DNDarray operator()(const int (&positions)[N]) const& {
    return index({I(std::vector<int>(positions, positions + N))});
  }
  template <std::size_t N, class I = Index>
  [[nodiscard]] DNDarray operator()(const int (&positions)[N]) && {
    return index({I(std::vector<int>(positions, positions + N))});
  }

  /// Returns the value of an array with one element, on every rank. Collective: one broadcast of the element if it is
  /// split. Throws ValueError for other sizes, TypeError for a complex number as a real T.
  template <Element T>
  [[nodiscard]] T item() const;
  /// Returns the value as another type of number, converted as C++ does.
  template <class T>
  requires(std::is_arithmetic_v<T> && !Element<T>) [[nodiscard]] T item() const {
    return static_cast<T>(item<std::conditional_t<std::is_integral_v<T>, std::int64_t, double>>());
  }
  /// Converts as item<T>(): `double(mean(x))`, `if (all(x > 3))`. It is explicit, because by the rules of C++ `x + 1`
  /// would otherwise be the sum of a double and an int.
  template <class T>
  requires std::is_arithmetic_v<T>
  explicit operator T() const { return item<T>(); }

  /// Returns all elements in C order, on every rank. Collective: an all-gather of the array if it is split. Throws
  /// TypeError for complex elements as a real T.
  template <Element T>
  [[nodiscard]] std::vector<T> to_vector() const;

  /// Returns the elements of this rank's block in C order, sharing memory: for reading, and for writing as
  /// mutable_larray if the array is not const. Throws TypeError if T is not the dtype, ValueError if the block is not
  /// on the CPU or is adopted memory that is not contiguous. Other blocks are made contiguous. Local.
  template <Element T>
  [[nodiscard]] std::span<const T> local() const&;
  template <Element T>
  [[nodiscard]] std::span<T> local() &;
  /// Deleted for a temporary, whose elements end before the span is used: give the array a name.
  template <Element T>
  std::span<const T> local() const&& = delete;

  // Functions are free. `x.sum()` does not compile, and the error says how to call the function.
#define HEATPP_FREE(name)                                                                                      \
  template <class... Arguments>                                                                                \
  void name(const Arguments&...) const {                                                                       \
    static_assert(detail::never<Arguments...>, "x." #name "(...) is written ht::" #name "(x, ...) in heatpp"); \
  }
  HEATPP_FREE(sum)
  HEATPP_FREE(prod)
  HEATPP_FREE(mean)
  HEATPP_FREE(var)
  HEATPP_FREE(std)
  HEATPP_FREE(min)
  HEATPP_FREE(max)
  HEATPP_FREE(argmin)
  HEATPP_FREE(argmax)
  HEATPP_FREE(all)
  HEATPP_FREE(any)
  HEATPP_FREE(reshape)
  HEATPP_FREE(flatten)
  HEATPP_FREE(ravel)
  HEATPP_FREE(squeeze)
  HEATPP_FREE(transpose)
  HEATPP_FREE(resplit)
  HEATPP_FREE(sort)
  HEATPP_FREE(argsort)
  HEATPP_FREE(cumsum)
  HEATPP_FREE(dot)
  HEATPP_FREE(round)
  HEATPP_FREE(clip)
  HEATPP_FREE(copy)
#undef HEATPP_FREE
  template <class... Arguments>
  void T(const Arguments&...) const {
    static_assert(detail::never<Arguments...>, "x.T() is written ht::transpose(x) in heatpp");
  }

 private:
  friend struct detail::Access;
  void write_elements(const DNDarray& value);
  std::shared_ptr<Impl> impl_;
};

/// Returns the property of `x` with this name. Local.
[[nodiscard]] inline int ndim(const DNDarray& x) { return x.ndim(); }
[[nodiscard]] inline std::int64_t size(const DNDarray& x) { return x.size(); }
[[nodiscard]] inline const Shape& shape(const DNDarray& x) { return x.shape(); }
[[nodiscard]] inline Shape shape(DNDarray&& x) { return x.shape(); }
[[nodiscard]] inline std::int64_t nbytes(const DNDarray& x) {
  return x.size() * static_cast<std::int64_t>(itemsize(x.dtype()));
}
/// Whether an operand is one number, not an array.
template <class T>
[[nodiscard]] constexpr bool isscalar(const T&) {
  return std::is_arithmetic_v<T> || Element<T> || std::is_same_v<T, Scalar>;
}
/// Whether the array is cut among several ranks.
[[nodiscard]] inline bool is_distributed(const DNDarray& x) { return x.layout().is_cut() && x.comm().size() > 1; }
/// Returns the shapes of all ranks' blocks.
[[nodiscard]] std::vector<Shape> lshape_map(const DNDarray& x);
/// Whether the dtype of `x` is complex, or is not. Local.
[[nodiscard]] inline bool iscomplexobj(const DNDarray& x) { return x.dtype() >= complex64; }
[[nodiscard]] inline bool isrealobj(const DNDarray& x) { return x.dtype() < complex64; }

/// Returns a duplicate with memory of its own. Local.
[[nodiscard]] DNDarray copy(const DNDarray& x);
/// Returns `x` in another dtype. Local.
[[nodiscard]] inline DNDarray astype(const DNDarray& x, Dtype dtype) { return x.astype(dtype); }
/// Returns `x` in the memory of another device. Local.
[[nodiscard]] inline DNDarray to_device(const DNDarray& x, const Device& device) { return x.to_device(device); }

}  // namespace heatpp

#include <heatpp/core/selection.hpp>
