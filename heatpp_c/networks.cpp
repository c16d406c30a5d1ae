#include <ATen/ATen.h>

#include <heatpp/comm/detail/failure.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/alike.hpp>
#include <heatpp_c/detail/handles.hpp>
#include <heatpp_nn/models/loaded_module.hpp>
#include <heatpp_nn/parallel/data_parallel.hpp>
#include <heatpp_nn/parallel/online.hpp>
#include <heatpp_nn/training/inference.hpp>
#include <heatpp_nn/training/safetensors.hpp>
#include <torch/optim/adam.h>

#include <array>
#include <cmath>

using namespace heatpp::c;  // NOLINT: what the functions below are made of
using namespace heatpp::nn;
using heatpp::DNDarray;
using heatpp::ValueError;
using heatpp::detail::check_agreed;
using heatpp::detail::formatted;
using heatpp::detail::raise;

namespace {

using LossOf = at::Tensor (*)(const at::Tensor& outputs, const at::Tensor& targets);

[[noreturn]] void refuse(const at::Tensor& outputs, const at::Tensor& targets, const std::string& wanted) {
  raise<ValueError>("ht_network_train", "got targets of shape {} for outputs of shape {}; expected {}",
                    heatpp::to_string(targets.sizes().vec()), heatpp::to_string(outputs.sizes().vec()), wanted);
}

/// Returns a loss of numbers in equal shapes; LibTorch would broadcast others.
template <at::Tensor (*loss)(const at::Tensor&, const at::Tensor&, std::int64_t)>
at::Tensor elementwise(const at::Tensor& outputs, const at::Tensor& targets) {
  if (outputs.sizes() != targets.sizes()) refuse(outputs, targets, "the same shape");
  return loss(outputs, targets, at::Reduction::Mean);
}

LossOf loss_of(int number) {
  switch (number) {
    case HT_MEAN_SQUARED_ERROR: return elementwise<at::mse_loss>;
    case HT_MEAN_ABSOLUTE_ERROR: return elementwise<at::l1_loss>;
    case HT_CROSS_ENTROPY:
      return [](const at::Tensor& outputs, const at::Tensor& targets) {
        return at::cross_entropy_loss(outputs, targets.to(at::kLong));
      };
    default:
      raise<ValueError>("ht_network_load", "got loss {}; expected 0 (HT_MEAN_SQUARED_ERROR) to {} (HT_CROSS_ENTROPY)",
                        number, static_cast<int>(HT_CROSS_ENTROPY));
  }
}

void check(const ht_training& training) {
  if (!(training.rate >= 0 && std::isfinite(training.rate)) || training.remembered < 0 || training.batch < 0)
    raise<ValueError>("ht_network_load",
                      "got rate {}, {} rows remembered, batch {}; expected finite numbers and none below 0",
                      training.rate, training.remembered, training.batch);
}

}  // namespace

class heatpp::c::TrainedNetwork {
 public:
  TrainedNetwork(const heatpp::Communicator& comm, const std::string& path, const ht_training& training)
      : loss_of_(loss_of(training.loss)),
        model_(load_module(path, {.comm = comm}), heatpp::Topology(comm)),
        adam_(model_.parameters(), torch::optim::AdamOptions(training.rate > 0 ? training.rate : 1e-3)) {
    if (training.remembered == 0) return;
    const OnlineOptions options{
        .capacity = training.remembered, .batch_size = training.batch > 0 ? training.batch : 32, .seed = training.seed};
    online_.emplace(
        model_, adam_, [this](const at::Tensor& inputs, const at::Tensor& targets) { return loss(inputs, targets); },
        options);
  }

  /// Returns the mean loss over the rows of all ranks.
  double train(const DNDarray& inputs, const DNDarray& targets) {
    model_.module().train();
    auto sums = online_ ? remember(inputs, targets) : step(inputs, targets);
    comm().allreduce(sums);
    return sums[0] / sums[1];
  }

  [[nodiscard]] Network network() { return Network(model_); }
  [[nodiscard]] LoadedModule& module() { return model_.module(); }
  [[nodiscard]] const heatpp::Communicator& comm() const { return model_.topology().comm(); }

