#include <heatpp_nn/training/detail/closure.hpp>

#include <heatpp/comm/detail/raise.hpp>

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

WeighedLoss step_by_closure(Replica& replica, torch::optim::Optimizer& optimizer, const std::optional<double>& max_norm,
                            const std::function<WeighedLoss()>& differentiate) {
  std::optional<WeighedLoss> first;
  optimizer.step([&] {
    const auto loss = differentiate();
    if (!first) first = {.value = loss.value, .weight = loss.weight, .is_sum = loss.is_sum};
    if (!replica.finish_gradients()) replica.throw_not_finite("Trainer");
    if (max_norm) (void)replica.clip_gradients(*max_norm);
    std::array<double, 3> all{loss.value * loss.weight, loss.weight, loss.is_sum ? 1.0 : 0.0};
    replica.topology().comm().allreduce(all);
    if (all[1] == 0) throw_nothing_counts("fit");
    return at::scalar_tensor(all[2] > 0 ? all[0] : all[0] / all[1], at::kDouble);
  });
  return *first;
}

}  // namespace heatpp::nn::detail
