// A GPU for LibTorch whose memory faults when the host touches it. Memory, copies and streams are those of
// comm/standin. LibTorch computes on the CPU; as with CUDA, operands must be on one device, and operations without a
// GPU kernel fail. It is loaded before LibTorch is used, by HEATPP_TEST_DEVICE=standin.
#include <dlfcn.h>

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/NativeFunctions.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <cstdlib>
#include <optional>
#include <span>
#include <string_view>

namespace {

constexpr int success = 0;

template <class F>
F* function(const char* name) {
  static void* const library = ::dlopen(std::getenv("HEATPP_CUDART"), RTLD_NOW | RTLD_LOCAL);
  auto* const found = library ? ::dlsym(library, name) : nullptr;
  TORCH_CHECK(found, "the stand-in has no ", name);
  return reinterpret_cast<F*>(found);
}

void free_memory(void* memory) {
  if (memory) function<int(void*)>("cudaFree")(memory);
}

struct Memory final : c10::Allocator {
  c10::DataPtr allocate(std::size_t bytes) override {
    void* memory = nullptr;
    if (bytes > 0)
      TORCH_CHECK(function<int(void**, std::size_t)>("cudaMalloc")(&memory, bytes) == success, "no memory of a device");
    return {memory, memory, &free_memory, at::Device(at::kCUDA, 0)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_memory; }
  void copy_data(void*, const void*, std::size_t) const override { TORCH_CHECK(false, "not called"); }
};
Memory memory;

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::DeviceType::CUDA; }
  c10::Device exchangeDevice(c10::Device device) const override { return device; }
  c10::Device getDevice() const override { return {at::kCUDA, 0}; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device device) const override { return c10::Stream(c10::Stream::DEFAULT, device); }
  c10::Stream getDefaultStream(c10::Device device) const override { return c10::Stream(c10::Stream::DEFAULT, device); }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
  void* getStreamNativeHandle(const c10::Stream) const override { return nullptr; }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
};

}  // namespace

/// LibTorch finds this class by its name.
struct CUDAHooks final : at::CUDAHooksInterface {
  explicit CUDAHooks(at::CUDAHooksArgs) {}
  void init() const override {}
  bool hasCUDA() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex current_device() const override { return 0; }
  int getNumGPUs() const override { return 1; }
};

namespace at {  // the macro belongs here
using ::CUDAHooks;
REGISTER_CUDA_HOOKS(CUDAHooks);
}  // namespace at

namespace c10::impl {
C10_REGISTER_GUARD_IMPL(CUDA, Guard);
}  // namespace c10::impl

namespace {

constexpr c10::DispatchKeySet keys(c10::DispatchKey::CUDA);

/// Returns the elements for the host, after operations under way have ended.
at::Tensor on_host(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_cuda()) return tensor;
  const auto options = tensor.options().device(at::kCPU);
  if (tensor.numel() == 0) return at::empty_strided(tensor.sizes(), tensor.strides(), options);
  function<int(void*)>("cudaStreamSynchronize")(nullptr);
  auto* const inside = function<void*(const void*)>("standin_seen")(tensor.data_ptr());
  auto host = at::from_blob(inside, tensor.sizes(), tensor.strides(), options);
  host._set_conj(tensor.is_conj());
  host._set_neg(tensor.is_neg());
  return host;
}

at::Tensor empty(at::IntArrayRef sizes, std::optional<at::ScalarType> type, std::optional<at::Layout>,
                 std::optional<at::Device>, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(sizes, &memory, keys, c10::dtype_or_default(type), format);
}
at::Tensor empty_strided(at::IntArrayRef sizes, at::IntArrayRef strides, std::optional<at::ScalarType> type,
                         std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(sizes, strides, &memory, keys, c10::dtype_or_default(type));
}
at::Tensor& copy(at::Tensor& to, const at::Tensor& from, bool) {
  on_host(to).copy_(on_host(from));
  return to;
}
const at::Tensor& resize(const at::Tensor& tensor, at::IntArrayRef sizes, std::optional<at::MemoryFormat>) {
  tensor.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
  const auto bytes = at::detail::computeStorageNbytesContiguous(sizes, tensor.element_size());
  const auto& storage = tensor.storage();
  if (bytes <= storage.nbytes()) return tensor;
  storage.set_data_ptr_noswap(memory.allocate(bytes));
  storage.unsafeGetStorageImpl()->set_nbytes(bytes);
  return tensor;
}
at::Tensor on_device(const at::Tensor& tensor) {
  auto result = at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(at::kCUDA, 0));
  return result.copy_(tensor);
}

