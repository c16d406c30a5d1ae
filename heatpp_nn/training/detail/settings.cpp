#include <heatpp_nn/training/detail/settings.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/training/trainer.hpp>

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace heatpp::nn::detail {
namespace {

using heatpp::detail::formatted;

std::string text(const auto& value) { return formatted("{}", value); }
std::string text(Dtype dtype) { return std::string(name(dtype)); }
std::string text(MergePolicy policy) { return std::string(name(policy)); }
std::string text(Scope scope) { return scope == Scope::all ? "all" : "node"; }
std::string text(BufferPolicy policy) { return policy == BufferPolicy::average ? "average" : "rank0"; }
std::string text(Carriers carriers) { return carriers == Carriers::all ? "all" : "rotating"; }
std::string text(PlateauMode mode) { return mode == PlateauMode::min ? "min" : "max"; }
std::string text(ThresholdMode mode) { return mode == ThresholdMode::relative ? "relative" : "absolute"; }
std::string text(Shuffle shuffle) {
  constexpr const char* names[] = {"none", "local", "blocks", "global"};
  return names[static_cast<int>(shuffle)];
}
std::string text(Remainder remainder) {
  constexpr const char* names[] = {"drop", "pad", "join"};
  return names[static_cast<int>(remainder)];
}
std::string text(const PlateauOptions& o) {
  return formatted("(patience {}, threshold {} {}, {})", o.patience, o.threshold, text(o.threshold_mode), text(o.mode));
}
std::string text(const TuningOptions& o) {
  return formatted("(exposed {}, late {}, drift {}, from {} to {})", o.exposed, o.late, o.drift, o.shortest, o.longest);
}
std::string text(const MergeOptions& o) {
  return formatted("{} (alpha {}, beta {}, rate {}, momentum {})", text(o.policy), o.alpha, o.beta, o.outer_rate,
                   o.outer_momentum);
}
std::string text(const IntervalOptions& o) {
  return formatted("({}, {}, {}) up to {} by {}, local skips {}, measured {}", o.first.batches, o.first.wait,
                   o.first.local, o.longest, o.factor, o.local_skips, o.measured);
}
std::string text(Reduction reduction) { return reduction == Reduction::mean ? "mean" : "sum"; }
std::string text(const at::Tensor& numbers) {
  if (!numbers.defined()) return "none";
  std::string list;
  const auto values = numbers.detach().to(at::kCPU, at::kDouble).reshape({-1}).contiguous();
  for (const auto value : std::span(values.const_data_ptr<double>(), static_cast<std::size_t>(values.numel())))
    list += formatted("{}{}", list.empty() ? "" : ", ", value);
  return "[" + list + "]";
}
template <class T>
std::string text_or_none(const std::optional<T>& value) {
  return value ? text(*value) : "none";
}

}  // namespace

std::vector<Setting> settings_of(const ReplicaOptions& o) {
  return {{"broadcast", text(o.broadcast)}, {"bucket_bytes", text(o.gradients.bucket_bytes)},
          {"wire", text(o.gradients.wire)}, {"reproducible", text(o.gradients.reproducible)},
          {"buffers", text(o.buffers)},     {"shard", text_or_none(o.shard)}};
}

std::vector<Setting> settings_of(const DasoOptions& o) {
  return {{"warmup", text(o.phases.warmup)},
          {"cooldown", text(o.phases.cooldown)},
          {"total", text_or_none(o.phases.total)},
          {"interval", text(o.interval)},
          {"review_every", text(o.review_every)},
          {"plateau", text(o.plateau)},
          {"merge", text(o.merge)},
          {"carriers", text(o.carriers)},
          {"nodes_count_alike", text(o.nodes_count_alike)},
          {"wire", text(o.wire)},
          {"max_norm", text_or_none(o.max_norm)},
          {"tuning", text_or_none(o.tuning)},
          {"scaler", o.scaler ? "some" : "none"}};
}

std::vector<Setting> settings_of(const std::string& loss, const LossOptions& o) {
  return {{"loss", loss},
          {"reduction", text(o.reduction)},
          {"ignore_index", text_or_none(o.ignore_index)},
          {"class_weights", text(o.class_weights)},
          {"label_smoothing", text(o.label_smoothing)},
          {"delta", text_or_none(o.delta)},
          {"pos_weight", text(o.pos_weight)}};
}

std::vector<Setting> settings_of(const TrainerOptions& o) {
  std::vector<Setting> settings{{"epochs", text(o.epochs)},
                                {"batch_size", text(o.batch_size)},
                                {"shuffle", text(o.shuffle)},
                                {"seed", text(o.seed)},
                                {"remainder", text(o.remainder)},
                                {"loss_returns_weight", text(o.loss_returns_weight)},
                                {"rate", o.rate ? "some" : "none"},
                                {"daso", o.daso ? "some" : "none"},
                                {"phases", formatted("({}, {})", o.phases.warmup, o.phases.cooldown)},
                                {"autocast", text_or_none(o.autocast)},
                                {"max_norm", text_or_none(o.max_norm)},
                                {"ema", text_or_none(o.ema)},
                                {"metrics", names_of(o.metrics)},
                                {"stop", text_or_none(o.stop)},
                                {"folder", formatted("\"{}\"", o.folder.string())},
                                {"resume", text(o.resume)},
                                {"keep", text(o.keep)},
                                {"checkpoint_every", text(o.checkpoint_every)}};
  for (auto& setting : settings_of(o.daso.value_or(DasoOptions()))) settings.push_back(std::move(setting));
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

TrainerOptions without_loss_options(TrainerOptions options) {
  options.loss_options.reset();
  return options;
}

}  // namespace heatpp::nn::detail
