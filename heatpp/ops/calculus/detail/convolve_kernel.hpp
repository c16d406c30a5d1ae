#pragma once

#include <cstdint>

namespace heatpp::detail {

/// Computes out[i] = the sum of in[i * stride + k] * taps[k] over k < count_taps. T is float, double, int64_t,
/// c10::complex<float> or c10::complex<double>.
template <class T>
void correlate_row(const T* in, const T* taps, std::int64_t count_taps, std::int64_t stride, T* out,
                   std::int64_t count);

}  // namespace heatpp::detail
