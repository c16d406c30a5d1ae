#pragma once

#include <heatpp/ml/tree/detail/bins.hpp>
#include <heatpp/ml/tree/detail/units.hpp>

namespace heatpp::ml::detail {

/// Sums the pairs of the rows `order` in the cells of the bins of features first .. last. `room` has a pair for each
/// cell. Local.
void sum_pairs(const BinnedRows& rows, const Bins& bins, const Pair* pairs, const Units& units,
               std::span<const std::uint32_t> order, std::int64_t first, std::int64_t last, Pair* room, Cell* cells);

/// Moves rows of `order` whose bin of `feature` goes left before the others, keeping their order; `spare` has room for
/// as many. Returns the number of rows that go left. `left[b]` is 1 for bins that go left.
template <class T>
std::int64_t parted(const BinnedRows& rows, std::int64_t feature, const std::uint8_t* left, std::span<T> order,
                    T* spare);

/// A row of a tree, with the number of times it was drawn, and its class.
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

/// Adds drawn rows to the `cells` of the given features, which are contiguous: the pair of a row as often as it was
/// drawn, its count once.
void add_drawn_pairs(const BinnedRows& rows, const Bins& bins, const Pair* pairs, const ForestUnits& units,
                     std::span<const Drawn> order, std::span<const std::int32_t> features, std::int64_t* cells);
/// Adds weights and counts by class.
void add_drawn_classes(const BinnedRows& rows, const Bins& bins, const std::int64_t* weights, const ForestUnits& units,
                       std::span<const Drawn> order, std::span<const std::int32_t> features, std::int64_t* cells);

}  // namespace heatpp::ml::detail
