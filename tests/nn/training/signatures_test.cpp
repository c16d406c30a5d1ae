#include "../training.hpp"
#include "../../support.hpp"

#include <heatpp_nn/training/trainer.hpp>

// Networks of several inputs and outputs, losses of several targets, derivatives of inputs, and LBFGS.

using namespace heatpp::nn;

namespace {

constexpr std::int64_t rows = 22;  // uneven on 3 and 4 ranks

/// Returns this rank's rows of a tensor that all ranks have; the last rank has fewer.
ht::DNDarray cut(const at::Tensor& whole) {
  const auto ranks = ht::world().size(), rank = ht::world().rank();
  const auto bound = [&](int r) { return r == ranks ? whole.size(0) : std::min(whole.size(0), 8L * r); };
  return ht::from_local(whole.narrow(0, bound(rank), bound(rank + 1) - bound(rank)).contiguous(), {.split = 0});
}

/// A variational autoencoder whose noise is an input.
struct Vae : torch::nn::Module {
  torch::nn::Linear mu = register_module("mu", torch::nn::Linear(5, 2));
  torch::nn::Linear logvar = register_module("logvar", torch::nn::Linear(5, 2));
  torch::nn::Linear back = register_module("back", torch::nn::Linear(2, 5));
  Vae() {
    torch::manual_seed(3);
    for (auto& parameter : parameters()) torch::nn::init::normal_(parameter, 0, 0.3);
    to(torch::kDouble);
  }
  std::tuple<at::Tensor, at::Tensor, at::Tensor> forward(const at::Tensor& x, const at::Tensor& noise) {
    const auto mean = mu(x), spread = logvar(x);
    return {back(mean + noise * (0.5 * spread).exp()), mean, spread};
  }
};

/// Takes reconstructions, means and logarithms of variances; targets and weights of rows; inputs.
at::Tensor vae_loss(const Tensors& outputs, const Tensors& targets, const Tensors& inputs) {
  const auto &mean = outputs[1], &spread = outputs[2];
  const auto off = (outputs[0] - targets[0]).square().sum(1) + 0.01 * (outputs[0] - inputs[0]).abs().sum(1);
  const auto divergence = -0.5 * (1 + spread - mean.square() - spread.exp()).sum(1);
  return ((off + divergence) * targets[1]).mean();
}

/// Returns u = w x^2 and its derivative.
struct Parabola : torch::nn::Module {
  at::Tensor w = register_parameter("w", torch::full({1}, 3.0, torch::kDouble));
  std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& points) {
    const auto x = points.detach().requires_grad_();
    const auto u = w * x.square();
    return {u, torch::autograd::grad({u.sum()}, {x}, {}, std::nullopt, true)[0]};
  }
};

/// Asks for the gradients of its input itself.
struct OwnParabola : Parabola {
  std::tuple<at::Tensor, at::Tensor> forward(at::Tensor x) {
    x.requires_grad_();
    const auto u = w * x.square();
    return {u, torch::autograd::grad({u.sum()}, {x}, {}, std::nullopt, true)[0]};
  }
};

template <class Net>
Trainer trainer_of(DataParallel<Net>& model, torch::optim::Optimizer& optimizer, const Loss& loss,
                   TrainerOptions options) {
  options.progress = false;
  return {model, optimizer, loss, std::move(options)};
}

}  // namespace

