#include "../scratch_file.hpp"
#include "../training.hpp"
#include "../../support.hpp"

#include <heatpp_nn/models/script_module.hpp>
#include <heatpp_nn/training/inference.hpp>
#include <torch/script.h>

// Networks that train each other, and scripted ones with several outputs.

using namespace heatpp::nn;

namespace {

constexpr std::int64_t per_rank = 3;

/// Returns the loss for scores that should be `as`.
at::Tensor judged(const at::Tensor& scores, double as) { return torch::mse_loss(scores, torch::full_like(scores, as)); }

/// Returns a layer with the same weights on all ranks.
std::shared_ptr<torch::nn::LinearImpl> layer(std::int64_t from, std::int64_t to, std::uint64_t seed) {
  torch::manual_seed(seed);
  torch::nn::Linear made(from, to);
  made->to(torch::kDouble);
  return made.ptr();
}

/// Returns rows of all ranks: real ones, and noise.
std::pair<at::Tensor, at::Tensor> rows_of(std::int64_t step) {
  const auto [x, y] = samples(per_rank * ht::world().size(), static_cast<std::uint64_t>(10 + step));
  return {y, x};
}
at::Tensor mine(const at::Tensor& rows) { return rows.narrow(0, per_rank * ht::world().rank(), per_rank); }

/// How the discriminator's gradients of the generator's loss are kept from travelling.
enum class Way { no_sync, frozen };

std::vector<at::Tensor> train_gan(Way way) {
  const ht::Topology topology(ht::world());
  DataParallel generator(layer(5, 3, 1), topology), discriminator(layer(3, 1, 2), topology);
  torch::optim::SGD g_step(generator.parameters(), 0.1), d_step(discriminator.parameters(), 0.1);
  for (std::int64_t step = 0; step < 4; ++step) {
    const auto [real, noise] = rows_of(step);
    const auto fake = generator(mine(noise));
    d_step.zero_grad();
    (judged(discriminator(mine(real)), 1) + judged(discriminator(fake.detach()), 0)).backward();
    discriminator.step(d_step);
    g_step.zero_grad();
    if (way == Way::no_sync) {
      const auto guard = discriminator.no_sync();
      judged(discriminator(fake), 1).backward();
    } else {
      for (auto& parameter : discriminator->parameters()) parameter.requires_grad_(false);
      judged(discriminator(fake), 1).backward();
      for (auto& parameter : discriminator->parameters()) parameter.requires_grad_(true);
    }
    generator.step(g_step);
  }
  auto found = weights(generator.module());
  for (const auto& tensor : weights(discriminator.module())) found.push_back(tensor);
  return found;
}

std::vector<at::Tensor> train_gan_alone() {
  const auto generator = layer(5, 3, 1), discriminator = layer(3, 1, 2);
  torch::optim::SGD g_step(generator->parameters(), 0.1), d_step(discriminator->parameters(), 0.1);
  for (std::int64_t step = 0; step < 4; ++step) {
    const auto [real, noise] = rows_of(step);
    const auto fake = generator->forward(noise);
    d_step.zero_grad();
    (judged(discriminator->forward(real), 1) + judged(discriminator->forward(fake.detach()), 0)).backward();
    d_step.step();
    g_step.zero_grad();
    judged(discriminator->forward(fake), 1).backward();
    g_step.step();
  }
  auto found = weights(*generator);
  for (const auto& tensor : weights(*discriminator)) found.push_back(tensor);
  return found;
}

void write_script(const std::string& path, const char* forward) {
  ht::world().barrier();
  if (ht::world().rank() == 0) {
    torch::jit::Module script("Net");
    script.register_attribute("training", c10::BoolType::get(), true);
    script.register_parameter("w", torch::full({1}, 2.0, torch::kDouble).requires_grad_(), false);
    script.define(forward);
    script.save(path);
  }
  ht::world().barrier();
}

}  // namespace

TEST_CASE("Two networks that train each other do as in one process", "[nn][data_parallel]") {
  const auto expected = train_gan_alone();
  CHECK(distance(train_gan(Way::no_sync), expected) < 1e-13);
  CHECK(distance(train_gan(Way::frozen), expected) < 1e-13);
}

