#include <heatpp_nn/training/detail/trainer_checks.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/parallel/detail/optimizer_state.hpp>
#include <heatpp_nn/training/detail/settings.hpp>

#include <c10/util/Type.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <exception>

namespace heatpp::nn::detail {

using heatpp::detail::formatted;
using heatpp::detail::raise;

namespace {

/// Checks the options for gradients and weights.
void check_weights(const TrainerOptions& o) {
  if (o.ema && !(*o.ema > 0 && *o.ema < 1))
    raise<ValueError>("Trainer", "got a running mean that keeps {}; expected a share between 0 and 1", *o.ema);
  if (o.max_norm && !(*o.max_norm > 0))
    raise<ValueError>("Trainer", "got the largest norm {}; expected a positive one", *o.max_norm);
  if (o.stop && o.stop->mode != PlateauMode::min)
    raise<ValueError>("Trainer", "got stop for a loss that is to grow; expected PlateauMode::min");
}

/// Checks the shares of DASO's phases, which mean nothing without it.
void check_phases(const TrainerOptions& o) {
  const auto& [warmup, cooldown] = o.phases;
  if (!(warmup >= 0 && cooldown >= 0 && warmup + cooldown <= 1))
    raise<ValueError>("Trainer", "got shares {} and {} of warm-up and cool-down; expected some that are 1 at most",
                      warmup, cooldown);
  if (warmup == 0 && cooldown == 0) return;
  if (!o.daso)
    raise<ValueError>("Trainer",
                      "got warm-up {} and cool-down {} without daso, whose phases they are; expected daso, too, or "
                      "neither: the learning rate rises by rate",
                      warmup, cooldown);
  if (o.daso->phases != PhasePlan{})
    raise<ValueError>("Trainer", "got warm-up {} and cool-down {}, and phases in daso; expected one of both", warmup,
                      cooldown);
}

void check_range(const TrainerOptions& o) {
  if (o.epochs < 0 || o.batch_size < 1 || o.checkpoint_every < 0)
    raise<ValueError>("Trainer",
                      "got {} epochs, batches of {} rows, a checkpoint every {}; expected at least 0, 1 and 0",
                      o.epochs, o.batch_size, o.checkpoint_every);
  if (o.daso && o.daso->patience && o.checkpoint_every > 0)
    raise<ValueError>("Trainer",
                      "got a checkpoint every {} batches and DASO with a patience, whose nodes skip batches; expected "
                      "one of both: there is one at the end of each epoch",
                      o.checkpoint_every);
  check_phases(o);
  if (o.autocast && *o.autocast != bfloat16 && *o.autocast != float16)
    raise<ValueError>("Trainer", "got {} to compute in; expected bfloat16 or float16", name(*o.autocast));
  if (o.resume && o.folder.empty()) raise<ValueError>("Trainer", "got no folder to resume from; expected one");
  if (o.keep < 1) raise<ValueError>("Trainer", "got {} checkpoints to keep; expected at least 1", o.keep);
  if (o.prefetch.readers < 1 || o.prefetch.workers < 0)
    raise<ValueError>("Trainer", "got {} readers and {} workers; expected at least 1 and 0", o.prefetch.readers,
                      o.prefetch.workers);
  if (o.loss_options)
    raise<ValueError>("Trainer", "got loss_options for a function; expected them for a loss by its name");
  check_weights(o);
}

/// Networks and losses take several fields by position, so both datasets need the same fields.
void check_fields(const char* of, const std::vector<std::string>& training,
                  const std::vector<std::string>& validation) {
  if (training.size() == validation.size() && (training.size() == 1 || training == validation)) return;
  raise<ValueError>("fit", "got {} {} to train and {} to validate; expected the same in the same order", of, training,
                    validation);
}

}  // namespace

void check(const Communicator& comm, const Loss& loss, const TrainerOptions& options) {
  auto settings = settings_of(options);
  settings.push_back({"a loss of type", c10::demangle(loss.type().name())});
  check_agreed("Trainer", comm, settings, [&] { check_range(options); });
}

Loss agreed_loss(const Communicator& comm, const std::string& name, const std::optional<LossOptions>& options) {
  std::optional<Loss> loss;
  check_agreed("Trainer", comm, settings_of(name, options.value_or(LossOptions())),
               [&] { loss = named_loss(name, options.value_or(LossOptions())); });
  return *loss;
}

void check_fit(const Communicator& comm, const TrainerOptions& options, const Dataset& training,
               const std::optional<Dataset>& validation) {
  check_same_ranks("fit", "a training set", training.comm(), comm);
  if (validation) check_same_ranks("fit", "a validation set", validation->comm(), comm);
  const std::vector<Setting> settings{{"rows to train", formatted("{}", training.size())},
                                      {"rows to validate", validation ? formatted("{}", validation->size()) : "none"}};
  check_agreed("fit", comm, settings, [&] {
    if (training.size() == 0) raise<ValueError>("fit", "got a training set of 0 rows; expected some");
    if (options.stop && !validation)
      raise<ValueError>("fit", "got stop, but no validation set to look at; expected both or neither");
    if (validation && validation->size() == 0)
      raise<ValueError>("fit", "got a validation set of 0 rows; expected some, or no validation set");
    if (!validation) return;
    check_fields("inputs", training.names().inputs, validation->names().inputs);
    check_fields("targets", training.names().targets, validation->names().targets);
  });
}

void check_optimizer(const Replica& replica, const torch::optim::Optimizer& optimizer) {
  check_agreed("fit", replica.topology().comm(), settings_of(optimizer, replica.shard().has_value()), [&] {
    replica.check(optimizer);
    auto known = replica.parameters();
    known.insert(known.end(), replica.frozen().begin(), replica.frozen().end());
    for (const auto& tensor : tensors_of(optimizer))
      if (std::ranges::none_of(known, [&](const auto& one) { return one.is_same(tensor); }))
        raise<ValueError>("fit",
                          "got an optimizer of a tensor of shape {} that the module does not have, whose gradients "
                          "nobody averages; expected parameters() of the model: a loss with parameters is made a part "
                          "of the module",
                          heatpp::detail::tuple_text(tensor.sizes()));
  });
}

void check_rate(const Communicator& comm, const RateSchedule& rate, std::int64_t batches) {
  if (!rate) return;
  std::vector<Setting> settings;
  const auto ask = [&] {
    for (const auto batch : {std::int64_t{0}, batches / 2, std::max<std::int64_t>(0, batches - 1)}) {
      const auto value = rate(batch);
      if (!(value >= 0 && std::isfinite(value)))
        raise<ValueError>("fit", "got the rate {} for batch {} of {}; expected a finite one of at least 0", value,
                          batch, batches);
      settings.push_back({"rate", formatted("{}", value)});
    }
  };
  std::exception_ptr own;  // an exception of the caller's function; its rank rethrows it unchanged
  try {
    all_or_none(comm, [&] {
      try {
        ask();
      } catch (...) {
        own = std::current_exception();
        throw;
      }
    });
  } catch (...) {
    if (own) std::rethrow_exception(own);
    throw;
  }
  check_agreed("fit", comm, settings, [] {});
}

}  // namespace heatpp::nn::detail
