#include "scratch_file.hpp"
#include "training.hpp"
#include "../support.hpp"

#include <heatpp_nn/optim/lamb.hpp>
#include <heatpp_nn/optim/lars.hpp>
#include <heatpp_nn/optim/muon.hpp>
#include <heatpp_nn/optim/optimizer_kind.hpp>
#include <heatpp_nn/parallel/detail/optimizer_state.hpp>
#include <heatpp_nn/training/checkpoint.hpp>

#include <filesystem>

using namespace heatpp::nn;

namespace {

/// Trains with an optimizer of the replica; ranks may share its work.
template <class Make>
std::vector<at::Tensor> train(const ht::Topology& topology, std::optional<Scope> shard, const Make& make) {
  DataParallel model(std::make_shared<SmallNet>(), topology, {.gradients = {.bucket_bytes = 200}, .shard = shard});
  auto optimizer = make(model);
  for (std::int64_t b = 0; b < 5; ++b) {
    optimizer.zero_grad();
    backward(model, b);
    model.step(optimizer);
  }
  CHECK(model.equal_on_all_ranks());
  return weights(model.module());
}

/// Follows the sign of the gradient's running sum: an optimizer that heatpp does not know.
struct SignState : torch::optim::OptimizerCloneableParamState<SignState> {
  TORCH_ARG(at::Tensor, sum) = {};
};
struct SignOptions : torch::optim::OptimizerCloneableOptions<SignOptions> {
  void serialize(torch::serialize::InputArchive&) override {}
  void serialize(torch::serialize::OutputArchive& archive) const override { archive.write("none", c10::IValue(0)); }
};
struct Sign : torch::optim::Optimizer {
  explicit Sign(std::vector<at::Tensor> parameters)
      : Optimizer({torch::optim::OptimizerParamGroup(std::move(parameters))}, std::make_unique<SignOptions>()) {}
  at::Tensor step(LossClosure = nullptr) override {
    const at::NoGradGuard no_grad;
    for (const auto& parameter : param_groups()[0].params()) {
      if (!parameter.grad().defined()) continue;
      auto& state = state_[parameter.unsafeGetTensorImpl()];
      if (!state) state = std::make_unique<SignState>();
      auto& sum = static_cast<SignState&>(*state).sum();
      if (!sum.defined()) sum = torch::zeros_like(parameter);
      sum.add_(parameter.grad());
      at::Tensor(parameter).sub_(sum.sign(), 0.01);
    }
    return {};
  }
  void save(torch::serialize::OutputArchive&) const override {}
  void load(torch::serialize::InputArchive&) override {}
};

struct OwnSgd : torch::optim::SGD {
  using SGD::SGD;
};

}  // namespace

TEST_CASE("Lars and Lamb make the steps of their papers", "[nn][optim]") {
  const auto w = torch::tensor({3.0, -4.0}, torch::kDouble).requires_grad_();
  const auto gradient = torch::tensor({0.6, 0.8}, torch::kDouble);
  w.mutable_grad() = gradient.clone();
  Lars lars(std::vector{w}, LarsOptions(0.1).momentum(0.5).weight_decay(0.2).trust(0.01));
  // |w| = 5, |g| = 1: the rate is 0.1 * 0.01 * 5 / (1 + 0.2 * 5).
  const auto first = 0.0025 * (gradient + 0.2 * w.detach());
  auto expected = w.detach() - first;
  lars.step();
  CHECK(near_to(w.detach(), expected, 1e-14, 1e-15));
  w.mutable_grad() = gradient.clone();
  const auto norm = w.detach().norm().item<double>();
  expected = w.detach() - 0.5 * first - 0.001 * norm / (1 + 0.2 * norm) * (gradient + 0.2 * w.detach());
  lars.step();
  CHECK(near_to(w.detach(), expected, 1e-14, 1e-15));

  const auto v = torch::tensor({3.0, -4.0}, torch::kDouble).requires_grad_();
  v.mutable_grad() = gradient.clone();
  Lamb lamb(std::vector{v}, LambOptions(0.1).weight_decay(0.2).eps(0));
  // The first step of Adam is the gradient's sign.
  const auto step = gradient.sign() + 0.2 * v.detach();
  expected = v.detach() - 0.1 * 5 / step.norm() * step;
  lamb.step();
  CHECK(near_to(v.detach(), expected, 1e-13, 1e-14));
  CHECK_THROWS_AS(Lars(std::vector{w}, LarsOptions(-1)), ht::ValueError);
  CHECK_THROWS_AS(Lamb(std::vector{w}, LambOptions().beta1(1)), ht::ValueError);
}

