#include <heatpp/core/detail/fused/kernels.hpp>

#include <ATen/ATen.h>
#include <ATen/CPUFunctions.h>
#include <ATen/core/LegacyTypeDispatch.h>

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

/// Calls LibTorch's function of a run, so that its elements have the same bits as in a whole block.
template <Function f, class T>
void by_torch(const void* x, const void*, const void*, void* out, std::int64_t n) {
  static thread_local Run<T> from, into;
  const at::AutoDispatchBelowAutograd without_gradients;
  f(into.at(out, n), from.at(const_cast<void*>(x), n));
}

template <Function f>
Kernel of_type(Type type) {
  return type == Type::float32 ? by_torch<f, float> : type == Type::float64 ? by_torch<f, double> : Kernel(nullptr);
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
    case Op::asinh: return of_type<at::cpu::asinh_out>(type);
    case Op::acosh: return of_type<at::cpu::acosh_out>(type);
    case Op::tanh: return of_type<at::cpu::tanh_out>(type);
    default: return nullptr;
  }
}

}  // namespace heatpp::detail::fused