 private:
  at::Tensor loss(const at::Tensor& inputs, const at::Tensor& targets) {
    const auto outputs = model_.module().forward(inputs);
    try {
      return loss_of_(outputs, targets);
    } catch (const c10::Error& error) {
      refuse(outputs, targets, "what the loss takes: " + heatpp::detail::text_of(error));
    }
  }

  using Sums = std::array<double, 2>;  // sums of losses, and of rows

  Sums remember(const DNDarray& inputs, const DNDarray& targets) {
    const double mean = online_->train_step(inputs, targets);
    return online_->buffer().size() > 0 ? Sums{mean, 1} : Sums{};
  }

  Sums step(const DNDarray& inputs, const DNDarray& targets) {
    adam_.zero_grad();
    const auto rows = static_cast<double>(inputs.lshape().empty() ? 0 : inputs.lshape()[0]);
    at::Tensor mean;
    heatpp::all_or_none(comm(), [&] {
      if (inputs.split() != 0 || targets.split() != 0 || !heatpp::same_cut(inputs.layout(), targets.layout()))
        raise<ValueError>("ht_network_train",
                          "got arrays that are not cut alike along axis 0; expected both split there");
      if (rows > 0) mean = loss(inputs.larray(), targets.larray());
    });
    model_.backward(mean, rows);
    model_.step(adam_);
    return rows > 0 ? Sums{rows * mean.item<double>(), rows} : Sums{};
  }

  LossOf loss_of_;
  DataParallel<LoadedModule> model_;
  torch::optim::Adam adam_;
  std::optional<OnlineTrainer> online_;
};

int ht_network_load(const ht_comm* comm, const char* path, const ht_training* training, ht_network** network) {
  constexpr auto op = "ht_network_load";
  return status_of([&] {
    const auto& ranks = given(op, "comm", comm).ranks;
    const auto how = training ? *training : ht_training{};
    const std::vector<heatpp::detail::Setting> alike{{"loss", std::to_string(how.loss)},
                                                     {"rate", formatted("{}", how.rate)},
                                                     {"remembered", how.remembered > 0 ? "some rows" : "none"},
                                                     {"path", quoted(path)}};
    check_agreed(op, ranks, alike, [&] {
      check(how);
      static_cast<void>(loss_of(how.loss));
      check_given(op, "path", path);
      check_given(op, "network", network);
    });
    *network = new ht_network{std::make_shared<TrainedNetwork>(ranks, path, how)};
  });
}
void ht_network_free(ht_network* network) { delete network; }

int ht_network_train(ht_network* network, const ht_array* inputs, const ht_array* targets, double* loss) {
  constexpr auto op = "ht_network_train";
  return status_of([&] {
    auto& net = *given(op, "network", network).value;
    heatpp::all_or_none(net.comm(), [&] {
      check_given(op, "inputs", inputs);
      check_given(op, "targets", targets);
    });
    const auto mean = net.train(inputs->value, targets->value);
    if (loss) *loss = mean;
  });
}
int ht_network_apply(ht_network* network, const ht_array* inputs, ht_array** outputs) {
  constexpr auto op = "ht_network_apply";
  return status_of([&] {
    auto& net = *given(op, "network", network).value;
    heatpp::all_or_none(net.comm(), [&] {
      check_given(op, "inputs", inputs);
      check_given(op, "outputs", outputs);
    });
    *outputs = new ht_array{predict(net.network(), inputs->value)};
  });
}

int ht_network_save(ht_network* network, const char* path) {
  constexpr auto op = "ht_network_save";
  return status_of([&] {
    auto& net = *given(op, "network", network).value;
    check_agreed(op, net.comm(), {{"path", quoted(path)}}, [&] { check_given(op, "path", path); });
    save_safetensors(path, net.module(), {.comm = net.comm()});
  });
}
int ht_network_restore(ht_network* network, const char* path) {
  constexpr auto op = "ht_network_restore";
  return status_of([&] {
    auto& net = *given(op, "network", network).value;
    check_agreed(op, net.comm(), {{"path", quoted(path)}}, [&] { check_given(op, "path", path); });
    load_safetensors(path, net.module(), {.comm = net.comm()});
  });
}
