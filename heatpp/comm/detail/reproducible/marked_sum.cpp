#include <heatpp/comm/detail/reproducible/marked_sum.hpp>

#include <heatpp/comm/detail/reproducible/exact_sum.hpp>
#include <heatpp/comm/detail/schedule/combine.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace heatpp::detail {
namespace {

constexpr std::int64_t block = 1024;                     // elements whose sums fit in the first-level cache
constexpr std::uint64_t mark_bits = 0x7ff8000000000001;  // a NaN that no float32 converts to
const double mark = std::bit_cast<double>(mark_bits);

bool is_mark(double x) { return std::bit_cast<std::uint64_t>(x) == mark_bits; }

/// The number high + low, of which `high` is the nearest float64.
struct Pair {
  double high, low;
};

/// Returns a + b as the nearest number and its error: Dekker's Fast2Sum, which overflows only if the sum does. The
/// result is the same for b + a, because MPI's all-reduce may add in another order on each rank.
Pair two_sum(double a, double b) {
  const bool falling = std::abs(a) >= std::abs(b);
  const double sum = a + b, large = falling ? a : b, small = falling ? b : a;
  return {sum, small - (sum - large)};
}

bool is_finite(double x) { return x - x == 0; }

/// Returns the sum of two numbers, one of which is not finite.
double special_sum(double a, double b) {
  if (is_mark(a) || is_mark(b)) return mark;
  const double sum = a + b;
  return sum != sum ? std::numeric_limits<double>::quiet_NaN() : sum;
}

/// Returns a + b. Sets bits of `lost` other than the sign if the sum is inexact, or if a number is not finite.
double sum_of(double a, double b, std::uint64_t& lost) {
  const auto [sum, lacks] = two_sum(a, b);
  lost |= std::bit_cast<std::uint64_t>(lacks) << 1;
  return sum;
}
Pair sum_of(const Pair& a, const Pair& b, std::uint64_t& lost) {
  const auto high = two_sum(a.high, b.high), low = two_sum(a.low, b.low), rest = two_sum(high.low, low.high);
  lost |= (std::bit_cast<std::uint64_t>(low.low) | std::bit_cast<std::uint64_t>(rest.low)) << 1;
  return two_sum(high.high, rest.high);
}

/// Returns the value that replaces a sum that does not fit.
double instead_of_sum(double a, double b) { return is_finite(a) && is_finite(b) ? mark : special_sum(a, b); }
Pair instead_of_sum(const Pair& a, const Pair& b) { return {instead_of_sum(a.high, b.high), 0}; }

/// Adds sums[i] += from[i], without branches if all sums fit, which is nearly always so.
template <class W>
void add_each(W* sums, const W* from, std::int64_t n) {
  W made[block];
  std::uint64_t any_lost = 0;
  for (std::int64_t i = 0; i < n; ++i) made[i] = sum_of(sums[i], from[i], any_lost);
  for (std::int64_t i = 0; i < n && any_lost != 0; ++i) {
    std::uint64_t lost = 0;
    made[i] = sum_of(sums[i], from[i], lost);
    if (lost != 0) made[i] = instead_of_sum(sums[i], from[i]);
  }
  std::copy_n(made, n, sums);
}

/// Returns the number whose bits may be those of a mark, the lowest NaN but one.
double first_of(double x) { return x; }
double first_of(const Pair& x) { return x.high; }
template <class W>
bool may_be_marked(const W* sums, std::int64_t n) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  std::uint64_t found = 0;
  for (std::int64_t i = 0; i < n; ++i)
    found |= (std::bit_cast<std::uint64_t>(first_of(sums[i])) & ~sign) + (sign - mark_bits);
  return (found & sign) != 0;
}

template <class T>
using Wide = std::conditional_t<std::is_same_v<T, double>, Pair, double>;
double wide(float x) { return static_cast<double>(x); }
// A contribution that has the bits of a mark becomes another NaN.
Pair wide(double x) { return {x != x ? std::numeric_limits<double>::quiet_NaN() : x, 0}; }

/// Returns elements first .. first + n - 1 as T. 16-bit floats have another type and are converted into `room`.
template <class T>
const T* elements(Dtype dtype, const void* data, std::int64_t first, std::int64_t n, T* room) {
  if constexpr (std::is_same_v<T, float>)
    if (is_float16(dtype)) {
      widen(dtype, static_cast<const std::uint16_t*>(data) + first, room, n);
      return room;
    }
  return static_cast<const T*>(data) + first;
}

