#include <heatpp/ops/calculus/detail/convolve_kernel.hpp>

#include <heatpp/core/detail/simd.hpp>

#include <c10/util/complex.h>

namespace heatpp::detail {
namespace {

/// Keeps `width` neighboring elements in registers for all taps.
template <class T, int width>
[[gnu::always_inline]] inline void block(const T* in, const T* taps, std::int64_t count_taps, T* out) {
  T sum[width] = {};
  for (std::int64_t k = 0; k < count_taps; ++k)
    for (int l = 0; l < width; ++l) sum[l] += taps[k] * in[k + l];
  for (int l = 0; l < width; ++l) out[l] = sum[l];
}

template <class T>
[[gnu::always_inline]] inline void dense(const T* in, const T* taps, std::int64_t count_taps, T* out,
                                         std::int64_t count) {
  constexpr int width = 256 / static_cast<int>(sizeof(T));
  std::int64_t i = 0;
  for (; i + width <= count; i += width) block<T, width>(in + i, taps, count_taps, out + i);
  for (; i < count; ++i) block<T, 1>(in + i, taps, count_taps, out + i);
}

HEATPP_SIMD void dense_row(const float* in, const float* taps, std::int64_t n, float* out, std::int64_t count) {
  dense(in, taps, n, out, count);
}
HEATPP_SIMD void dense_row(const double* in, const double* taps, std::int64_t n, double* out, std::int64_t count) {
  dense(in, taps, n, out, count);
}
template <class T>
void dense_row(const T* in, const T* taps, std::int64_t n, T* out, std::int64_t count) {
  dense(in, taps, n, out, count);
}

}  // namespace

template <class T>
void correlate_row(const T* in, const T* taps, std::int64_t count_taps, std::int64_t stride, T* out,
                   std::int64_t count) {
  if (stride == 1) return dense_row(in, taps, count_taps, out, count);
  for (std::int64_t i = 0; i < count; ++i) block<T, 1>(in + i * stride, taps, count_taps, out + i);
}

#define HEATPP_INSTANTIATE(T) \
  template void correlate_row(const T*, const T*, std::int64_t, std::int64_t, T*, std::int64_t);
HEATPP_INSTANTIATE(float)
HEATPP_INSTANTIATE(double)
HEATPP_INSTANTIATE(std::int64_t)
HEATPP_INSTANTIATE(c10::complex<float>)
HEATPP_INSTANTIATE(c10::complex<double>)
#undef HEATPP_INSTANTIATE

}  // namespace heatpp::detail
