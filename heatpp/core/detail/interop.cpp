#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/interop/dlpack.hpp>
#include <heatpp/interop/mdspan.hpp>
#include <heatpp/interop/torch.hpp>

#include <ATen/DLConvertor.h>

namespace heatpp {

at::ScalarType to_torch(Dtype dtype) { return detail::to_torch(dtype); }

DNDarray from_tensor(const at::Tensor& data, const LocalOptions& options) {
  static_cast<void>(detail::from_torch(data.scalar_type()));
  const auto& comm = options.comm ? *options.comm : default_comm();
  const Shape shape(data.sizes().begin(), data.sizes().end());
  const auto whole = detail::wrap(data, Layout(shape, std::nullopt, comm.size()), comm);
  Layout target(shape, options.split, comm.size());
  auto block = detail::relayout(whole, target);
  return detail::wrap(std::move(block), std::move(target), comm);
}

detail::StridedBlock detail::strided_block(const DNDarray& x, Dtype dtype, std::size_t axes) {
  const auto& block = x.larray();
  if (x.dtype() != dtype)
    raise<TypeError>("local_view", "got an array of {}; expected {}", name(x.dtype()), name(dtype));
  if (x.shape().size() != axes || !block.is_cpu())
    raise<ValueError>("local_view", "got an array of shape {} on {}; expected {} axes and the CPU",
                      to_string(x.shape()), to_string(x.device()), axes);
  return {block.data_ptr(), block.sizes().vec(), block.strides().vec()};
}

namespace {

template <class Convert>
auto exported(const DNDarray& x, Convert convert) {
  try {
    return convert(x.larray());
  } catch (const c10::Error& error) {
    detail::raise<TypeError>("to_dlpack", "got an array of {}; expected a dtype of DLPack: {}", name(x.dtype()),
                             error.what_without_backtrace());
  }
}

/// The tensor that `convert` makes of `managed`, whose deleter is called if it fails.
template <class Managed, class Convert>
DNDarray adopted(Managed* managed, const LocalOptions& options, Convert convert) {
  at::Tensor block;
  all_or_none(options.comm ? *options.comm : default_comm(), [&] {
    try {
      block = convert(managed);
    } catch (const c10::Error& error) {
      if (managed->deleter) managed->deleter(managed);
      detail::raise<TypeError>("from_dlpack", "got a tensor that LibTorch refuses; expected a dtype of heatpp: {}",
                               error.what_without_backtrace());
    }
    static_cast<void>(detail::from_torch(block.scalar_type()));
  });
  return from_local(block, options);
}

}  // namespace

DLManagedTensor* to_dlpack(const DNDarray& x) { return exported(x, at::toDLPack); }
DLManagedTensorVersioned* to_dlpack_versioned(const DNDarray& x) { return exported(x, at::toDLPackVersioned); }

DNDarray from_dlpack(DLManagedTensor* tensor, const LocalOptions& options) {
  return adopted(tensor, options, [](auto* t) { return at::fromDLPack(t); });
}
DNDarray from_dlpack(DLManagedTensorVersioned* tensor, const LocalOptions& options) {
  return adopted(tensor, options, [](auto* t) { return at::fromDLPackVersioned(t); });
}

}  // namespace heatpp
