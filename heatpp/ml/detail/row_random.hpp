#pragma once

#include <heatpp/random/detail/draws.hpp>

namespace heatpp::ml::detail {

/// Returns the seed of one of several independent attempts.
[[nodiscard]] inline std::uint64_t seed_of(std::uint64_t seed, std::uint64_t attempt) {
  return random::detail::derived(seed, attempt, random::detail::Purpose::group);
}

/// Random numbers of an estimator, one for each row by its global position, equal for any number of ranks. Streams of a
/// seed are independent of each other, and of the arrays that `random` makes.
class RowRandom {
 public:
  RowRandom(std::uint64_t seed, std::uint64_t stream)
      : key_(random::detail::derived(seed, stream, random::detail::Purpose::spawn)) {}
  /// Returns a uniform number in (0, 1).
  [[nodiscard]] double uniform(std::int64_t row) const {
    return random::detail::Draws(key_, static_cast<std::uint64_t>(row)).uniform();
  }

 private:
  random::detail::Key key_;
};

}  // namespace heatpp::ml::detail
