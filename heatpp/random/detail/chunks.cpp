#include <heatpp/random/detail/chunks.hpp>

#include <heatpp/core/detail/simd.hpp>
#include <heatpp/random/detail/draws.hpp>
#include <heatpp/random/detail/lanes.hpp>

namespace heatpp::random::detail {
namespace {

/// Runs f(words, lane, out) for each counter of each chunk; f writes the results at lane, lane + lanes, ...
template <class T, class F>
[[gnu::always_inline]] inline void for_each_counter(Key key, std::uint64_t counter, std::int64_t chunks, T* out, F f) {
  for (std::int64_t c = 0; c < chunks; ++c, counter += lanes, out += chunk<T>)
    for (std::int64_t l = 0; l < lanes; ++l)
      f(philox(counter_of(counter + static_cast<std::uint64_t>(l)), key), out + l);
}

[[gnu::always_inline]] inline float fraction(std::uint32_t word) {
  return static_cast<float>(static_cast<std::int32_t>(word >> 8)) * 0x1p-24f;
}
[[gnu::always_inline]] inline double fraction(std::uint32_t low, std::uint32_t high) {
  const auto top = static_cast<double>(static_cast<std::int32_t>(high >> 5));
  return (top * 0x1p26 + static_cast<double>(static_cast<std::int32_t>(low >> 6))) * 0x1p-53;
}

}  // namespace

template <>
HEATPP_SIMD void uniform_chunks(Key key, std::uint64_t counter, std::int64_t chunks, float shift, float scale,
                                float* out) {
  for_each_counter(
      key, counter, chunks, out, [=](const Words& w, float* o) __attribute__((always_inline)) {
        for (int i = 0; i < 4; ++i) o[i * lanes] = shift + scale * fraction(w[static_cast<std::size_t>(i)]);
      });
}

template <>
HEATPP_SIMD void uniform_chunks(Key key, std::uint64_t counter, std::int64_t chunks, double shift, double scale,
                                double* out) {
  for_each_counter(
      key, counter, chunks, out, [=](const Words& w, double* o) __attribute__((always_inline)) {
        o[0] = shift + scale * fraction(w[0], w[1]);
        o[lanes] = shift + scale * fraction(w[2], w[3]);
      });
}

template <>
HEATPP_SIMD void normal_chunks(Key key, std::uint64_t counter, std::int64_t chunks, float shift, float scale,
                               float* out) {
  for_each_counter(
      key, counter, chunks, out, [=](const Words& w, float* o) __attribute__((always_inline)) {
        const auto a = normal_pair(unit(w[0]), direction(w[1])), b = normal_pair(unit(w[2]), direction(w[3]));
        o[0] = shift + scale * a.first;
        o[lanes] = shift + scale * a.second;
        o[2 * lanes] = shift + scale * b.first;
        o[3 * lanes] = shift + scale * b.second;
      });
}

template <>
HEATPP_SIMD void normal_chunks(Key key, std::uint64_t counter, std::int64_t chunks, double shift, double scale,
                               double* out) {
  for_each_counter(
      key, counter, chunks, out, [=](const Words& w, double* o) __attribute__((always_inline)) {
        const auto pair = normal_pair(unit(w[0], w[1]), direction(w[2], w[3]));
        o[0] = shift + scale * pair.first;
        o[lanes] = shift + scale * pair.second;
      });
}

template <>
HEATPP_SIMD void exponential_chunks(Key key, std::uint64_t counter, std::int64_t chunks, float shift, float scale,
                                    float* out) {
  for_each_counter(
      key, counter, chunks, out, [=](const Words& w, float* o) __attribute__((always_inline)) {
        for (int i = 0; i < 4; ++i) o[i * lanes] = shift - scale * log_of(unit(w[static_cast<std::size_t>(i)]));
      });
}

template <>
HEATPP_SIMD void exponential_chunks(Key key, std::uint64_t counter, std::int64_t chunks, double shift, double scale,
                                    double* out) {
  for_each_counter(
      key, counter, chunks, out, [=](const Words& w, double* o) __attribute__((always_inline)) {
        o[0] = shift - scale * log_of(unit(w[0], w[1]));
        o[lanes] = shift - scale * log_of(unit(w[2], w[3]));
      });
}

namespace {

/// Draws one chunk. Returns whether a word was rejected.
HEATPP_SIMD bool draw_integers(Key key, std::uint64_t counter, std::int64_t low, std::uint32_t bound,
                               std::uint32_t least, std::int64_t* out) {
  std::uint32_t rejected = 0;
  for (std::int64_t l = 0; l < lanes; ++l) {
    const auto words = philox(counter_of(counter + static_cast<std::uint64_t>(l)), key);
    for (std::size_t w = 0; w < 4; ++w) {
      const auto product = std::uint64_t{words[w]} * bound;
      out[static_cast<std::int64_t>(w) * lanes + l] = low + static_cast<std::int64_t>(product >> 32);
      rejected |= static_cast<std::uint32_t>(product) < least ? 1 : 0;
    }
  }
  return rejected != 0;
}

/// Draws numbers again for rejected words. Each word has blocks of its own.
void replace_rejected(Key key, std::uint64_t counter, std::int64_t low, std::uint32_t bound, std::uint32_t least,
                      std::int64_t* out) {
  for (std::int64_t l = 0; l < lanes; ++l) {
    const auto own = counter + static_cast<std::uint64_t>(l);
    const auto words = philox(counter_of(own), key);
    for (std::uint32_t w = 0; w < 4; ++w)
      if (words[w] * bound < least)
        out[std::int64_t{w} * lanes + l] = low + static_cast<std::int64_t>(Draws(key, own, (w << 30) + 1).below(bound));
  }
}

}  // namespace

void integer_chunks(Key key, std::uint64_t counter, std::int64_t chunks, std::int64_t low, std::uint32_t bound,
                    std::int64_t* out) {
  const auto least = -bound % bound;
  for (std::int64_t c = 0; c < chunks; ++c, counter += lanes, out += integers_per_chunk)
    if (draw_integers(key, counter, low, bound, least, out)) replace_rejected(key, counter, low, bound, least, out);
}

namespace {

/// Calls f(first block of a counter, numbers, lane) for each, and stores the block `draw` for later draws.
template <class F>
[[gnu::always_inline]] inline void for_each_lane(Key key, std::uint64_t counter, std::int64_t groups,
                                                 std::uint32_t draw, Ahead* out, F f) {
  for (std::int64_t g = 0; g < groups; ++g, counter += lanes, ++out)
    for (std::int64_t l = 0; l < lanes; ++l) {
      const auto own = counter + static_cast<std::uint64_t>(l);
      const auto words = philox(counter_of(own, draw), key);
      for (std::size_t w = 0; w < 4; ++w) out->words[w][l] = words[w];
      f(draw == 0 ? words : philox(counter_of(own), key), out->numbers, l);
    }
}

}  // namespace

template <>
HEATPP_SIMD void draw_ahead<First::words>(Key key, std::uint64_t counter, std::int64_t groups, Ahead* out) {
  for_each_lane(key, counter, groups, 0, out, [](const auto&, auto&, auto) __attribute__((always_inline)){});
}

template <>
HEATPP_SIMD void draw_ahead<First::exponential>(Key key, std::uint64_t counter, std::int64_t groups, Ahead* out) {
  for_each_lane(
      key, counter, groups, 0, out, [](const Words& w, auto& numbers, std::int64_t l) __attribute__((always_inline)) {
        numbers[0][l] = -log_of(unit(w[0], w[1]));
      });
}

template <>
HEATPP_SIMD void draw_ahead<First::logit>(Key key, std::uint64_t counter, std::int64_t groups, Ahead* out) {
  for_each_lane(
      key, counter, groups, 0, out, [](const Words& w, auto& numbers, std::int64_t l) __attribute__((always_inline)) {
        numbers[0][l] = logit_of(unit(w[0], w[1]));
      });
}

template <>
HEATPP_SIMD void draw_ahead<First::normals>(Key key, std::uint64_t counter, std::int64_t groups, Ahead* out) {
  for_each_lane(
      key, counter, groups, 1, out, [](const Words& w, auto& numbers, std::int64_t l) __attribute__((always_inline)) {
        const auto pair = normal_pair(unit(w[0], w[1]), direction(w[2], w[3]));
        numbers[0][l] = pair.first;
        numbers[1][l] = pair.second;
      });
}

}  // namespace heatpp::random::detail
