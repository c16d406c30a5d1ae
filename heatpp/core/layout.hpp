#pragma once

#include <heatpp/core/shape.hpp>
#include <memory>
#include <span>

namespace heatpp {

/// Where the elements of an array lie: its global shape, the axis along which it is cut (or none: every rank holds all
/// of it), and the exact range of every rank along that axis. Blocks lie in rank order; they may be uneven or empty.
/// A value type; every rank holds the same one, so nobody ever has to ask where something is.
class Layout {
 public:
  /// Cut evenly: n / ranks each along `split`, the first n % ranks ranks one more. Throws IndexError for a bad split.
  Layout(Shape shape, std::optional<int> split, int ranks);
  /// Cut at the given `offsets`: rank r holds offsets[r] .. offsets[r + 1]. Throws ValueError where they do not rise
  /// from 0 to the extent.
  Layout(Shape shape, int split, std::vector<std::int64_t> offsets);

  /// Cut so that rank r holds counts[r] indices along `split`, whose extent in `shape` becomes their sum.
  [[nodiscard]] static Layout from_counts(Shape shape, int split, std::span<const std::int64_t> counts);

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] int ndim() const { return static_cast<int>(shape_.size()); }
  [[nodiscard]] std::int64_t size() const;
  [[nodiscard]] std::optional<int> split() const { return split_; }
  [[nodiscard]] int ranks() const { return ranks_; }

  /// First index along the split axis that `rank` holds; offset(ranks()) is the extent. Only for split arrays.
  [[nodiscard]] std::int64_t offset(int rank) const { return (*offsets_)[static_cast<std::size_t>(rank)]; }
  /// Number of indices along the split axis that `rank` holds. Only for split arrays.
  [[nodiscard]] std::int64_t count(int rank) const { return offset(rank + 1) - offset(rank); }
  [[nodiscard]] std::span<const std::int64_t> offsets() const {
    return offsets_ ? *offsets_ : std::span<const std::int64_t>{};
  }
  /// The rank that holds `index` along the split axis. Only for split arrays.
  [[nodiscard]] int owner(std::int64_t index) const;

  [[nodiscard]] Shape local_shape(int rank) const;
  /// Whether the cut is the even one.
  [[nodiscard]] bool is_balanced() const;

  /// The same cut of an array of another shape, along `split`, whose extent there must be the same; uncut for nullopt.
  [[nodiscard]] Layout with(Shape shape, std::optional<int> split) const;
  /// An uncut array of another shape over the same ranks.
  [[nodiscard]] Layout replicated(Shape shape) const { return {std::move(shape), std::nullopt, ranks_}; }

  friend bool operator==(const Layout& a, const Layout& b);

 private:
  Layout(Shape shape, int split, int ranks, std::shared_ptr<const std::vector<std::int64_t>> offsets)
      : shape_(std::move(shape)), split_(split), ranks_(ranks), offsets_(std::move(offsets)) {}

  Shape shape_;
  std::optional<int> split_;
  int ranks_;
  std::shared_ptr<const std::vector<std::int64_t>> offsets_;  // ranks + 1 of them; none where not split
};

/// Whether two layouts cut along the same axis at the same places.
[[nodiscard]] bool same_cut(const Layout& a, const Layout& b);

}  // namespace heatpp
