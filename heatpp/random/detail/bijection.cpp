#include <heatpp/random/detail/bijection.hpp>

#include <heatpp/core/detail/simd.hpp>
#include <heatpp/random/detail/draws.hpp>

#include <algorithm>
#include <bit>
#include <numeric>

namespace heatpp::random::detail {
namespace {

template <bool Inverse>
[[gnu::always_inline]] inline void apply_each(const Feistel& network, std::int64_t first, std::int64_t count,
                                              std::int64_t* out) {
  const auto own = network;
  for (std::int64_t i = 0; i < count; ++i)
    out[i] = static_cast<std::int64_t>(own.apply<Inverse>(static_cast<std::uint64_t>(first + i)));
}
HEATPP_SIMD void apply_forwards(const Feistel& network, std::int64_t first, std::int64_t count, std::int64_t* out) {
  apply_each<false>(network, first, count, out);
}
HEATPP_SIMD void apply_backwards(const Feistel& network, std::int64_t first, std::int64_t count, std::int64_t* out) {
  apply_each<true>(network, first, count, out);
}

}  // namespace

Bijection::Bijection(Key key, std::uint64_t counter, std::int64_t n) : n_(static_cast<std::uint64_t>(n)) {
  if (n <= shuffled_up_to) shuffle(key, counter);
  else network_ = Feistel(key, counter, std::bit_width(n_ - 1));
}

void Bijection::shuffle(Key key, std::uint64_t counter) {
  table_.resize(n_);
  inverse_.resize(n_);
  std::iota(table_.begin(), table_.end(), std::int64_t{0});
  Draws draws(key, counter);
  for (auto i = n_; i > 1; --i) std::swap(table_[i - 1], table_[draws.below(i)]);
  for (std::size_t i = 0; i < n_; ++i) inverse_[static_cast<std::size_t>(table_[i])] = static_cast<std::int64_t>(i);
}

template <bool Inverse>
void Bijection::fill(std::int64_t first, std::int64_t count, std::int64_t* out) const {
  if (!table_.empty()) {
    std::copy_n((Inverse ? inverse_ : table_).begin() + first, count, out);
    return;
  }
  (Inverse ? apply_backwards : apply_forwards)(network_, first, count, out);
  for (std::int64_t i = 0; i < count; ++i)
    if (const auto x = static_cast<std::uint64_t>(out[i]); x >= n_) out[i] = walked<Inverse>(x);
}
template void Bijection::fill<false>(std::int64_t, std::int64_t, std::int64_t*) const;
template void Bijection::fill<true>(std::int64_t, std::int64_t, std::int64_t*) const;

}  // namespace heatpp::random::detail
