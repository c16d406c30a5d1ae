#pragma once

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/promotion.hpp>

#include <bit>
#include <limits>

namespace heatpp::detail {

__extension__ typedef unsigned __int128 Key128;

/// The unsigned whole number of this size, by which elements are ordered.
template <std::size_t Bytes>
struct UnsignedOf;
template <>
struct UnsignedOf<1> {
  using type = std::uint8_t;
};
template <>
struct UnsignedOf<2> {
  using type = std::uint16_t;
};
template <>
struct UnsignedOf<4> {
  using type = std::uint32_t;
};
template <>
struct UnsignedOf<8> {
  using type = std::uint64_t;
};
template <>
struct UnsignedOf<16> {
  using type = Key128;
};
#define HEATPP_FORALL_KEYS(apply) \
  apply(std::uint8_t) apply(std::uint16_t) apply(std::uint32_t) apply(std::uint64_t) apply(Key128)
template <class T>
using KeyOf = typename UnsignedOf<sizeof(T)>::type;

template <class T>
inline constexpr bool is_float_element =
    std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16> || std::is_floating_point_v<T>;
template <class T>
inline constexpr bool is_complex_element = c10::is_complex<T>::value;

/// Whether -0 precedes +0 or equals it. In comparisons for equality it is equal.
enum class Zeros { ordered, same };

/// Keys of elements in NumPy's order: NaN last, complex numbers by their real, then their imaginary parts. All NaN have
/// one key.
template <class T>
struct Keys {
  using K = KeyOf<T>;
  static constexpr K first_nan = 0;
  static constexpr bool has_nan = false;
  static constexpr K sign = std::is_signed_v<T> ? static_cast<K>(K{1} << (8 * sizeof(K) - 1)) : K{0};

  template <Zeros = Zeros::same>
  static K of(T value) {
    return static_cast<K>(static_cast<K>(value) ^ sign);
  }
  static T element(K key) { return static_cast<T>(static_cast<K>(key ^ sign)); }
};

template <class T>
requires is_float_element<T>
struct Keys<T> {
  using K = KeyOf<T>;
  static constexpr bool has_nan = true;
  static constexpr K sign = static_cast<K>(K{1} << (8 * sizeof(K) - 1));
  static constexpr K nan = static_cast<K>(~K{0});
  static constexpr K first_nan = nan;

  template <Zeros zeros = Zeros::same>
  static K of(T value) {
    auto bits = std::bit_cast<K>(value);
    const auto magnitude = static_cast<K>(bits & ~sign);
    if constexpr (zeros == Zeros::same) bits = magnitude == 0 ? K{0} : bits;
    const auto key = static_cast<K>(bits ^ (bits & sign ? nan : sign));
    return magnitude > infinity() ? nan : key;
  }
  static T element(K key) {
    if (key == nan) return std::numeric_limits<T>::quiet_NaN();
    return std::bit_cast<T>(static_cast<K>(key ^ (key & sign ? sign : nan)));
  }
  static K infinity() { return std::bit_cast<K>(std::numeric_limits<T>::infinity()); }
  static K last() { return infinity() | sign; }  // last key that is no NaN
};

/// Among complex numbers with NaN, those with a real part come first, ordered by it, then those with an imaginary part.
template <class T>
requires is_complex_element<T>
struct Keys<T> {
  using K = KeyOf<T>;
  using Part = Keys<typename T::value_type>;
  using P = typename Part::K;
  static constexpr bool has_nan = true;
  static constexpr int bits = 8 * sizeof(P);
  static constexpr P last = std::is_same_v<P, std::uint32_t> ? P{0xFF800000U} : static_cast<P>(0xFFF0000000000000U);
  static constexpr K first_nan = static_cast<K>(last + 1) << bits;

  template <Zeros zeros = Zeros::same>
  static K of(T value) {
    auto high = Part::of(value.real());
    auto low = Part::template of<zeros>(value.imag());
    const bool no_real = high == Part::nan, no_imag = low == Part::nan;
    if (no_real || no_imag) {
      if (!no_real) low = high;
      high = last + static_cast<P>(no_real ? (no_imag ? 3 : 2) : 1);
    }
    return static_cast<K>(high) << bits | low;
  }
  static T element(K key) {
    auto high = static_cast<P>(key >> bits), low = static_cast<P>(key);
    if (high > last) {
      const auto kind = high - last;
      high = kind == 1 ? low : Part::nan;
      if (kind != 2) low = Part::nan;
    }
    return {Part::element(high), Part::element(low)};
  }
};

template <class T>
[[nodiscard]] bool is_nan_key(KeyOf<T> key) {
  return Keys<T>::has_nan && key >= Keys<T>::first_nan;
}

/// A key and a position in one whole number, which sorts by key, then by position.
template <class Word>
struct Indexed {
  static constexpr int bits = 4 * sizeof(Word);
  template <class K>
  static Word of(K key, std::int64_t position) {
    return static_cast<Word>(key) << bits | static_cast<Word>(position);
  }
  static Word key(Word word) { return word >> bits; }
  static std::int64_t position(Word word) { return static_cast<std::int64_t>(word & ((Word{1} << bits) - 1)); }
};

/// n values of a plain type in LibTorch's memory, where heatpp's allocator keeps freed blocks for reuse. As rows of
/// bytes they can be exchanged.
template <class R>
class Rows {
 public:
  explicit Rows(std::int64_t n = 0) : Rows(at::empty({n, std::int64_t{sizeof(R)}}, at::kByte)) {}
  explicit Rows(at::Tensor bytes)
      : bytes_(std::move(bytes)), data_(static_cast<R*>(bytes_.data_ptr())), size_(bytes_.size(0)) {}
  [[nodiscard]] R* data() { return data_; }
  [[nodiscard]] const R* data() const { return data_; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] R& operator[](std::int64_t i) { return data()[i]; }
  [[nodiscard]] const R& operator[](std::int64_t i) const { return data()[i]; }
  [[nodiscard]] R* begin() { return data(); }
  [[nodiscard]] R* end() { return data() + size(); }
  [[nodiscard]] const R* begin() const { return data(); }
  [[nodiscard]] const R* end() const { return data() + size(); }
  [[nodiscard]] std::span<const R> part(std::int64_t first, std::int64_t last) const {
    return {data() + first, static_cast<std::size_t>(last - first)};
  }
  void shrink(std::int64_t n) { *this = Rows(bytes_.narrow(0, 0, n)); }
  [[nodiscard]] const at::Tensor& bytes() const { return bytes_; }

 private:
  at::Tensor bytes_;
  R* data_;
  std::int64_t size_;
};

/// Returns a dtype in which elements of both are compared without loss, if there is one.
[[nodiscard]] inline Dtype comparison_type(Dtype a, Dtype b) {
  const bool mixed = is_integral(a) ? is_floating(b) : is_floating(a) && is_integral(b);
  return mixed ? float64 : promote_types(a, b);
}

}  // namespace heatpp::detail
