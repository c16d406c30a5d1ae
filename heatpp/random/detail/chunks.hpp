#pragma once

#include <cstdint>
#include <heatpp/random/detail/philox.hpp>

namespace heatpp::random::detail {

/// Counters that are processed in parallel.
inline constexpr std::int64_t lanes = 16;
/// Elements of type T from `lanes` counters: word w of counter l gives element w * lanes + l of the chunk.
template <class T>
inline constexpr std::int64_t chunk = lanes* std::int64_t{16 / sizeof(T)};

/// Fills whole chunks from the counters that start at `counter` with numbers shift + scale * z. T is float or
/// double.
template <class T>
using ChunkKernel = void (*)(Key key, std::uint64_t counter, std::int64_t chunks, T shift, T scale, T* out);

/// Draws z uniformly in [0, 1), a multiple of 2^-24 or 2^-53.
template <class T>
void uniform_chunks(Key key, std::uint64_t counter, std::int64_t chunks, T shift, T scale, T* out);
/// Draws z from the standard normal distribution.
template <class T>
void normal_chunks(Key key, std::uint64_t counter, std::int64_t chunks, T shift, T scale, T* out);
/// Draws z from the standard exponential distribution: never 0, and up to 22 for float, which cuts 1e-10 of the
/// distribution, or 37.
template <class T>
void exponential_chunks(Key key, std::uint64_t counter, std::int64_t chunks, T shift, T scale, T* out);

/// Fills chunks of this size with `low` + k for k uniform below `bound`, which is not 0, without bias (Lemire 2019). A
/// few words give no number; these draw again from counters of their own.
inline constexpr std::int64_t integers_per_chunk = 4 * lanes;
void integer_chunks(Key key, std::uint64_t counter, std::int64_t chunks, std::int64_t low, std::uint32_t bound,
                    std::int64_t* out);

/// What the elements of `lanes` counters draw first, in parallel for all of them.
enum class First { words, exponential, logit, normals };
struct Ahead {
  std::uint32_t words[4][lanes];  ///< block from which they continue: word w of counter + l at [w][l]
  double numbers[2][lanes];       ///< the first number, or two normal ones
};
/// Draws for `groups` times `lanes` counters. Normal numbers use a counter's whole first block, others half of it.
template <First>
void draw_ahead(Key key, std::uint64_t counter, std::int64_t groups, Ahead* out);

}  // namespace heatpp::random::detail