TEST_CASE("Several inputs, outputs, targets and row weights train as in one process", "[nn][trainer]") {
  const auto x = samples(rows).first, wanted = x.tanh(), noise = samples(rows, 2).first.narrow(1, 0, 2);
  const auto weight = torch::linspace(0.1, 2, rows, torch::kDouble);
  const Dataset dataset({{"x", cut(x)}, {"noise", cut(noise)}}, {{"wanted", cut(wanted)}, {"weight", cut(weight)}});
  DataParallel model(std::make_shared<Vae>(), ht::Topology(ht::world()));
  torch::optim::SGD sgd(model.parameters(), 0.05);
  auto trainer = trainer_of(model, sgd, vae_loss, {.epochs = 6, .batch_size = rows});
  const auto result = trainer.fit(dataset);

  Vae alone;
  torch::optim::SGD sgd_alone(alone.parameters(), 0.05);
  const auto loss_alone = [&] {
    const auto [back, mean, spread] = alone.forward(x, noise);
    return vae_loss({back, mean, spread}, {wanted, weight}, {x, noise});
  };
  at::Tensor last;
  for (int step = 0; step < 6; ++step) {
    sgd_alone.zero_grad();
    last = loss_alone();
    last.backward();
    sgd_alone.step();
  }
  CHECK(result.batches == 6);
  CHECK(distance(weights(model.module()), weights(alone)) < 1e-13);
  CHECK(result.epochs.back().loss == Approx(last.item<double>()).epsilon(1e-12));
  CHECK(trainer.evaluate(dataset).loss == Approx(loss_alone().item<double>()).epsilon(1e-12));
  const auto outputs = trainer.predict({cut(x), cut(noise)});
  CHECK(outputs.size() == 3);
  CHECK(near_to(outputs[2], std::get<2>(alone.forward(x, noise)), 1e-10, 1e-12));
}

TEST_CASE("Validation sets have the fields of the training set in their order", "[nn][trainer]") {
  const auto [x, y] = samples(rows);
  DataParallel model(std::make_shared<SmallNet>(), ht::Topology(ht::world()));
  torch::optim::SGD sgd(model.parameters(), 0.05);
  const auto loss = [](const at::Tensor& output, const Tensors& targets) {
    return torch::mse_loss(output, targets[0] + targets[1]);
  };
  auto trainer = trainer_of(model, sgd, loss, {.batch_size = rows});
  const Dataset training({{"x", cut(x)}}, {{"a", cut(y)}, {"b", cut(y)}});
  const Dataset other({{"x", cut(x)}}, {{"b", cut(y)}, {"a", cut(y)}});
  CHECK(trainer.fit(training, training).epochs.size() == 1);
  CHECK_THAT(message_of<ht::ValueError>([&] { trainer.fit(training, other); }),
             Catch::Contains("[fit] got targets [\"a\", \"b\"] to train and [\"b\", \"a\"] to validate"));
}

TEST_CASE("Derivatives inside forward work in fit, evaluate and predict", "[nn][trainer]") {
  const auto x = torch::linspace(-1, 1, rows, torch::kDouble).unsqueeze(1);
  const Dataset dataset(cut(x), cut(4 * x));
  DataParallel model(std::make_shared<Parabola>(), ht::Topology(ht::world()));
  torch::optim::SGD sgd(model.parameters(), 0.1);
  const auto loss = [](const Tensors& outputs, const at::Tensor& slopes) {
    return torch::mse_loss(outputs[1], slopes);
  };
  const auto slope = [&](const Tensors& outputs, const at::Tensor& slopes) {
    CHECK_FALSE(outputs[1].requires_grad());
    return loss(outputs, slopes).item<double>();
  };
  auto trainer = trainer_of(model, sgd, loss, {.epochs = 20, .batch_size = rows, .metrics = {{"slope", slope}}});
  const auto before = trainer.evaluate(dataset);
  const auto outputs = trainer.predict(std::vector<ht::DNDarray>{cut(x)});

  CHECK(before.loss == Approx((2 * x).square().mean().item<double>()).epsilon(1e-12));
  CHECK(before.metrics.at("slope") == Approx(before.loss).epsilon(1e-12));
  CHECK(close(outputs[1], 6 * x));
  CHECK_FALSE(outputs[1].larray().requires_grad());
  CHECK(model->w.requires_grad());
  const auto squares = x.square().mean().item<double>();
  double w = 3;
  for (int step = 0; step < 20; ++step) w -= 0.1 * 8 * squares * (w - 2);
  const auto after = trainer.fit(dataset, dataset).epochs.back().validation->loss;
  CHECK(model->w.item<double>() == Approx(w).epsilon(1e-12));
  CHECK(after == Approx(4 * squares * (w - 2) * (w - 2)).epsilon(1e-9));
}