/// Indices may be on another device.
bool mixes_devices(std::string_view name) {
  return name == "aten::index" || name == "aten::index_put_" || name == "aten::_index_put_impl_" ||
         name == "aten::_unsafe_index";
}
bool is_for_floats(std::string_view name) {
  for (const auto* each : {"aten::mm", "aten::addmm", "aten::addmm_", "aten::bmm", "aten::baddbmm", "aten::baddbmm_",
                           "aten::dot", "aten::vdot", "aten::addmv", "aten::addmv_", "aten::addr"})
    if (name == each) return true;
  return false;
}

/// The tensors among an operator's arguments, and their replacements.
class Exchanged {
 public:
  explicit Exchanged(std::string_view name) : name_(name) {}
  at::Tensor operator()(const at::Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    if (tensor.is_cuda()) any_device_ = true;
    else if (tensor.dim() > 0) any_host_ = true;
    TORCH_CHECK(mixes_devices(name_) || !(any_device_ && any_host_),
                "Expected all tensors to be on the same device: ", std::string(name_));
    TORCH_CHECK(!is_for_floats(name_) || tensor.is_floating_point() || tensor.is_complex(), std::string(name_),
                " is not implemented for ", tensor.scalar_type());
    auto host = on_host(tensor);
    pairs_.emplace_back(tensor, host);
    return host;
  }
  at::Tensor back(const at::Tensor& host) const {
    if (!host.defined()) return host;
    for (const auto& [device, alias] : pairs_)
      if (alias.is_same(host)) return device.numel() == 0 ? device.resize_(host.sizes()).copy_(host) : device;
    return on_device(host);
  }

 private:
  std::string_view name_;
  bool any_device_ = false, any_host_ = false;
  std::vector<std::pair<at::Tensor, at::Tensor>> pairs_;
};

template <class F>
c10::List<at::Tensor> each_of(const c10::IValue& tensors, F f) {
  c10::List<at::Tensor> list;
  for (const auto& tensor : tensors.toTensorVector()) list.push_back(f(tensor));
  return list;
}

void by_processor(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& schema = op.schema();
  Exchanged exchanged(schema.name());
  for (auto& value : std::span(*stack).last(schema.arguments().size())) {
    if (value.isTensor()) value = exchanged(value.toTensor());
    else if (value.isDevice()) value = at::Device(at::kCPU);
    else if (value.isTensorList()) value = each_of(value, [&](const auto& tensor) { return exchanged(tensor); });
    else if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const auto& each : value.toOptionalTensorVector())
        list.push_back(each ? std::optional(exchanged(*each)) : std::nullopt);
      value = list;
    }
  }
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  for (auto& value : std::span(*stack).last(schema.returns().size())) {
    if (value.isTensor()) value = exchanged.back(value.toTensor());
    else if (value.isTensorList()) value = each_of(value, [&](const auto& tensor) { return exchanged.back(tensor); });
  }
}

const bool registered = (c10::SetAllocator(c10::DeviceType::CUDA, &memory), true);

}  // namespace

TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("copy_", &copy);
  library.impl("resize_", &resize);
  library.impl("view", &at::native::view);
  library.impl("as_strided", &at::native::as_strided_tensorimpl);
  library.impl("_reshape_alias", &at::native::_reshape_alias);
  library.impl("unfold", &at::native::unfold);
  library.impl("alias", &at::native::alias);
  library.impl("view_as_real", &at::native::view_as_real);
  library.impl("view_as_complex", &at::native::view_as_complex);
}

TORCH_LIBRARY_IMPL(_, CUDA, library) { library.fallback(torch::CppFunction::makeFromBoxedFunction<&by_processor>()); }