/// Returns the float that rounds to the same 16 bits: the nearest towards 0, made odd if it is inexact.
float rounded_to_odd(double x) {
  const auto nearest = static_cast<float>(x);
  if (static_cast<double>(nearest) == x || x != x) return nearest;
  const auto bits = std::bit_cast<std::uint32_t>(nearest) - (std::abs(static_cast<double>(nearest)) > std::abs(x));
  return std::bit_cast<float>(bits | 1);
}
/// Rounds n sums to elements first, first + 1, ...; -0 becomes +0.
template <class T>
void put(Dtype dtype, const Wide<T>* sums, void* data, std::int64_t first, std::int64_t n) {
  if constexpr (std::is_same_v<T, float>) {
    if (is_float16(dtype)) {
      float odd[block];
      for (std::int64_t i = 0; i < n; ++i) odd[i] = rounded_to_odd(sums[i] + 0.0);
      return narrow(dtype, odd, static_cast<std::uint16_t*>(data) + first, n);
    }
  }
  auto* const out = static_cast<T*>(data) + first;
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(first_of(sums[i])) + T{0};
}

/// Rounds all sums that are not marked, and calls `otherwise` for the marked ones.
template <class T, class F>
void put_unmarked(Dtype dtype, const Wide<T>* sums, void* data, std::int64_t first, std::int64_t n, F otherwise) {
  if (!may_be_marked(sums, n)) return put<T>(dtype, sums, data, first, n);
  for (std::int64_t i = 0; i < n; ++i)
    if (is_mark(first_of(sums[i]))) otherwise(first + i);
    else put<T>(dtype, sums + i, data, first + i, 1);
}

/// Computes the exact sum of the contributions to element i.
template <class T>
void sum_anew(Dtype dtype, std::span<const void* const> sources, void* out, std::int64_t i) {
  ExactSum sum;
  T room[1];
  for (const auto* source : sources) sum.add(static_cast<double>(*elements(dtype, source, i, 1, room)));
  if constexpr (std::is_same_v<T, double>) {
    static_cast<T*>(out)[i] = sum.value();
  } else {
    const double value = dtype == Dtype::float32   ? sum.value(24, -149)
                         : dtype == Dtype::float16 ? sum.value(11, -24)
                                                   : sum.value(8, -133);
    put<T>(dtype, &value, out, i, 1);
  }
}

template <class T>
void combine_whole(Dtype dtype, std::span<const void* const> sources, void* out, std::int64_t n) {
  Wide<T> sums[block], terms[block];
  T room[block];
  for (std::int64_t first = 0; first < n; first += block) {
    const auto length = std::min(block, n - first);
    for (std::size_t s = 0; s < sources.size(); ++s) {
      const T* from = elements(dtype, sources[s], first, length, room);
      auto* const to = s == 0 ? sums : terms;
      for (std::int64_t i = 0; i < length; ++i) to[i] = wide(from[i]);
      if (s > 0) add_each(sums, terms, length);
    }
    // `out` may be a source: an element that is summed again has not been written.
    put_unmarked<T>(dtype, sums, out, first, length, [&](std::int64_t i) { sum_anew<T>(dtype, sources, out, i); });
  }
}

template <class W>
void combine_marked(std::span<const void* const> sources, void* out, std::int64_t n) {
  W sums[block];
  for (std::int64_t first = 0; first < n; first += block) {
    const auto length = std::min(block, n - first);
    std::copy_n(static_cast<const W*>(sources[0]) + first, length, sums);
    for (const auto* source : sources.subspan(1)) add_each(sums, static_cast<const W*>(source) + first, length);
    std::copy_n(sums, length, static_cast<W*>(out) + first);
  }
}

template <class T>
void widen_typed(const ConstBuffer& data, void* to) {
  T room[block];
  for (std::int64_t first = 0; first < data.count; first += block) {
    const auto length = std::min(block, data.count - first);
    const T* from = elements(data.dtype, data.data, first, length, room);
    for (std::int64_t i = 0; i < length; ++i) static_cast<Wide<T>*>(to)[first + i] = wide(from[i]);
  }
}

template <class T>
void round_typed(const void* from, const Buffer& data, std::vector<std::int64_t>& marked) {
  const auto* const sums = static_cast<const Wide<T>*>(from);
  for (std::int64_t first = 0; first < data.count; first += block)
    put_unmarked<T>(data.dtype, sums + first, data.data, first, std::min(block, data.count - first),
                    [&](std::int64_t i) { marked.push_back(i); });
}

}  // namespace

void widen_exactly(const ConstBuffer& data, void* wide) {
  if (data.dtype == Dtype::float64) widen_typed<double>(data, wide);
  else widen_typed<float>(data, wide);
}

void round_unmarked(const void* wide, const Buffer& data, std::vector<std::int64_t>& marked) {
  if (data.dtype == Dtype::float64) round_typed<double>(wide, data, marked);
  else round_typed<float>(wide, data, marked);
}

void combine_exactly(ReduceOp op, Dtype dtype, std::span<const void* const> sources, void* out, std::int64_t n) {
  if (op == marked_sum)
    return dtype == Dtype::float64 ? combine_marked<double>(sources, out, n) : combine_marked<Pair>(sources, out, n);
  if (dtype == Dtype::float64) combine_whole<double>(dtype, sources, out, n);
  else combine_whole<float>(dtype, sources, out, n);
}

}  // namespace heatpp::detail