TEST_CASE("Muon's steps for matrices are nearly orthogonal, and AdamW's for the rest", "[nn][optim]") {
  torch::manual_seed(5);
  const auto matrix = torch::randn({6, 4}, torch::kDouble).requires_grad_();
  const auto bias = torch::randn({4}, torch::kDouble).requires_grad_();
  const auto gradient = torch::randn({6, 4}, torch::kDouble), of_bias = torch::randn({4}, torch::kDouble);
  const auto before = matrix.detach().clone();
  auto adamw = bias.detach().clone().requires_grad_();
  torch::optim::AdamW reference({adamw}, torch::optim::AdamWOptions(0.01).weight_decay(0.2));
  Muon muon(std::vector{matrix, bias}, MuonOptions(0.01).weight_decay(0.2).match_rms(false));
  auto momentum = torch::zeros_like(gradient);
  for (int step = 0; step < 3; ++step) {
    matrix.mutable_grad() = gradient * (step + 1), bias.mutable_grad() = of_bias.clone();
    adamw.mutable_grad() = of_bias.clone();
    const auto old = matrix.detach().clone();
    muon.step();
    reference.step();
    momentum = 0.95 * momentum + 0.05 * gradient * (step + 1);
    const auto direction = 0.05 * gradient * (step + 1) + 0.95 * momentum;
    const auto moved = (old * (1 - 0.01 * 0.2) - matrix.detach()) / (0.01 * std::sqrt(6.0 / 4));
    CHECK(near_to(moved, orthogonalized(direction), 1e-10, 1e-12));
    const auto values = torch::linalg_svdvals(moved);
    CHECK(values.min().item<double>() > 0.6);
    CHECK(values.max().item<double>() < 1.3);
    CHECK(near_to(bias.detach(), adamw.detach(), 1e-12, 1e-14));
  }
  // Many iterations with coefficients that converge would give U V'; these keep the singular vectors.
  const auto [u, s, vh] = torch::linalg_svd(gradient, false, std::nullopt);
  const auto turned = u.t().mm(orthogonalized(gradient)).mm(vh.t());
  CHECK(near_to(turned, torch::diag(turned.diag()), 1e-9, 1e-9));
  CHECK_THROWS_AS(Muon(std::vector{matrix}, MuonOptions(-1)), ht::ValueError);
  CHECK_THROWS_AS(Muon(std::vector{matrix}, MuonOptions().momentum(1)), ht::ValueError);
}

TEST_CASE("A group that is not orthogonal steps by AdamW", "[nn][optim]") {
  const auto start = torch::randn({3, 5}, torch::kDouble), gradient = torch::randn({3, 5}, torch::kDouble);
  const auto ours = start.clone().requires_grad_(), theirs = start.clone().requires_grad_();
  Muon muon(std::vector{ours}, MuonOptions(0.01).orthogonal(false));
  torch::optim::AdamW adamw({theirs}, torch::optim::AdamWOptions(0.01).weight_decay(0.1));
  for (int step = 0; step < 3; ++step) {
    ours.mutable_grad() = gradient.clone(), theirs.mutable_grad() = gradient.clone();
    muon.step();
    adamw.step();
  }
  CHECK(near_to(ours.detach(), theirs.detach(), 1e-12, 1e-14));
}

TEST_CASE("Muon without an orthogonal group gathers no gradients", "[nn][optim][shard]") {
  if (ht::world().size() == 1) return;
  for (const bool orthogonal : {false, true}) {
    DataParallel model(std::make_shared<SmallNet>(), ht::Topology(ht::world()), {.shard = Scope::all});
    Muon muon(model, MuonOptions(0.01).orthogonal(orthogonal));
    backward(model, 0);
    model.average_gradients();
    // Only a gather writes to the parts of other ranks.
    const auto& gradients = model.flat().buckets().front().gradients;
    const auto before = gradients.clone();
    const auto own = model.ownership().shares().part(0, gradients);
    const auto first = own.storage_offset() - gradients.storage_offset(), end = first + own.numel();
    muon.step();
    auto others = (gradients != before).to(torch::kLong);
    others.narrow(0, first, end - first).zero_();
    CHECK((others.sum().item<std::int64_t>() > 0) == orthogonal);
  }
}

