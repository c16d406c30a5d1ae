#include "../scratch_file.hpp"
#include "../training.hpp"
#include "../../support.hpp"

#include <heatpp_nn/optim/lamb.hpp>
#include <heatpp_nn/optim/lars.hpp>
#include <heatpp_nn/optim/muon.hpp>
#include <heatpp_nn/training/checkpoint.hpp>
#include <heatpp_nn/training/detail/section_file.hpp>
#include <heatpp_nn/training/detail/training_archive.hpp>
#include <heatpp_nn/training/safetensors.hpp>
#include <heatpp_nn/training/trainer.hpp>

#include <torch/fft.h>

#include <filesystem>

using namespace heatpp::nn;

namespace {

constexpr std::int64_t rows = 12, points = 16, modes = 5;

/// A layer of a Fourier neural operator (Li et al. 2021): products of the lowest modes, plus a pointwise product.
template <class Forward>
struct Operator : torch::nn::Module {
  torch::nn::Linear skip = register_module("skip", torch::nn::Linear(2, 2));
  at::Tensor weight;
  explicit Operator(at::ScalarType dtype) {
    const at::NoGradGuard no_grad;
    for (auto& parameter : parameters())
      parameter.copy_(torch::linspace(-0.5, 0.5, parameter.numel()).view_as(parameter));
    const auto start = torch::sin(torch::arange(2 * 2 * modes * 2) * 1.3).view({2, 2, modes, 2}).to(dtype);
    weight = register_parameter("weight", Forward::parameter(start));
    skip->to(dtype);
  }
  at::Tensor forward(const at::Tensor& x) {
    const auto spectrum = torch::fft_rfft(x).narrow(2, 0, modes);
    const auto smooth = torch::fft_irfft(torch::einsum("bix,iox->box", {spectrum, Forward::weight(weight)}), points);
    return smooth + skip(x.transpose(1, 2)).transpose(1, 2);
  }
};
struct AsComplex {
  static at::Tensor parameter(const at::Tensor& start) { return torch::view_as_complex(start).clone(); }
  static at::Tensor weight(const at::Tensor& parameter) { return parameter; }
};
/// A complex parameter as PyTorch's optimizers see it.
struct AsReal {
  static at::Tensor parameter(const at::Tensor& start) { return start.clone(); }
  static at::Tensor weight(const at::Tensor& parameter) { return torch::view_as_complex(parameter); }
};
using Net = Operator<AsComplex>;

std::pair<at::Tensor, at::Tensor> fields(at::ScalarType dtype) {
  const auto x = torch::sin(torch::arange(rows * 2 * points) * 0.37).view({rows, 2, points}).to(dtype);
  return {x, x.roll(1, 2) * 2 - x.roll(3, 2)};
}

at::Tensor loss_of_mine(Net& net, at::ScalarType dtype) {
  const auto [x, y] = fields(dtype);
  const auto per_rank = rows / ht::world().size(), first = per_rank * ht::world().rank();
  return torch::mse_loss(net.forward(x.narrow(0, first, per_rank)), y.narrow(0, first, per_rank));
}

using Optimizer = std::unique_ptr<torch::optim::Optimizer>;
struct OptimizerCase {
  const char* name;
  std::function<Optimizer(const std::vector<at::Tensor>&)> make;
  bool by_element = true;
};
template <class T, class Options>
OptimizerCase kind(const char* name, Options options) {
  return {name, [options](const auto& parameters) { return std::make_unique<T>(parameters, options); }};
}
std::vector<OptimizerCase> kinds() {
  namespace optim = torch::optim;
  std::vector<OptimizerCase> all{
      kind<optim::Adam>("Adam", optim::AdamOptions(0.02)),
      kind<optim::Adam>("AMSGrad", optim::AdamOptions(0.02).amsgrad(true)),
      kind<optim::AdamW>("AdamW", optim::AdamWOptions(0.02).weight_decay(0.1)),
      kind<optim::RMSprop>("RMSprop", optim::RMSpropOptions(0.02).centered(true).momentum(0.5)),
      kind<optim::Adagrad>("Adagrad", optim::AdagradOptions(0.1)),
      kind<optim::SGD>("SGD", optim::SGDOptions(0.1).momentum(0.9).nesterov(true))};
  all.push_back({"Lamb", [](const auto& p) { return std::make_unique<Lamb>(p, LambOptions(0.02)); }, false});
  all.push_back({"Lars", [](const auto& p) { return std::make_unique<Lars>(p, LarsOptions(0.5)); }, false});
  return all;
}

/// Clips without the 1e-6 that LibTorch adds to the norm.
void clip(const torch::nn::Module& net, double max_norm) {
  double squares = 0;
  for (const auto& parameter : net.parameters()) squares += parameter.grad().square().sum().item<double>();
  for (const auto& parameter : net.parameters())
    if (squares > max_norm * max_norm) parameter.grad().mul_(max_norm / std::sqrt(squares));
}

/// Returns weights after some steps in one process; complex ones are real numbers.
std::vector<at::Tensor> in_one_process(const OptimizerCase& kind, int steps, std::optional<double> max_norm = {}) {
  Operator<AsReal> net(torch::kDouble);
  const auto optimizer = kind.make(net.parameters());
  const auto [x, y] = fields(torch::kDouble);
  for (int step = 0; step < steps; ++step) {
    optimizer->zero_grad();
    torch::mse_loss(net.forward(x), y).backward();
    if (max_norm) clip(net, *max_norm);
    optimizer->step();
  }
  return weights(net);
}

std::vector<at::Tensor> real_weights(const torch::nn::Module& module) {
  auto copies = weights(module);
  for (auto& tensor : copies)
    if (tensor.is_complex()) tensor = torch::view_as_real(tensor);
  return copies;
}

}  // namespace

