#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/adopt.hpp>
#include <heatpp/core/detail/cuts/layout_of.hpp>
#include <heatpp/core/detail/fused/pending.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/interop/dlpack.hpp>
#include <heatpp/interop/mdspan.hpp>
#include <heatpp/interop/torch.hpp>

#include <ATen/DLConvertor.h>

#include <memory>

namespace heatpp {

at::ScalarType to_torch(Dtype dtype) { return detail::to_torch(dtype); }

DNDarray from_tensor(const at::Tensor& data, const LocalOptions& options) {
  const auto& comm = comm_of(options.comm);
  const auto tensor = detail::fused::given_away(detail::adoptable("from_tensor", data));
  const Shape shape(tensor.sizes().begin(), tensor.sizes().end());
  const auto whole = detail::wrap(tensor, Layout(shape, std::nullopt, comm.size()), comm);
  auto target = detail::layout_of("from_tensor", shape, options, comm);
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
auto* exported(const DNDarray& x, Convert convert) {
  try {
    return convert(x.larray());
  } catch (const c10::Error& error) {
    detail::raise<TypeError>("to_dlpack", "got an array of {}; expected a dtype of DLPack: {}", name(x.dtype()),
                             error.what_without_backtrace());
  }
}

/// Refuses what LibTorch would read wrongly: tensors of another version, of missing devices, and some strides.
template <class Managed>
void check_readable(const Managed& managed) {
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>)
    if (managed.version.major != DLPACK_MAJOR_VERSION)
      detail::raise<TypeError>("from_dlpack", "got a tensor of DLPack {}.{}; expected version {}",
                               managed.version.major, managed.version.minor, DLPACK_MAJOR_VERSION);
  const auto& tensor = managed.dl_tensor;
  if (tensor.device.device_type == kDLCUDA) static_cast<void>(detail::to_torch(gpu(tensor.device.device_id)));
  else if (tensor.device.device_type != kDLCPU)
    detail::raise<ValueError>("from_dlpack", "got a tensor on device type {} of DLPack; expected the CPU or CUDA",
                              static_cast<int>(tensor.device.device_type));
  if (tensor.ndim < 0) detail::raise<ValueError>("from_dlpack", "got {} axes; expected 0 or more", tensor.ndim);
  const Shape shape(tensor.shape, tensor.shape + tensor.ndim);
  detail::check_strides(
      "from_dlpack", shape,
      tensor.strides ? std::optional(Shape(tensor.strides, tensor.strides + tensor.ndim)) : std::nullopt);
}

/// Whether another library allows writing to its tensor.
bool is_writable(const DLManagedTensor&) { return true; }
bool is_writable(const DLManagedTensorVersioned& managed) {
  return (managed.flags & DLPACK_FLAG_BITMASK_READ_ONLY) == 0;
}

/// Returns the tensor that `convert` makes of `managed`, which it keeps. LibTorch knows no offset, so the address
/// includes it meanwhile. LibTorch would free what it refuses, but `managed` does that already.
template <class Managed, class Convert>
at::Tensor converted(const std::shared_ptr<Managed>& managed, Convert convert) {
  auto& tensor = managed->dl_tensor;
  const auto put_back = [given = tensor](DLTensor* changed) { *changed = given; };
  const std::unique_ptr<DLTensor, decltype(put_back)> guard(&tensor, put_back);
  tensor.data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  tensor.byte_offset = 0;
  try {
    return convert(managed.get(), [managed](void*) {});
  } catch (const c10::Error& error) {
    detail::raise<TypeError>("from_dlpack", "got a tensor that LibTorch refuses; expected a dtype of heatpp: {}",
                             error.what_without_backtrace());
  }
}

template <class Managed, class Convert>
DNDarray adopted(Managed* managed, const LocalOptions& options, Convert convert) {
  const std::shared_ptr<Managed> owner(managed, [](Managed* m) {
    if (m->deleter) m->deleter(m);
  });
  return detail::adopt(options, [&]() -> detail::LocalBlock {
    check_readable(*managed);
    return {detail::adoptable("from_dlpack", converted(owner, convert)), is_writable(*managed)};
  });
}

}  // namespace

DLManagedTensor* to_dlpack(const DNDarray& x) {
  if (!x.is_writable())
    detail::raise<ValueError>("to_dlpack",
                              "got an array that must not be written to, which only "
                              "to_dlpack_versioned can say; expected that, or a copy");
  return exported(x, at::toDLPack);
}
DLManagedTensorVersioned* to_dlpack_versioned(const DNDarray& x) {
  auto* const managed = exported(x, at::toDLPackVersioned);
  if (!x.is_writable()) managed->flags |= DLPACK_FLAG_BITMASK_READ_ONLY;
  return managed;
}

DNDarray from_dlpack(DLManagedTensor* tensor, const LocalOptions& options) {
  return adopted(tensor, options, at::fromDLPack);
}
DNDarray from_dlpack(DLManagedTensorVersioned* tensor, const LocalOptions& options) {
  return adopted(tensor, options, at::fromDLPackVersioned);
}

}  // namespace heatpp
