#include <heatpp_nn/training/detail/settings.hpp>

#include <heatpp_nn/training/detail/options/fields.hpp>

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace heatpp::detail {

template <>
struct FieldText<at::Tensor> {
  static std::string of(const at::Tensor& numbers) {
    if (!numbers.defined()) return "none";
    const auto values = numbers.detach().to(at::kCPU, at::kDouble).reshape({-1}).contiguous();
    return field_text(std::span(values.const_data_ptr<double>(), static_cast<std::size_t>(values.numel())));
  }
};
template <>
struct FieldText<nn::Metrics> {
  static std::string of(const nn::Metrics& metrics) { return nn::detail::names_of(metrics); }
};

}  // namespace heatpp::detail

namespace heatpp::nn::detail {

std::vector<Setting> settings_of(const ReplicaOptions& options) { return heatpp::detail::settings_of(options); }
std::vector<Setting> settings_of(const DasoOptions& options) { return heatpp::detail::settings_of(options); }
std::vector<Setting> settings_of(const TrainerOptions& options) { return heatpp::detail::settings_of(options); }

std::vector<Setting> settings_of(const std::string& loss, const LossOptions& options) {
  std::vector<Setting> settings{{"loss", loss}};
  heatpp::detail::add_settings(options, "", settings);
  return settings;
}

DasoOptions daso_options(const TrainerOptions& options, const TrainingLength& length, GradScaler* scaler) {
  auto daso = *options.daso;
  const auto share = [&](double of) { return std::llround(of * static_cast<double>(length.total)); };
  if (daso.phases == PhasePlan{})
    daso.phases = {
        .warmup = share(options.phases.warmup), .cooldown = share(options.phases.cooldown), .total = length.total};
  daso.review_every = std::min(daso.review_every, std::max<std::int64_t>(1, length.epoch));
  if (!daso.max_norm) daso.max_norm = options.max_norm;
  daso.scaler = scaler;
  return daso;
}

std::int64_t rows_of_batch(const TrainerOptions& options, std::int64_t rows, int ranks) {
  if (options.remainder == Remainder::join && options.batch_size >= rows) return rows;
  return std::max<std::int64_t>(1, options.batch_size / ranks);
}

double rows_of_rank(const DataLoader& loader) {
  std::int64_t rows = 0;
  for (std::int64_t batch = 0; batch < loader.batches(); ++batch) rows += loader.sampler().count(batch);
  return static_cast<double>(rows);
}

TrainerOptions without_loss_options(TrainerOptions options) {
  options.loss_options.reset();
  return options;
}

}  // namespace heatpp::nn::detail
