#include <heatpp_nn/parallel/mixed_precision.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>

namespace heatpp::nn {

Autocast::Autocast(Dtype dtype, const at::Device& device)
    : device_(device.type()),
      was_enabled_(at::autocast::is_autocast_enabled(device_)),
      former_(at::autocast::get_autocast_dtype(device_)) {
  at::autocast::set_autocast_dtype(device_, heatpp::detail::to_torch(dtype));
  at::autocast::set_autocast_enabled(device_, true);
  at::autocast::increment_nesting();
}

Autocast::~Autocast() {
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, was_enabled_);
  at::autocast::set_autocast_dtype(device_, former_);
}

GradScaler::GradScaler(const GradScalerOptions& options) : options_(options), state_{.scale = options.initial} {
  if (!(options.initial > 0 && options.growth > 1 && options.backoff > 0 && options.backoff < 1))
    heatpp::detail::raise<ValueError>(
        "GradScaler", "got the scale {}, growth {} and backoff {}; expected scale > 0, growth > 1, 0 < backoff < 1",
        options.initial, options.growth, options.backoff);
}

at::Tensor GradScaler::scale(const at::Tensor& loss) const { return loss * state_.scale; }

bool GradScaler::finish(Replica& replica) {
  const auto scale = state_.scale;
  const bool finite = replica.finish_gradients(scale);
  if (!finite) {
    state_ = {.scale = scale * options_.backoff};
  } else if (++state_.good == options_.growth_interval) {
    state_ = {.scale = scale * options_.growth};
  }
  return finite;
}

void GradScaler::agree(const Communicator& comm) {
  std::array<double, 2> least{state_.scale, static_cast<double>(state_.good)};
  comm.allreduce(least, ReduceOp::min);
  state_ = {.scale = least[0], .good = static_cast<std::int64_t>(least[1])};
}

}  // namespace heatpp::nn