TEST_CASE("Complex weights train as PyTorch's, by every optimizer", "[nn][complex]") {
  for (const auto& kind : kinds())
    for (const auto& shard : {std::optional<Scope>(), std::optional(Scope::all), std::optional(Scope::node)}) {
      if (shard && !kind.by_element) continue;
      DataParallel model(std::make_shared<Net>(torch::kDouble), ht::Topology(ht::world()), {.shard = shard});
      const auto optimizer = kind.make(model.parameters());
      for (int step = 0; step < 20; ++step) {
        optimizer->zero_grad();
        loss_of_mine(model.module(), torch::kDouble).backward();
        model.average_gradients();
        (void)model.clip_gradients(0.5);
        model.update(*optimizer);
      }
      INFO(kind.name << (shard ? ", shared" : ""));
      CHECK(distance(real_weights(model.module()), in_one_process(kind, 20, 0.5)) < 1e-10);
      CHECK(model.equal_on_all_ranks());
    }
}

TEST_CASE("Muon steps complex weights by AdamW", "[nn][complex]") {
  const auto trained = [](const std::optional<Scope>& shard, bool orthogonal, int steps) {
    DataParallel model(std::make_shared<Net>(torch::kDouble), ht::Topology(ht::world()), {.shard = shard});
    Muon muon(model, MuonOptions(0.02).orthogonal(orthogonal));
    for (int step = 0; step < steps; ++step) {
      muon.zero_grad();
      loss_of_mine(model.module(), torch::kDouble).backward();
      model.average_gradients();
      model.update(muon);
    }
    return std::pair(model.module().weight.detach().clone(), weights(model.module()));
  };
  const auto [ours, all] = trained(std::nullopt, true, 1);
  const auto [by_adamw, all_by_adamw] = trained(std::nullopt, false, 1);
  CHECK(equal({ours}, {by_adamw}));
  CHECK(distance(all, all_by_adamw) > 1e-3);  // the real matrix steps otherwise
  for (const auto shard : {Scope::all, Scope::node})
    CHECK(distance(trained(shard, true, 5).second, trained(std::nullopt, true, 5).second) < 1e-12);
}

