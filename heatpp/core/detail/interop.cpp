#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/interop/torch.hpp>

namespace heatpp {

at::ScalarType to_torch(Dtype dtype) { return detail::to_torch(dtype); }

DNDarray from_tensor(const at::Tensor& data, const LocalOptions& options) {
  const auto& comm = options.comm ? *options.comm : default_comm();
  const Shape shape(data.sizes().begin(), data.sizes().end());
  const auto whole = detail::wrap(data, Layout(shape, std::nullopt, comm.size()), comm);
  Layout target(shape, options.split, comm.size());
  auto block = detail::relayout(whole, target);
  return detail::wrap(std::move(block), std::move(target), comm);
}

}  // namespace heatpp