TEST_CASE("A network may ask for the gradients of each batch's inputs", "[nn][trainer]") {
  const auto x = torch::linspace(-1, 1, rows, torch::kDouble).unsqueeze(1);
  const Dataset dataset(cut(x), cut(4 * x));
  const auto loss = [](const Tensors& outputs, const at::Tensor& slopes) {
    return torch::mse_loss(outputs[1], slopes);
  };
  const auto trained = [&]<class Net>(std::shared_ptr<Net> net) {
    DataParallel model(net, ht::Topology(ht::world()));
    torch::optim::SGD sgd(model.parameters(), 0.1);
    trainer_of(model, sgd, loss, {.epochs = 3, .batch_size = rows / 2, .shuffle = Shuffle::none}).fit(dataset);
    return net->w.template item<double>();
  };
  CHECK(trained(std::make_shared<OwnParabola>()) == trained(std::make_shared<Parabola>()));
}

TEST_CASE("LBFGS trains on full batches as in one process", "[nn][trainer]") {
  const auto [x, y] = samples(rows);
  const auto options = torch::optim::LBFGSOptions(1).line_search_fn("strong_wolfe");
  const auto loss = [](const at::Tensor& a, const at::Tensor& b) { return torch::mse_loss(a, b); };
  DataParallel model(std::make_shared<SmallNet>(), ht::Topology(ht::world()));
  torch::optim::LBFGS lbfgs(model.parameters(), options);
  const Dataset dataset(cut(x), cut(y));
  const auto result = trainer_of(model, lbfgs, loss, {.epochs = 2, .batch_size = rows}).fit(dataset);

  SmallNet alone;
  torch::optim::LBFGS lbfgs_alone(alone.parameters(), options);
  at::Tensor first;
  for (int step = 0; step < 2; ++step)
    first = lbfgs_alone.step([&, x = x, y = y] {
      lbfgs_alone.zero_grad();
      const auto value = loss(alone.forward(x), y);
      value.backward();
      return value;
    });
  CHECK(result.batches == 2);
  CHECK(result.epochs.back().loss == Approx(first.item<double>()).epsilon(1e-5));
  CHECK(result.epochs.back().loss < 0.1 * result.epochs.front().loss);
  CHECK(distance(weights(model.module()), weights(alone)) < 1e-4);  // rounding grows from step to step
  CHECK(model.equal_on_all_ranks());

  const auto refuses = [&](const std::string& text, TrainerOptions wrong) {
    CHECK_THAT(message_of<ht::ValueError>([&] { trainer_of(model, lbfgs, loss, std::move(wrong)).fit(dataset); }),
               Catch::Contains(text));
  };
  refuses("got LBFGS with ", {.batch_size = 4});
  refuses("got LBFGS with autocast", {.batch_size = rows, .autocast = ht::float16});
  refuses("expected none, as checkpoints", {.batch_size = rows, .folder = "no_folder"});
}

TEST_CASE("An optimizer of tensors that the module does not have is refused", "[nn][trainer]") {
  const auto [x, y] = samples(rows);
  DataParallel model(std::make_shared<SmallNet>(), ht::Topology(ht::world()));
  const auto scale = torch::ones({4, 2}, torch::kDouble).requires_grad_();
  auto tensors = model.parameters();
  tensors.push_back(scale);
  torch::optim::SGD sgd(tensors, 0.1);
  const auto loss = [&](const at::Tensor& a, const at::Tensor& b) { return torch::mse_loss(a * scale.mean(), b); };
  auto trainer = trainer_of(model, sgd, loss, {});
  CHECK_THAT(message_of<ht::ValueError>([&, x = x, y = y] {
               trainer.fit({cut(x), cut(y)});
             }),
             Catch::Contains("[fit] got an optimizer of a tensor of shape (4, 2) that the module does not have"));
}
