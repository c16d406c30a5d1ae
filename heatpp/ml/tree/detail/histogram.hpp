#pragma once

#include <heatpp/ml/tree/detail/bins.hpp>
#include <heatpp/ml/tree/detail/units.hpp>

namespace heatpp::ml::detail {

/// The cells of the bins of features first .. last: sums of the pairs of the rows `order`. `room` has a pair for each
/// cell. Local.
void sum_pairs(const BinnedRows& rows, const Bins& bins, const Pair* pairs, const Units& units,
               std::span<const std::uint32_t> order, std::int64_t first, std::int64_t last, Pair* room, Cell* cells);

/// Moves those of `order` whose bin of `feature` goes left before the others, keeping their order; `spare` has room for
/// as many. Returns how many go left. `left[b]` is 1 for bins that do.
template <class T>
std::int64_t parted(const BinnedRows& rows, std::int64_t feature, const std::uint8_t* left, std::span<T> order,
                    T* spare);

/// A row of a tree that counts more or less often than once, and what class it has.
struct Drawn {
  std::uint32_t row;
  std::uint32_t times_and_class;  ///< times in the upper 8 bits
  static constexpr std::int64_t most_classes = 1 << 24;
  Drawn() = default;
  Drawn(std::uint32_t row_, std::uint32_t times, std::uint32_t label)
      : row(row_), times_and_class(times << 24 | label) {}
  [[nodiscard]] std::uint32_t times() const { return times_and_class >> 24; }
  [[nodiscard]] std::uint32_t label() const { return times_and_class & 0xFFFFFFU; }
};

/// Adds drawn rows to `cells`, those of the features that are named, one behind the other: as often as drawn the pair
/// of the row, but the count once.
void add_drawn_pairs(const BinnedRows& rows, const Bins& bins, const Pair* pairs, const ForestUnits& units,
                     std::span<const Drawn> order, std::span<const std::int32_t> features, std::int64_t* cells);
/// Adds weights and counts by class.
void add_drawn_classes(const BinnedRows& rows, const Bins& bins, const std::int64_t* weights, const ForestUnits& units,
                       std::span<const Drawn> order, std::span<const std::int32_t> features, std::int64_t* cells);

}  // namespace heatpp::ml::detail
