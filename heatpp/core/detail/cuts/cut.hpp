#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace heatpp::detail {

/// Where one axis is cut: rank r holds the indices first(r) to before last(r). If the first ranks hold one number of
/// indices each and all others a smaller one, as in even cuts and their multiples, three numbers tell this. Copies of
/// any other cut share its offsets. Memory and time grow with the ranks only in at(), offsets() and, without such a
/// rule, in scaled() and in == of equal offsets that are not shared.
class Cut {
 public:
  /// Cuts no index over one rank.
  Cut() = default;
  /// Cuts so that each rank holds extent / ranks indices, and the first extent % ranks ranks one more.
  [[nodiscard]] static Cut even(std::int64_t extent, int ranks);
  /// Cuts at two or more offsets, which rise from 0 to the extent.
  [[nodiscard]] static Cut at(std::vector<std::int64_t> offsets);

  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] std::int64_t extent() const { return first(ranks_); }
  /// Returns the first index of `rank`; that of ranks() is the extent.
  [[nodiscard]] std::int64_t first(int rank) const {
    return given_ ? (*given_)[static_cast<std::size_t>(rank)] : rank * least_ + std::min(rank, longer_) * more_;
  }
  [[nodiscard]] std::int64_t last(int rank) const { return first(rank + 1); }
  /// Returns how many indices `rank` holds.
  [[nodiscard]] std::int64_t extent(int rank) const { return last(rank) - first(rank); }
  /// Returns the rank that holds `index`, which is in 0 .. extent() - 1.
  [[nodiscard]] int owner(std::int64_t index) const;
  /// Writes the rank that holds each index to `owners`.
  void owners(std::span<const std::int64_t> indices, std::int64_t* owners) const;

  /// Whether it is the cut that even() makes of this extent.
  [[nodiscard]] bool is_even() const { return !given_ && more_ <= 1; }
  /// Whether three numbers tell the cut.
  [[nodiscard]] bool is_rule() const { return !given_; }
  /// Returns the first index of each rank, and the extent.
  [[nodiscard]] std::vector<std::int64_t> offsets() const;
  /// Returns the cut at `factor` times each offset.
  [[nodiscard]] Cut scaled(std::int64_t factor) const;

  friend bool operator==(const Cut& a, const Cut& b) {
    return a.ranks_ == b.ranks_ && a.longer_ == b.longer_ && a.least_ == b.least_ && a.more_ == b.more_ &&
           (a.given_ == b.given_ || (a.given_ && b.given_ && *a.given_ == *b.given_));
  }

 private:
  // Not a constructor, for which a list of four numbers could be meant instead of the offsets of a layout.
  static Cut rule(std::int64_t least, std::int64_t more, std::int64_t longer, int ranks);

  std::int64_t least_ = 0;  ///< indices of each rank ...
  std::int64_t more_ = 0;   ///< ... and of the first `longer_` ranks beyond these; one is 0 only if the other is
  int longer_ = 0, ranks_ = 1;
  std::shared_ptr<const std::vector<std::int64_t>>
      given_;  ///< only of a cut without such a rule, whose other numbers are 0
};

}  // namespace heatpp::detail
