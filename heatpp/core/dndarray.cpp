#include <heatpp/core/dndarray.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/environment.hpp>
#include <heatpp/core/detail/cuts/boxes.hpp>
#include <heatpp/core/detail/fused/pending.hpp>
#include <heatpp/core/detail/host/threads.hpp>
#include <heatpp/core/detail/ownership.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>

#include <cstdlib>
#include <string_view>

namespace heatpp {
namespace {

/// Before main: LibTorch keeps the host's allocator until an Environment or the host's variable asks for ours.
[[maybe_unused]] const bool prepared = [] {
  const char* const allocator = std::getenv("HEATPP_ALLOCATOR");
  if (allocator && std::string_view(allocator) == "heatpp") detail::install_allocator();
  detail::on_environment([](const EnvironmentOptions& options) {
    if (options.allocator) detail::install_allocator();
  });
  detail::take_host_threads();
  return true;
}();

const DNDarray::Impl& checked(const std::shared_ptr<DNDarray::Impl>& impl) {
  if (!impl)
    detail::raise<ValueError>("DNDarray",
                              "got an array that nothing was assigned to, or that was moved from; expected "
                              "one with elements");
  return *impl;
}

/// Describes how an array is cut if that is not even.
std::string uneven_text(const DNDarray& x) {
  const auto& layout = x.layout();
  if (layout.is_balanced() || layout.is_grid()) return "";
  Shape counts;
  for (int rank = 0; rank < layout.ranks(); ++rank) counts.push_back(layout.count(rank));
  return detail::formatted(" in parts of {}", to_string(counts));
}

/// Notes that others may write to the elements at any time. Adopted memory is known as such.
void give_away(DNDarray::Impl& impl) {
  if (impl.ownership < detail::Ownership::in_place) impl.local = detail::fused::given_away(impl.local);
}

std::optional<at::Tensor> fused_as(const at::Tensor& block, at::ScalarType type) {
  namespace fused = detail::fused;
  const std::span blocks(&block, 1);
  const auto wanted = fused::type_of(type);
  if (!wanted || !fused::is_worthwhile(blocks)) return std::nullopt;
  return fused::fuse("astype", blocks,
                     [&](auto& formula, auto values) { return formula.converted(values[0], *wanted); });
}

}  // namespace

const Layout& DNDarray::layout() const& { return checked(impl_).layout; }
const Communicator& DNDarray::comm() const& { return checked(impl_).comm; }
const at::Tensor& DNDarray::larray() const& {
  detail::take_host_threads();
  return detail::fused::computed(checked(impl_).local);
}
at::Tensor DNDarray::larray() && { return std::as_const(*this).larray(); }
bool DNDarray::is_writable() const { return checked(impl_).ownership != detail::Ownership::read_only; }
bool DNDarray::is_adopted() const { return checked(impl_).ownership >= detail::Ownership::in_place; }
Dtype DNDarray::dtype() const { return detail::from_torch(checked(impl_).local.scalar_type()); }

const at::Tensor& DNDarray::mutable_larray() & {
  detail::own("mutable_larray", *this);
  give_away(*impl_);
  return larray();
}

DNDarray::DNDarray(const DNDarray& other)
    : impl_(other.impl_ && other.impl_->ownership != detail::Ownership::shared
                ? detail::sharing({other.impl_->local, other.impl_->layout, other.impl_->comm})
                : other.impl_) {}

DNDarray& DNDarray::operator=(const DNDarray& other) & {
  if (this == &other) return *this;
  if (impl_ && is_adopted()) write_elements(other);
  else impl_ = DNDarray(other).impl_;
  return *this;
}

DNDarray& DNDarray::operator=(DNDarray&& other) & {
  if (impl_ && is_adopted() && !(other.impl_ && other.is_adopted())) write_elements(other);
  else impl_ = std::move(other.impl_);
  return *this;
}

void DNDarray::write_elements(const DNDarray& value) {
  if (value.dtype() != dtype() || value.layout() != layout() || !value.comm().same_ranks(comm()))
    detail::raise<ValueError>(
        "operator=",
        "got an array of shape {}, {}, {}{} for one of shape {}, {}, {}{} in adopted memory; expected "
        "equal ones, an array of another name, or x(ellipsis) = value, which converts",
        to_string(value.shape()), name(value.dtype()), cut_text(value.layout()), uneven_text(value), to_string(shape()),
        name(dtype()), cut_text(layout()), uneven_text(*this));
  const auto elements = value.larray().is_alias_of(larray()) ? value.larray().clone() : value.larray();
  mutable_larray().copy_(elements);
}

Device DNDarray::device() const {
  const auto device = checked(impl_).local.device();
  return {device.is_cuda() ? Device::Type::cuda : Device::Type::cpu, device.has_index() ? device.index() : 0};
}

DNDarray DNDarray::astype(Dtype dtype) const {
  if (dtype == this->dtype()) return *this;
  if (auto block = fused_as(impl_->local, detail::to_torch(dtype))) return detail::wrap(*block, layout(), comm());
  return detail::wrap(larray().to(detail::to_torch(dtype)), layout(), comm());
}

DNDarray DNDarray::to_device(const Device& device) const {
  if (device == this->device()) return *this;
  return detail::wrap(larray().to(detail::to_torch(device)), layout(), comm());
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

/// Returns the one element, on every rank.
at::Tensor single_element(const DNDarray& x) {
  if (x.size() != 1)
    detail::raise<ValueError>("item", "got an array of shape {}; expected exactly one element", to_string(x.shape()));
  auto element = x.larray().cpu();
  if (!x.layout().is_cut()) return element;
  if (element.numel() == 0) element = at::empty({1}, element.options());
  element = element.contiguous();
  x.comm().broadcast(detail::buffer_of(element), detail::owner_at(x.layout(), Shape(x.shape().size(), 0)));
  return element;
}

template <class T>
at::Tensor contiguous_as(const char* op, const at::Tensor& tensor) {
  if (tensor.is_complex() && !is_complex(dtype_of<T>()))
    detail::raise<TypeError>(op, "got an array of {} as {}; expected a complex type, or real(x)",
                             name(detail::from_torch(tensor.scalar_type())), name(dtype_of<T>()));
  return tensor.to(at::kCPU, detail::to_torch(dtype_of<T>())).contiguous();
}

}  // namespace

template <Element T>
T DNDarray::item() const {
  return *static_cast<const T*>(contiguous_as<T>("item", single_element(*this)).data_ptr());
}

template <Element T>
std::vector<T> DNDarray::to_vector() const {
  const auto all = contiguous_as<T>("to_vector", heatpp::resplit(*this, std::nullopt).larray());
  const auto* first = static_cast<const T*>(all.data_ptr());
  return std::vector<T>(first, first + all.numel());
}

template <Element T>
std::span<const T> DNDarray::local() const& {
  const auto& block = larray();
  if (dtype_of<T>() != dtype())
    detail::raise<TypeError>("local", "got an array of {}; expected {}", name(dtype()), name(dtype_of<T>()));
  // Whether a block is in C order depends on the layout, which the caller should not see here.
  if (!block.is_contiguous() && !is_adopted()) impl_->local = block.contiguous();
  if (!block.is_contiguous() || !block.is_cpu())
    detail::raise<ValueError>("local", "got a block with strides {} on {}; expected a contiguous one on the CPU",
                              detail::tuple_text(block.strides()), to_string(device()));
  return {static_cast<const T*>(block.const_data_ptr()), static_cast<std::size_t>(block.numel())};
}

template <Element T>
std::span<T> DNDarray::local() & {
  detail::own("local", *this);
  const auto elements = std::as_const(*this).local<T>();
  give_away(*impl_);
  return {const_cast<T*>(elements.data()), elements.size()};  // memory of this array alone
}

#define HEATPP_INSTANTIATE(T)                              \
  template T DNDarray::item<T>() const;                    \
  template std::vector<T> DNDarray::to_vector<T>() const;  \
  template std::span<const T> DNDarray::local<T>() const&; \
  template std::span<T> DNDarray::local<T>()&;
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
