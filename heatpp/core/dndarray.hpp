#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp/core/device.hpp>
#include <heatpp/core/layout.hpp>
#include <heatpp/core/scalar.hpp>
#include <initializer_list>

namespace at {
class Tensor;
}

namespace heatpp {
class DNDarray;
}

namespace heatpp::detail {

class Origin;
/// Whether no other handle refers to the array.
[[nodiscard]] bool is_sole_handle(const DNDarray& x);

}  // namespace heatpp::detail

namespace heatpp {

class Index;
class Operand;

/// An n-dimensional array over the ranks of a communicator: a local block, and a Layout that tells where all blocks
/// lie. A handle: copying it shares the elements (`ht::copy` duplicates them).
class DNDarray {
 public:
  struct Impl;
  explicit DNDarray(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

  [[nodiscard]] const Layout& layout() const;
  [[nodiscard]] const Communicator& comm() const;
  [[nodiscard]] Dtype dtype() const;
  [[nodiscard]] Device device() const;
  [[nodiscard]] const Shape& shape() const { return layout().shape(); }
  [[nodiscard]] Shape lshape() const { return layout().local_shape(comm().rank()); }
  [[nodiscard]] std::optional<int> split() const { return layout().split(); }
  [[nodiscard]] int ndim() const { return layout().ndim(); }
  [[nodiscard]] std::int64_t size() const { return layout().size(); }
  [[nodiscard]] bool is_balanced() const { return layout().is_balanced(); }

  /// This rank's block, sharing memory.
  [[nodiscard]] const at::Tensor& larray() const;

  /// Whether functions in place take the array: they refuse what broadcast_to stretched, blocks that were adopted with
  /// elements in the same memory or read-only, and views of them. The same on all ranks. Local.
  [[nodiscard]] bool is_writable() const;

  /// The array in another dtype; the same handle if it has it already. Local.
  [[nodiscard]] DNDarray astype(Dtype dtype) const;

  /// The array with its blocks in the memory of `device`; the same handle if they are there already. Ranks may name
  /// different GPUs. Local. Throws ValueError for a GPU that the node does not have.
  [[nodiscard]] DNDarray to_device(const Device& device) const;

  /// The part that the entries select, by NumPy's rules (`<heatpp/ops/operands/index.hpp>`). Positions and slices share
  /// the memory of `x` where nothing has to move. No element moves to another rank, but: a position along the split
  /// axis is broadcast by its owner, a slice with a negative step along it is exchanged between ranks r and P-1-r, a
  /// mask over later axes of which one is split recuts the array along the first, and arrays of positions along the
  /// split axis fetch each row once from its owner. A mask gives an uneven array, split where it was; positions give an
  /// array cut as they are, or evenly along their first axis longer than 1 if every rank holds them all. Collective.
  /// Throws IndexError for positions out of range, too many entries, and masks of other shapes.
  [[nodiscard]] DNDarray index(std::initializer_list<Index> entries) const;
  [[nodiscard]] DNDarray index(std::span<const Index> entries) const;
  /// Writes `value`, broadcast and converted to the dtype of `x`, to the part that the entries select; handles that
  /// share the elements see it. Where positions repeat the last one counts. Values move to the ranks that hold the
  /// places, and the positions with them unless every rank holds them all. Collective. Errors as `index`, ValueError
  /// for a value that does not broadcast, a number out of range and an array that is not writable, TypeError for
  /// complex values in a real array.
  void index_put(std::initializer_list<Index> entries, const Operand& value) const;
  void index_put(std::span<const Index> entries, const Operand& value) const;
  /// As index. An operator in place right behind it, `x(mask) += 1`, writes to `x`, whether the selection shares its
  /// memory or is a copy: then it communicates as index_put, too.
  template <class... Entries>
  [[nodiscard]] DNDarray operator()(const Entries&... entries) const {
    return index({Index(entries)...});
  }

  /// The value of an array with one element, on every rank. Collective: one broadcast of the element if it is split.
  /// Throws ValueError for other sizes.
  template <Element T>
  [[nodiscard]] T item() const;

  /// All elements in C order, on every rank. Collective: an all-gather of the array if it is split.
  template <Element T>
  [[nodiscard]] std::vector<T> to_vector() const;

  /// The elements of this rank's block in C order, sharing memory. Throws TypeError where T is not the dtype,
  /// ValueError where the block is not contiguous in memory or not on the CPU. Local.
  template <Element T>
  [[nodiscard]] std::span<T> local() const;

 private:
  friend class detail::Origin;
  friend bool detail::is_sole_handle(const DNDarray& x);
  std::shared_ptr<Impl> impl_;
};

/// The property of `x` of this name. Local.
[[nodiscard]] inline int ndim(const DNDarray& x) { return x.ndim(); }
[[nodiscard]] inline std::int64_t size(const DNDarray& x) { return x.size(); }
[[nodiscard]] inline const Shape& shape(const DNDarray& x) { return x.shape(); }
[[nodiscard]] inline std::int64_t nbytes(const DNDarray& x) {
  return x.size() * static_cast<std::int64_t>(itemsize(x.dtype()));
}
/// Whether an operand is one number, not an array.
template <class T>
[[nodiscard]] constexpr bool isscalar(const T&) {
  return std::is_arithmetic_v<T> || Element<T> || std::is_same_v<T, Scalar>;
}
/// Whether the array is cut among several ranks.
[[nodiscard]] inline bool is_distributed(const DNDarray& x) { return x.split() && x.comm().size() > 1; }
/// The shapes of all ranks' blocks.
[[nodiscard]] std::vector<Shape> lshape_map(const DNDarray& x);
/// Whether the dtype of `x` is complex, or is not. Local.
[[nodiscard]] inline bool iscomplexobj(const DNDarray& x) { return x.dtype() >= complex64; }
[[nodiscard]] inline bool isrealobj(const DNDarray& x) { return x.dtype() < complex64; }

/// A duplicate with memory of its own. Local.
[[nodiscard]] DNDarray copy(const DNDarray& x);
/// `x` in another dtype. Local.
[[nodiscard]] inline DNDarray astype(const DNDarray& x, Dtype dtype) { return x.astype(dtype); }
/// `x` in the memory of another device. Local.
[[nodiscard]] inline DNDarray to_device(const DNDarray& x, const Device& device) { return x.to_device(device); }

}  // namespace heatpp