TEST_CASE("The best weights of complex128 are stored and read", "[nn][complex][trainer]") {
  const std::filesystem::path folder = scratch_path("nn_complex_best");
  const auto [x, y] = fields(torch::kDouble);
  const auto per_rank = rows / ht::world().size(), first = per_rank * ht::world().rank();
  const Dataset data(ht::from_local(x.narrow(0, first, per_rank).contiguous(), {.split = 0}),
                     ht::from_local(y.narrow(0, first, per_rank).contiguous(), {.split = 0}));
  DataParallel model(std::make_shared<Net>(torch::kDouble), ht::Topology(ht::world()));
  torch::optim::Adam adam(model.parameters(), 0.02);
  Trainer trainer(model, adam, "mse", {.batch_size = rows, .folder = folder, .progress = false});
  trainer.fit(data, data);

  Net read(torch::kDouble);
  load_safetensors((folder / "best.safetensors").string(), read);
  CHECK(read.weight.is_complex());
  CHECK(equal(weights(read), weights(model.module())));
  ht::world().barrier();
  if (ht::world().rank() == 0) std::filesystem::remove_all(folder);
}

TEST_CASE("Complex weights train with DASO, narrower wires and a running mean", "[nn][complex][daso]") {
  const auto [x, y] = fields(torch::kFloat);
  const auto per_rank = rows / ht::world().size(), first = per_rank * ht::world().rank();
  const Dataset data(ht::from_local(x.narrow(0, first, per_rank).contiguous(), {.split = 0}),
                     ht::from_local(y.narrow(0, first, per_rank).contiguous(), {.split = 0}));
  const auto trained = [&](auto net, const ht::Topology& topology, ht::Wire wire) {
    DataParallelMultiGPU model(net, topology, {.gradients = {.wire = wire}});
    torch::optim::Adam adam(model.parameters(), 0.02);
    Trainer trainer(model, adam, "mse",
                    {.epochs = 30,
                     .batch_size = rows,
                     .shuffle = Shuffle::none,
                     .daso = DasoOptions{.interval = {.first = {1, 0}}, .wire = wire},
                     .phases = {.warmup = 0.3, .cooldown = 0.3},
                     .ema = 0.5,
                     .progress = false});
    const auto result = trainer.fit(data);
    CHECK(model.residuals().size() == (wire == ht::Wire::float32 ? 0 : model.flat().buckets().size()));
    CHECK(result.epochs.back().loss < 0.8 * result.epochs.front().loss);
    CHECK(model.equal_on_all_ranks());
    return real_weights(*net);
  };
  for (const auto& topology : topologies()) {
    const auto expected = trained(std::make_shared<Operator<AsReal>>(torch::kFloat), topology, ht::Wire::float32);
    CHECK(distance(trained(std::make_shared<Net>(torch::kFloat), topology, ht::Wire::float32), expected) < 1e-4);
    for (const auto wire : {ht::Wire::bfloat16, ht::Wire::int8})
      (void)trained(std::make_shared<Net>(torch::kFloat), topology, wire);
  }
}

TEST_CASE("Complex weights go into a checkpoint and come back to the bit", "[nn][complex][checkpoint]") {
  const ScratchFile file{scratch_path("nn_complex")};
  for (const auto& shard : {std::optional<Scope>(), std::optional(Scope::all)}) {
    const auto train = [](auto& model, auto& adam, int steps) {
      for (int step = 0; step < steps; ++step) {
        adam.zero_grad();
        loss_of_mine(model.module(), torch::kFloat).backward();
        model.step(adam);
      }
    };
    const ReplicaOptions options{.gradients = {.wire = ht::Wire::bfloat16}, .shard = shard};
    DataParallel first(std::make_shared<Net>(torch::kFloat), ht::Topology(ht::world()), options);
    torch::optim::Adam adam(first.parameters(), 0.02);
    train(first, adam, 5);
    save_checkpoint(file.path, first, adam, {});
    train(first, adam, 5);

    DataParallel second(std::make_shared<Net>(torch::kFloat), ht::Topology(ht::world()), options);
    torch::optim::Adam again(second.parameters(), 0.02);
    train(second, again, 2);
    (void)load_checkpoint(file.path, second, again);
    train(second, again, 5);
    CHECK(first.checksum() == second.checksum());
  }
}

