#pragma once

#include <heatpp/core/detail/simd.hpp>
#include <cstdint>
#include <type_traits>

// A kernel that counts on the width of registers is compiled with HEATPP_SIMD for 32 bytes and, where HEATPP_WIDE is
// defined, as which it says, for 64.
#if defined(__x86_64__) && defined(__gnu_linux__)
#define HEATPP_WIDE __attribute__((target("arch=x86-64-v4")))
#endif

namespace heatpp::ml::detail {

/// Whether this machine has registers of 64 bytes.
[[nodiscard]] inline bool has_wide() {
#ifdef HEATPP_WIDE
  static const bool found = __builtin_cpu_supports("x86-64-v4");
  return found;
#else
  return false;
#endif
}

/// Numbers side by side in a vector register, and whole numbers of their size, such as positions.
template <class T, int bytes>
struct Lanes {
  using Integer = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  typedef T Vector __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias));
  typedef Integer Numbers __attribute__((vector_size(bytes)));
  static constexpr auto count = static_cast<std::int64_t>(bytes / sizeof(T));
  [[gnu::always_inline]] static const Vector& at(const T* p) { return *reinterpret_cast<const Vector*>(p); }
  [[gnu::always_inline]] static Vector& at(T* p) { return *reinterpret_cast<Vector*>(p); }
};

}  // namespace heatpp::ml::detail
