#include <heatpp_nn/training/trainer.hpp>

#include <heatpp/comm/recovery/recovery.hpp>
#include <heatpp/core/detail/host/threads.hpp>
#include <heatpp_nn/detail/in_words.hpp>
#include <heatpp_nn/training/cores.hpp>
#include <heatpp_nn/training/detail/fit/fit.hpp>

namespace heatpp::nn {

Trainer::Trainer(Network network, torch::optim::Optimizer& optimizer, Loss loss, TrainerOptions options)
    : impl_(new Impl{std::move(network), optimizer, std::move(loss), std::move(options)}) {
  detail::check(impl_->comm(), impl_->loss, impl_->options);
  impl_->threads = share_of_cores(impl_->comm());
  if (impl_->options.rate) impl_->rates.emplace(optimizer);
}

Trainer::Trainer(const Network& network, torch::optim::Optimizer& optimizer, const char* loss, TrainerOptions options)
    : Trainer(network, optimizer, detail::agreed_loss(network.replica().topology().comm(), loss, options.loss_options),
              detail::without_loss_options(options)) {}

Trainer::~Trainer() = default;
Trainer::Trainer(Trainer&&) noexcept = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;

TrainingResult Trainer::fit(const Dataset& training, const std::optional<Dataset>& validation) {
  detail::check_fit(impl_->comm(), impl_->options, training, validation);
  detail::check_optimizer(impl_->replica(), impl_->optimizer);
  const heatpp::detail::ThreadsInScope threads(impl_->threads);
  restore_raw_weights();
  return detail::in_words("fit", [&] { return run(training, validation); });
}

/// Trains on the ranks that are left each time that others end.
TrainingResult Trainer::run(Dataset training, std::optional<Dataset> validation) {
  std::optional<Fit::Reached> from;
  for (;;) {
    std::optional<Fit> fit;
    try {
      if (from) {
        training = training.on_remaining(impl_->comm());
        if (validation) validation = validation->on_remaining(impl_->comm());
        from->move_to(training.size());
      }
      fit.emplace(*impl_, training, validation, from);
      return fit->run();
    } catch (const ProcessFailure&) {
      if (!survives_failures() || (!fit && !from)) throw;
      if (fit) from = fit->reached();
    }
    fit.reset();
    from = from->continued(impl_->training());
  }
}

std::map<std::string, at::Tensor> Trainer::raw_weights() const {
  std::map<std::string, at::Tensor> weights;
  const auto& module = *impl_->replica().shared_module();
  for (const auto& tensors : {module.named_parameters(), module.named_buffers()})
    for (const auto& item : tensors)
      if (item.value().defined())
        weights[item.key()] = (impl_->mean ? impl_->mean->raw(item.value()) : item.value()).detach().clone();
  return weights;
}

void Trainer::restore_raw_weights() {
  if (impl_->mean) impl_->mean->hide();
}

Evaluation Trainer::evaluate(const Dataset& dataset) {
  const heatpp::detail::ThreadsInScope threads(impl_->threads);
  const detail::WeightMean::InPlace mean(impl_->mean.get());
  return impl_->evaluate(dataset);
}

DNDarray Trainer::predict(const DNDarray& x) {
  const heatpp::detail::ThreadsInScope threads(impl_->threads);
  const detail::WeightMean::InPlace mean(impl_->mean.get());
  return nn::predict(impl_->network, x);
}

std::vector<DNDarray> Trainer::predict(const std::vector<DNDarray>& inputs) {
  const heatpp::detail::ThreadsInScope threads(impl_->threads);
  const detail::WeightMean::InPlace mean(impl_->mean.get());
  return nn::predict(impl_->network, inputs);
}

const DASO* Trainer::daso() const { return impl_->daso.get(); }

}  // namespace heatpp::nn