TEST_CASE("Lars, Lamb and Muon see whole layers if ranks share their pieces", "[nn][optim][shard]") {
  for (const auto& topology : topologies())
    for (const auto shard : {Scope::all, Scope::node}) {
      const auto lars = [](const Replica& model) { return Lars(model, LarsOptions(10).weight_decay(0.01)); };
      CHECK(distance(train(topology, shard, lars), train(topology, std::nullopt, lars)) < 1e-13);
      const auto lamb = [](const Replica& model) { return Lamb(model, LambOptions(0.01).weight_decay(0.01)); };
      CHECK(distance(train(topology, shard, lamb), train(topology, std::nullopt, lamb)) < 1e-12);
      const auto muon = [](const Replica& model) { return Muon(model, MuonOptions(0.01)); };
      CHECK(distance(train(topology, shard, muon), train(topology, std::nullopt, muon)) < 1e-10);
    }
}

TEST_CASE("an optimizer derived from a known one has its own name", "[nn][optim]") {
  const std::vector<at::Tensor> parameters{torch::zeros({2})};
  const OwnSgd own(parameters, torch::optim::SGDOptions(0.1));
  const torch::optim::SGD plain(parameters, torch::optim::SGDOptions(0.1));
  CHECK(ht::nn::detail::name_of(own) == "SGD");
  add_optimizer_kind(optimizer_kind<OwnSgd, torch::optim::SGDParamState>("OwnSgd", [](OptimizerKind::State& s) {
    return std::vector{&static_cast<torch::optim::SGDParamState&>(s).momentum_buffer()};
  }));
  CHECK(ht::nn::detail::name_of(own) == "OwnSgd");
  CHECK(ht::nn::detail::name_of(plain) == "SGD");
}

TEST_CASE("Optimizers of one's own go through DASO and checkpoints once they are known", "[nn][optim][checkpoint]") {
  const auto path = scratch_path("nn_layerwise_test");
  {
    DataParallelMultiGPU model(std::make_shared<SmallNet>(), ht::Topology(ht::world()));
    Sign sign(model.parameters());
    CHECK_THAT(message_of<ht::TypeError>([&] { DASO(model, sign); }), Catch::Contains("add_optimizer_kind"));
  }
  add_optimizer_kind(optimizer_kind<Sign, SignState>(
      "Sign", [](OptimizerKind::State& s) { return std::vector{&static_cast<SignState&>(s).sum()}; }));
  const auto run = [&](const ht::Topology& topology, auto make, std::int64_t stop) {
    DataParallelMultiGPU model(std::make_shared<SmallNet>(), topology);
    auto optimizer = make(model);
    DASO daso(model, optimizer, {.interval = {.first = {2, 1}}});
    std::int64_t first = 0;
    const auto train = [&](std::int64_t last) {
      for (; first < last; ++first) {
        daso.zero_grad();
        backward(model, first);
        daso.step(1.0);
      }
    };
    if (stop > 0) {
      train(stop);
      save_checkpoint(path, daso);
      return std::vector<at::Tensor>();
    }
    if (stop < 0) {
      (void)load_checkpoint(path, daso);
      first = -stop;
    }
    train(9);
    daso.drain();
    CHECK(model.equal_on_all_ranks());
    return weights(model.module());
  };
  const auto check = [&](const auto& make) {
    for (const auto& topology : topologies()) {
      (void)run(topology, make, 5);
      CHECK(equal(run(topology, make, -5), run(topology, make, 0)));
    }
  };
  check([](Replica& model) { return Sign(model.parameters()); });
  check([](Replica& model) { return Lars(model); });
  check([](Replica& model) { return Lamb(model); });
  check([](Replica& model) { return Muon(model); });
  ht::world().barrier();
  if (ht::world().rank() == 0) std::filesystem::remove(path);
}
