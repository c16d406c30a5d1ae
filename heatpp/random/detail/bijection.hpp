#pragma once

#include <heatpp/random/detail/feistel.hpp>
#include <vector>

namespace heatpp::random::detail {

/// A random permutation of 0 .. n - 1 that is computed where it is needed. Short ones are shuffled (Fisher, Yates), so
/// all are equally likely. Long ones are a Feistel network over the next power of two, which is applied until the
/// number is in the range again (Black, Rogaway, "Ciphers with arbitrary finite domains", 2002).
class Bijection {
 public:
  Bijection(Key key, std::uint64_t counter, std::int64_t n);

  [[nodiscard]] std::int64_t operator()(std::int64_t i) const {
    return table_.empty() ? walked<false>(static_cast<std::uint64_t>(i)) : table_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] std::int64_t inverse(std::int64_t i) const {
    return table_.empty() ? walked<true>(static_cast<std::uint64_t>(i)) : inverse_[static_cast<std::size_t>(i)];
  }
  /// Computes the permutation or its inverse at first, first + 1, ...
  void at(std::int64_t first, std::int64_t count, std::int64_t* out) const { fill<false>(first, count, out); }
  void inverse_at(std::int64_t first, std::int64_t count, std::int64_t* out) const { fill<true>(first, count, out); }

 private:
  static constexpr std::int64_t shuffled_up_to = 4096;

  void shuffle(Key key, std::uint64_t counter);
  template <bool Inverse>
  [[nodiscard]] std::int64_t walked(std::uint64_t x) const {
    do x = network_.apply<Inverse>(x);
    while (x >= n_);
    return static_cast<std::int64_t>(x);
  }
  template <bool Inverse>
  void fill(std::int64_t first, std::int64_t count, std::int64_t* out) const;

  std::uint64_t n_;
  Feistel network_;
  std::vector<std::int64_t> table_, inverse_;
};

}  // namespace heatpp::random::detail