TEST_CASE("A second backward through another network's loss names the ways out", "[nn][data_parallel]") {
  const ht::Topology topology(ht::world());
  DataParallel generator(layer(5, 3, 1), topology), discriminator(layer(3, 1, 2), topology);
  const auto [real, noise] = rows_of(0);
  judged(discriminator(generator(mine(noise))), 1).backward();
  generator.average_gradients();
  CHECK_THAT(message_of<ht::ValueError>([&, real = real] { judged(discriminator(mine(real)), 1).backward(); }),
             Catch::Contains("no_sync() around that loss's backward or requires_grad_(false)"));
  discriminator.average_gradients();
}

TEST_CASE("A scripted network gives tuples, lists and dicts of tensors in their order", "[nn][script]") {
  const ScratchFile file{scratch_path("nn_networks_test")};
  const auto x = torch::arange(4, torch::kDouble).view({2, 2});
  const auto outputs_of = [&](const char* gives) {
    write_script(file.path, (std::string("def forward(self, x):\n  return ") + gives + "\n").c_str());
    ScriptModule net(file.path);
    auto outputs = net.forward(Tensors{x});
    return std::pair(std::move(outputs), net.output_names());
  };
  using List = std::vector<std::string>;
  const auto [tuple, none] = outputs_of("(self.w * x, (x, [x + 1, x + 2]))");
  CHECK(tuple.size() == 4);
  CHECK(equals(tuple[3], x + 2));
  CHECK(none.empty());
  const auto [dict, names] = outputs_of("{'p': self.w * x, 'm': x + 1}");
  CHECK(names == List{"p", "m"});
  CHECK(equals(dict[0], 2 * x));
  const auto [nested, keys] = outputs_of("{'heads': [x, x + 1]}");
  CHECK(keys == List{"heads.0", "heads.1"});
  CHECK(equals(nested[1], x + 1));
  CHECK_THAT(message_of<ht::TypeError>([&] { (void)outputs_of("(x, 3)"); }),
             Catch::Contains("got a script that gives Int"));

  write_script(file.path, "def forward(self, x):\n  return (self.w * x, x + 1)\n");
  DataParallel model(std::make_shared<ScriptModule>(file.path), ht::Topology(ht::world()));
  const auto found = predict(Network(model), std::vector{ht::from_local(x, {.split = 0})});
  CHECK(found.size() == 2);
  CHECK(equals(found[0].larray(), 2 * x));
  CHECK_THROWS_AS(model.module().forward(x), ht::ValueError);
}

TEST_CASE("a script gets arguments of the types of its annotations", "[nn][script]") {
  const ScratchFile file{scratch_path("nn_networks_test")};
  write_script(file.path,
               "def forward(self, a: Tuple[Tensor, Tensor], b: Dict[str, Tensor], c: List[Tensor], d: int = 1):\n"
               "  return a[0] + 2 * a[1] + b['p'] * b['m'] + c[0] + d\n");
  ScriptModule script(file.path);
  const auto number = [](double value) { return torch::full({1}, value, torch::kDouble); };
  CHECK(script.parameter_names() == std::vector<std::string>{"a", "b", "c", "d"});
  CHECK(script.required_parameters() == 3);
  const ModuleArgument pair{"outputs", {number(1), number(2)}}, one{"inputs", {number(7)}};
  const ModuleArgument named{"targets", {number(3), number(4)}, {"m", "p"}};
  CHECK(script.call({pair, named, one}).tensors.front().item<double>() == 1 + 4 + 12 + 7 + 1);
  const auto refuses = [&](const std::string& text, const std::vector<ModuleArgument>& arguments) {
    CHECK_THAT(message_of<ht::ValueError>([&] { (void)script.call(arguments); }), Catch::Contains(text));
  };
  refuses("got 1 outputs for the parameter a of Tuple[Tensor, Tensor]", {{"outputs", {number(1)}}, named, one});
  refuses("got targets without names for the parameter b", {pair, {"targets", {number(3)}}, one});
  refuses("got 2 arguments", {pair, named});
}
