#pragma once

#include <heatpp/core/detail/cuts/cut.hpp>
#include <heatpp/core/shape.hpp>
#include <span>

namespace heatpp {

/// Where the elements of an array lie: its global shape, the axis along which it is cut (or none: every rank holds all
/// of it), and the range of every rank along that axis. Blocks lie in rank order; they may be uneven or empty. It is a
/// value type, and every rank holds an equal one, so no rank has to ask where something is. An even cut needs the same
/// few bytes for any number of ranks; copies of an uneven one share its offsets.
class Layout {
 public:
  /// Cuts evenly along `split`: n / ranks each, and one more on the first n % ranks ranks. Throws IndexError.
  Layout(Shape shape, std::optional<int> split, int ranks);
  /// Cuts at the given `offsets`: rank r holds offsets[r] to before offsets[r + 1]. Throws ValueError unless they rise
  /// from 0 to the extent.
  Layout(Shape shape, int split, std::vector<std::int64_t> offsets);
  /// Cuts where `cut` says. Throws ValueError unless it is of the extent along `split`, which is not negative.
  Layout(Shape shape, int split, const detail::Cut& cut)
      : shape_(std::move(shape)), split_(split), ranks_(cut.ranks()), cut_(cut) {
    if (shape_[static_cast<std::size_t>(split)] != cut.extent()) refuse_extent();
  }

  /// Cuts so that rank r holds counts[r] indices along `split`; the extent there becomes their sum.
  [[nodiscard]] static Layout from_counts(Shape shape, int split, std::span<const std::int64_t> counts);

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] int ndim() const { return static_cast<int>(shape_.size()); }
  [[nodiscard]] std::int64_t size() const;
  [[nodiscard]] std::optional<int> split() const { return split_; }
  [[nodiscard]] int ranks() const { return ranks_; }

  /// Returns the first index on `rank` along the split axis; offset(ranks()) is the extent. Only for split arrays.
  [[nodiscard]] std::int64_t offset(int rank) const { return cut_.first(rank); }
  /// Returns how many indices along the split axis `rank` holds. Only for split arrays.
  [[nodiscard]] std::int64_t count(int rank) const { return cut_.extent(rank); }
  /// Makes the list of all offsets, ranks() + 1 numbers; none if not split. To ask for one rank, use offset().
  [[nodiscard]] std::vector<std::int64_t> offsets() const;
  /// Returns the rank that holds `index` along the split axis. Only for split arrays.
  [[nodiscard]] int owner(std::int64_t index) const { return cut_.owner(index); }
  /// Returns the cut along the split axis. Only for split arrays.
  [[nodiscard]] const detail::Cut& cut() const { return cut_; }

  [[nodiscard]] Shape local_shape(int rank) const;
  /// Whether the cut is the even one.
  [[nodiscard]] bool is_balanced() const { return !split_ || cut_.is_even(); }

  /// Returns this cut for another shape along `split`, which must have the same extent; nullopt: uncut.
  [[nodiscard]] Layout with(Shape shape, std::optional<int> split) const;
  /// Returns the layout of an uncut array of another shape over the same ranks.
  [[nodiscard]] Layout replicated(Shape shape) const { return {std::move(shape), std::nullopt, ranks_}; }

  friend bool operator==(const Layout& a, const Layout& b);

 private:
  [[noreturn]] void refuse_extent() const;

  Shape shape_;
  std::optional<int> split_;
  int ranks_;
  detail::Cut cut_;  // of no index if not split
};

/// Whether two layouts cut along the same axis at the same places.
[[nodiscard]] bool same_cut(const Layout& a, const Layout& b);

}  // namespace heatpp