TEST_CASE("A loop of one's own with an optimizer of complex tensors is an error on all ranks", "[nn][complex]") {
  const auto loop = [](auto optimizer_of, bool by_optimizer, int steps) {
    DataParallel model(std::make_shared<Net>(torch::kDouble), ht::Topology(ht::world()));
    torch::optim::Adam adam(optimizer_of(model), 0.02);
    for (int step = 0; step < steps; ++step) {
      if (by_optimizer) adam.zero_grad();
      else model->zero_grad();
      loss_of_mine(model.module(), torch::kDouble).backward();
      model.average_gradients();
      adam.step();
    }
    return real_weights(model.module());
  };
  const auto of_replica = [](auto& model) { return model.parameters(); };
  const auto of_module = [](auto& model) { return model->parameters(); };
  const auto on_one_rank = [](auto& model) {
    return ht::world().rank() == ht::world().size() - 1 ? model->parameters() : model.parameters();
  };
  const auto expected = in_one_process(kind<torch::optim::Adam>("Adam", torch::optim::AdamOptions(0.02)), 4);
  for (const bool by_optimizer : {true, false}) {
    CHECK(distance(loop(of_replica, by_optimizer, 4), expected) < 1e-10);
    const auto text = Catch::Contains(
        "[Replica] got gradients of complex parameters by which nobody has stepped; expected an optimizer of the "
        "replica's parameters()");
    CHECK_THROWS_WITH(loop(of_module, by_optimizer, 2), text);
    CHECK_THROWS_WITH(loop(on_one_rank, by_optimizer, 2), text);
  }
}

TEST_CASE("a checkpoint with complex weights in the older form is an error with a solution",
          "[nn][complex][checkpoint]") {
  const ScratchFile file{scratch_path("nn_complex")}, older{scratch_path("nn_complex_older")};
  DataParallel model(std::make_shared<Net>(torch::kFloat), ht::Topology(ht::world()));
  torch::optim::Adam adam(model.parameters(), 0.02);
  loss_of_mine(model.module(), torch::kFloat).backward();
  model.step(adam);
  save_checkpoint(file.path, model, adam, {});

  const heatpp::nn::detail::SectionFile written("checkpoint", ht::world(), file.path);
  const auto& part = written.parts()[0];
  auto state = heatpp::nn::detail::rank_state(written.head(part));
  for (auto& row : state.rows)
    if (model.flat().parameters()[static_cast<std::size_t>(row.parameter)].is_complex()) row.first /= 2, row.count /= 2;
  const auto body = written.body(part);
  const auto bytes = at::tensor(std::vector<std::uint8_t>(body.begin(), body.end()), at::kByte);
  const auto& entry = part.entry;
  heatpp::nn::detail::SectionWriter writer("checkpoint", ht::world(), older.path,
                                           {.node = entry.node, .source = entry.source},
                                           {heatpp::nn::detail::to_head(state), {bytes}});
  writer.write();
  writer.commit();

  (void)load_checkpoint(file.path, model, adam);
  const auto before = model.checksum();
  CHECK_THROWS_WITH(load_checkpoint(older.path, model, adam),
                    Catch::Contains("complex weights in an older form") && Catch::Contains("save_safetensors there"));
  CHECK(model.checksum() == before);
}

TEST_CASE("An optimizer of complex tensors is refused, and parts of a network have theirs as real numbers",
          "[nn][complex]") {
  DataParallel model(std::make_shared<Net>(torch::kFloat), ht::Topology(ht::world()));
  torch::optim::Adam adam(model.module().parameters(), 0.02);
  loss_of_mine(model.module(), torch::kFloat).backward();
  CHECK_THROWS_WITH(model.step(adam), Catch::Contains("[Replica] got an optimizer of a complex parameter"));
  CHECK_THROWS_AS(Trainer(model, adam, "mse")
                      .fit(Dataset(ht::from_local(torch::ones({2, 2, points}), {.split = 0}),
                                   ht::from_local(torch::ones({2, 2, points}), {.split = 0}))),
                  ht::ValueError);
  const auto all = model.parameters(model.module()), part = model.parameters(*model.module().skip);
  CHECK(all.size() == 3);
  CHECK(part.size() == 2);
  CHECK(std::ranges::none_of(all, [](const auto& tensor) { return tensor.is_complex(); }));
}
