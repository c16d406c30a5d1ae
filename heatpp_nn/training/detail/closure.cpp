#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/training/detail/closure.hpp>

#include <ATen/ATen.h>
#include <torch/optim/lbfgs.h>

namespace heatpp::nn::detail {

using heatpp::detail::raise;

bool steps_by_closure(const torch::optim::Optimizer& optimizer) {
  return dynamic_cast<const torch::optim::LBFGS*>(&optimizer) != nullptr;
}

void check_closure(const Replica& replica, const TrainerOptions& options, std::int64_t batches) {
  if (batches != 1)
    raise<ValueError>("fit",
                      "got LBFGS with {} batches of {} rows in an epoch; expected batch_size to be all rows, as its "
                      "steps compare the losses of one batch",
                      batches, options.batch_size);
  if (options.autocast == float16)
    raise<ValueError>("fit", "got LBFGS with autocast in float16, which leaves steps out; expected bfloat16 or none");
  if (!options.folder.empty())
    raise<ValueError>("fit",
                      "got LBFGS with the folder \"{}\"; expected none, as checkpoints do not hold its history of "
                      "gradients: save_safetensors keeps the weights",
                      options.folder.string());
  if (replica.shard())
    raise<ValueError>("fit", "got LBFGS with a replica whose ranks share its work; expected one without shard");
}

double step_by_closure(Replica& replica, torch::optim::Optimizer& optimizer, const std::optional<double>& max_norm,
                       const std::function<std::array<double, 2>()>& differentiate) {
  std::optional<double> first;
  optimizer.step([&] {
    const auto [loss, weight] = differentiate();
    if (!first) first = loss;
    if (!replica.finish_gradients()) replica.throw_not_finite("Trainer");
    if (max_norm) (void)replica.clip_gradients(*max_norm);
    std::array<double, 2> all{loss * weight, weight};
    replica.topology().comm().allreduce(all);
    return at::scalar_tensor(all[0] / all[1], at::kDouble);
  });
  return *first;
}

}  // namespace heatpp::nn::detail
