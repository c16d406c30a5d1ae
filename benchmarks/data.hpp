#pragma once

#include <heatpp/heatpp.hpp>

namespace bench {

namespace ht = heatpp;

/// Element `i` of the random stream `seed`, the same on every machine and for any number of ranks (splitmix64).
inline std::uint64_t hash(std::uint64_t seed, std::uint64_t i) {
  auto z = (i + (seed << 40) + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// Uniform in [0, 1).
inline float uniform(std::uint64_t seed, std::uint64_t i) { return static_cast<float>(hash(seed, i) >> 40) * 0x1p-24f; }

/// Nearly normal, with mean 0 and variance 1: the sum of four uniform numbers.
inline float normal(std::uint64_t seed, std::uint64_t i) {
  const auto h = hash(seed, i);
  const auto sum = (h & 0xFFFF) + ((h >> 16) & 0xFFFF) + ((h >> 32) & 0xFFFF) + (h >> 48);
  return static_cast<float>(static_cast<std::int64_t>(sum) - 131070) * static_cast<float>(1.7320508075688772 / 65536);
}

/// Whole numbers 0 .. 255, which compress.
inline float byte(std::uint64_t seed, std::uint64_t i) { return static_cast<float>(hash(seed, i) >> 56); }

/// A float32 array of one or two axes whose element at the flat index `i` of the whole array is `element(i)`.
template <class F>
ht::DNDarray generate(const ht::Shape& shape, std::optional<int> split, F element) {
  auto x = ht::empty(shape, {.split = split});
  const auto rows = x.lshape()[0], columns = shape.size() > 1 ? x.lshape()[1] : 1;
  const auto width = shape.size() > 1 ? shape[1] : 1;
  const auto first = split ? x.layout().offset(x.comm().rank()) : 0;
  const auto corner = split == 1 ? first : first * width;
  auto* out = x.local<float>().data();
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) *out++ = element(static_cast<std::uint64_t>(corner + r * width + c));
  return x;
}

template <float (*Stream)(std::uint64_t, std::uint64_t)>
ht::DNDarray generate(std::uint64_t seed, const ht::Shape& shape, std::optional<int> split = 0) {
  return generate(shape, split, [seed](std::uint64_t i) { return Stream(seed, i); });
}

}  // namespace bench
