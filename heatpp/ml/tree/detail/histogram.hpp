#pragma once

#include <heatpp/ml/tree/detail/bins.hpp>
#include <heatpp/ml/tree/detail/units.hpp>

namespace heatpp::ml::detail {

/// Adds the pairs of the rows `order[0 .. count]` to the cells of their bins, one cell for each feature of
/// first .. last. Local.
void add_pairs(const BinnedRows& rows, const Bins& bins, const Pair* pairs, std::span<const std::uint32_t> order,
               std::int64_t first, std::int64_t last, Pair* cells);

/// Moves those of `order` whose bin of `feature` goes left before the others, keeping their order; `spare` has room for
/// as many. Returns how many go left. `left[b]` is 1 for bins that do.
template <class T>
std::int64_t parted(const BinnedRows& rows, std::int64_t feature, const std::uint8_t* left, std::span<T> order,
                    T* spare);

/// A row of a tree that counts more or less often than once, and what class it has.
struct Drawn {
  std::uint32_t row;
  std::uint32_t times_and_class;  ///< times in the upper 8 bits
  Drawn() = default;
  Drawn(std::uint32_t row_, std::uint32_t times, std::uint32_t label)
      : row(row_), times_and_class(times << 24 | label) {}
  [[nodiscard]] std::uint32_t times() const { return times_and_class >> 24; }
  [[nodiscard]] std::uint32_t label() const { return times_and_class & 0xFFFFFFU; }
};

/// Adds drawn rows to `cells`, those of the features that are named, one behind the other: as often as drawn the pair
/// of the row, but the count once.
void add_drawn_pairs(const BinnedRows& rows, const Bins& bins, const Pair* pairs, std::int64_t one,
                     std::span<const Drawn> order, std::span<const std::int32_t> features, std::int64_t* cells);
/// The same for weights and counts by class, of which a cell has `classes`.
void add_drawn_classes(const BinnedRows& rows, const Bins& bins, const std::int64_t* weights, std::int64_t one,
                       std::int64_t classes, std::span<const Drawn> order, std::span<const std::int32_t> features,
                       std::int64_t* cells);

}  // namespace heatpp::ml::detail
