#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/redistribute.hpp>

namespace heatpp {
namespace {

[[maybe_unused]] const bool allocator_installed = (detail::install_allocator(), true);

}  // namespace

const Layout& DNDarray::layout() const { return impl_->layout; }
const Communicator& DNDarray::comm() const { return impl_->comm; }
const at::Tensor& DNDarray::larray() const { return impl_->local; }
bool DNDarray::is_writable() const { return impl_->writable; }
bool detail::is_sole_handle(const DNDarray& x) { return x.impl_.use_count() == 1; }
Dtype DNDarray::dtype() const { return detail::from_torch(impl_->local.scalar_type()); }

Device DNDarray::device() const {
  const auto device = impl_->local.device();
  return {device.is_cuda() ? Device::Type::cuda : Device::Type::cpu, device.has_index() ? device.index() : 0};
}

DNDarray DNDarray::astype(Dtype dtype) const {
  if (dtype == this->dtype()) return *this;
  return detail::wrap(impl_->local.to(detail::to_torch(dtype)), layout(), comm());
}

DNDarray DNDarray::to_device(const Device& device) const {
  if (device == this->device()) return *this;
  return detail::wrap(impl_->local.to(detail::to_torch(device)), layout(), comm());
}

std::vector<Shape> lshape_map(const DNDarray& x) {
  std::vector<Shape> shapes;
  for (int rank = 0; rank < x.comm().size(); ++rank) shapes.push_back(x.layout().local_shape(rank));
  return shapes;
}

DNDarray copy(const DNDarray& x) {
  return detail::wrap(x.larray().clone(at::MemoryFormat::Contiguous), x.layout(), x.comm());
}

namespace {

/// The one element, on every rank.
at::Tensor single_element(const DNDarray& x) {
  if (x.size() != 1)
    detail::raise<ValueError>("item", "got an array of shape {}; expected exactly one element", to_string(x.shape()));
  auto element = x.larray().cpu();
  if (!x.split()) return element;
  if (element.numel() == 0) element = at::empty({1}, element.options());
  element = element.contiguous();
  x.comm().broadcast(detail::buffer_of(element), x.layout().owner(0));
  return element;
}

template <class T>
at::Tensor contiguous_as(const at::Tensor& tensor) {
  return tensor.to(at::kCPU, detail::to_torch(dtype_of<T>())).contiguous();
}

}  // namespace

template <Element T>
T DNDarray::item() const {
  return *static_cast<const T*>(contiguous_as<T>(single_element(*this)).data_ptr());
}

template <Element T>
std::vector<T> DNDarray::to_vector() const {
  const auto all = contiguous_as<T>(resplit(*this, std::nullopt).larray());
  const auto* first = static_cast<const T*>(all.data_ptr());
  return std::vector<T>(first, first + all.numel());
}

template <Element T>
std::span<T> DNDarray::local() const {
  const auto& block = impl_->local;
  if (dtype_of<T>() != dtype())
    detail::raise<TypeError>("local", "got an array of {}; expected {}", name(dtype()), name(dtype_of<T>()));
  if (!block.is_contiguous() || !block.is_cpu())
    detail::raise<ValueError>("local", "got a block with strides {} on {}; expected a contiguous one on the CPU",
                              detail::tuple_text(block.strides()), to_string(device()));
  return {static_cast<T*>(block.data_ptr()), static_cast<std::size_t>(block.numel())};
}

#define HEATPP_INSTANTIATE(T)                             \
  template T DNDarray::item<T>() const;                   \
  template std::vector<T> DNDarray::to_vector<T>() const; \
  template std::span<T> DNDarray::local<T>() const;
HEATPP_INSTANTIATE(bool)
HEATPP_INSTANTIATE(std::uint8_t)
HEATPP_INSTANTIATE(std::int8_t)
HEATPP_INSTANTIATE(std::int16_t)
HEATPP_INSTANTIATE(std::int32_t)
HEATPP_INSTANTIATE(long)
HEATPP_INSTANTIATE(long long)
HEATPP_INSTANTIATE(float)
HEATPP_INSTANTIATE(double)
HEATPP_INSTANTIATE(std::complex<float>)
HEATPP_INSTANTIATE(std::complex<double>)
#undef HEATPP_INSTANTIATE

}  // namespace heatpp
