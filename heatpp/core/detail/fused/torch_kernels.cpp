#include <heatpp/core/detail/fused/kernels.hpp>

#include <ATen/ATen.h>
#include <ATen/CPUFunctions.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace heatpp::detail::fused {
namespace {

using Function = at::Tensor& (*)(at::Tensor&, const at::Tensor&);

/// A tensor of any memory, which is made once for a thread, because that takes as long as the function of a run.
template <class T>
class Run {
 public:
  at::Tensor& at(void* memory, std::int64_t n) {
    tensor_.storage().unsafeGetStorageImpl()->set_data_ptr_noswap(at::DataPtr(memory, at::kCPU));
    if (tensor_.numel() != n) tensor_.unsafeGetTensorImpl()->set_sizes_contiguous({n});
    return tensor_;
  }

 private:
  at::Tensor tensor_ = at::from_blob(this, {1 << 20}, at::dtype(c10::CppTypeToScalarType<T>::value));
};

/// Functions whose bits depend on how LibTorch shares a run among threads; it leaves runs of this length to one.
template <Function f>
constexpr bool by_length = false;
template <>
constexpr bool by_length<at::cpu::exp2_out> = true;
template <>
constexpr bool by_length<at::cpu::sinh_out> = true;
template <>
constexpr bool by_length<at::cpu::cosh_out> = true;
template <>
constexpr bool by_length<at::cpu::atanh_out> = true;
constexpr std::int64_t of_one_thread = 16384;

template <Function f, class T>
void call(const T* x, T* out, std::int64_t n) {
  static thread_local Run<T> from, into;
  const at::AutoDispatchBelowAutograd without_gradients;
  f(into.at(out, n), from.at(const_cast<T*>(x), n));
}

/// Calls LibTorch's function of a run. The last elements are computed among copies of one of them, as whole vectors.
template <Function f, class T>
void by_torch(const void* x, const void*, const void*, void* out, std::int64_t n) {
  const auto rest = n % whole_vectors, whole = n - rest;
  const auto* const from = static_cast<const T*>(x);
  auto* const to = static_cast<T*>(out);
  const auto piece = by_length<f> ? of_one_thread : std::max<std::int64_t>(whole, 1);
  for (std::int64_t i = 0; i < whole; i += piece) call<f>(from + i, to + i, std::min(piece, whole - i));
  if (rest == 0) return;
  T last[whole_vectors];
  std::fill(std::copy_n(from + whole, rest, last), std::end(last), from[whole]);
  call<f>(last, last, whole_vectors);
  std::copy_n(last, rest, to + whole);
}

/// Calls sinh or cosh. LibTorch's vector code is infinite where e^x overflows but half of it does not.
template <Function f, bool is_odd, class T>
void hyperbolic(const void* x, const void*, const void*, void* out, std::int64_t n) {
  constexpr T end = sizeof(T) == 8 ? 709 : 88;
  const auto* const from = static_cast<const T*>(x);
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < n; ++i) count += std::abs(from[i]) > end;
  std::vector<std::int64_t> places;
  std::vector<T> given, roots;
  for (std::int64_t i = 0; i < n && std::ssize(given) < count; ++i)
    if (std::abs(from[i]) > end) places.push_back(i), given.push_back(from[i]), roots.push_back(std::abs(from[i]) / 2);
  by_torch<f, T>(x, nullptr, nullptr, out, n);
  if (count == 0) return;
  by_torch<at::cpu::exp_out, T>(roots.data(), nullptr, nullptr, roots.data(), count);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto size = roots[i] / 2 * roots[i];
    static_cast<T*>(out)[places[i]] = is_odd ? std::copysign(size, given[i]) : size;
  }
}

template <Function f>
Kernel of_type(Type type) {
  return type == Type::float32 ? by_torch<f, float> : type == Type::float64 ? by_torch<f, double> : Kernel(nullptr);
}

template <Function f, bool is_odd>
Kernel hyperbolic_of_type(Type type) {
  return type == Type::float32   ? hyperbolic<f, is_odd, float>
         : type == Type::float64 ? hyperbolic<f, is_odd, double>
                                 : Kernel(nullptr);
}

}  // namespace

Kernel torch_kernel_of(Op op, Type type) {
  switch (op) {
    case Op::exp: return of_type<at::cpu::exp_out>(type);
    case Op::exp2: return of_type<at::cpu::exp2_out>(type);
    case Op::expm1: return of_type<at::cpu::expm1_out>(type);
    case Op::log: return of_type<at::cpu::log_out>(type);
    case Op::log2: return of_type<at::cpu::log2_out>(type);
    case Op::log10: return of_type<at::cpu::log10_out>(type);
    case Op::log1p: return of_type<at::cpu::log1p_out>(type);
    case Op::sin: return of_type<at::cpu::sin_out>(type);
    case Op::cos: return of_type<at::cpu::cos_out>(type);
    case Op::tan: return of_type<at::cpu::tan_out>(type);
    case Op::asin: return of_type<at::cpu::asin_out>(type);
    case Op::acos: return of_type<at::cpu::acos_out>(type);
    case Op::atan: return of_type<at::cpu::atan_out>(type);
    case Op::sinh: return hyperbolic_of_type<at::cpu::sinh_out, true>(type);
    case Op::cosh: return hyperbolic_of_type<at::cpu::cosh_out, false>(type);
    case Op::asinh: return of_type<at::cpu::asinh_out>(type);
    case Op::acosh: return of_type<at::cpu::acosh_out>(type);
    case Op::atanh: return of_type<at::cpu::atanh_out>(type);
    case Op::tanh: return of_type<at::cpu::tanh_out>(type);
    default: return nullptr;
  }
}

}  // namespace heatpp::detail::fused
