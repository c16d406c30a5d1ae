#include <heatpp/core/detail/torch.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/ownership.hpp>

#include <c10/core/impl/VirtualGuardImpl.h>

namespace heatpp::detail {
namespace {

constexpr at::ScalarType torch_types[dtype_count] = {at::kBool,  at::kByte,   at::kChar,         at::kShort,
                                                     at::kInt,   at::kLong,   at::kHalf,         at::kBFloat16,
                                                     at::kFloat, at::kDouble, at::kComplexFloat, at::kComplexDouble};

}  // namespace

at::ScalarType to_torch(Dtype dtype) { return torch_types[static_cast<int>(dtype)]; }

Dtype from_torch(at::ScalarType type) {
  for (int i = 0; i < dtype_count; ++i)
    if (torch_types[i] == type) return static_cast<Dtype>(i);
  raise<TypeError>("from_torch", "got a tensor of {}; expected one of the dtypes of heatpp", at::toString(type));
}

at::Scalar to_torch(const Scalar& scalar) {
  if (scalar.is_bool()) return scalar.to<bool>();
  if (scalar.is_integral()) return scalar.to<std::int64_t>();
  if (scalar.is_floating()) return scalar.to<double>();
  return c10::complex<double>(scalar.to<std::complex<double>>());
}

DNDarray wrap(at::Tensor local, Layout layout, const Communicator& comm) {
  const auto expected = layout.local_shape(comm.rank());
  if (local.sizes() != at::IntArrayRef(expected))
    raise<Error>("wrap", "got a local block of shape {} on rank {}; expected {}", tuple_text(local.sizes()),
                 comm.rank(), to_string(expected));
  // Messages contain the bytes in memory, which LibTorch's lazily conjugated and negated tensors change later.
  if (local.is_conj() || local.is_neg()) local = local.resolve_conj().resolve_neg();
  // A view in LibTorch keeps its base alive, as if the base still had the elements.
  if (local.is_view()) local = at::Tensor(local.variable_data());
  return DNDarray(sharing({std::move(local), std::move(layout), comm}));
}

Buffer buffer_of(const at::Tensor& tensor) {
  const auto dtype = from_torch(tensor.scalar_type());
  if (!tensor.is_cuda()) return {tensor.data_ptr(), tensor.numel(), dtype};
  const auto stream = c10::impl::VirtualGuardImpl(at::kCUDA).getStream(tensor.device());
  return {tensor.data_ptr(), tensor.numel(), dtype, {.device = tensor.get_device(), .stream = stream.native_handle()}};
}

}  // namespace heatpp::detail
