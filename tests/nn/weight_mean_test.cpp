#include "scratch_file.hpp"
#include "training.hpp"
#include "../support.hpp"

#include <heatpp_nn/training/detail/training.hpp>
#include <heatpp_nn/training/trainer.hpp>

#include <filesystem>

using namespace heatpp::nn;
using ht::nn::detail::WeightMean;

namespace {

std::string path() { return scratch_path("nn_weight_mean"); }

struct Normed : torch::nn::Module {
  torch::nn::Linear first = register_module("first", torch::nn::Linear(5, 40)),
                    second = register_module("second", torch::nn::Linear(40, 3));
  torch::nn::BatchNorm1d norm = register_module("norm", torch::nn::BatchNorm1d(40));
  at::Tensor forward(const at::Tensor& x) { return second(norm(first(x))); }
};

std::shared_ptr<Normed> normed() {
  torch::manual_seed(2);
  auto net = std::make_shared<Normed>();
  net->to(torch::kDouble);
  return net;
}

/// A training by DASO, or by DataParallel, with a running mean.
struct MeanRun {
  DataParallelMultiGPU<Normed> model;
  torch::optim::Adam adam{model.parameters(), torch::optim::AdamOptions(0.01)};
  std::unique_ptr<DASO> daso;
  WeightMean mean{model, 0.8};

  MeanRun(const ht::Topology& topology, bool with_daso) : model(normed(), topology) {
    if (!with_daso) return;
    daso = std::make_unique<DASO>(
        model, adam, DasoOptions{.phases = {.warmup = 2, .cooldown = 4, .total = 20}, .interval = {.first = {3, 1}}});
  }
  [[nodiscard]] ht::nn::detail::Training training() { return {model, adam, daso.get(), &mean}; }
  [[nodiscard]] ht::nn::detail::Training without_mean() { return {model, adam, daso.get()}; }

  void train(std::int64_t first, std::int64_t last) {
    for (auto b = first; b < last; ++b) {
      adam.zero_grad();
      backward(model, b);
      if (daso) {
        daso->step(1.0);
      } else {
        REQUIRE(model.finish_gradients());
        adam.step();
      }
      mean.update(training().alike());
    }
  }
  [[nodiscard]] std::vector<at::Tensor> means() const {
    auto all = mean.of_parameters();
    all.insert(all.end(), mean.of_buffers().begin(), mean.of_buffers().end());
    return all;
  }
};

void save(const ht::nn::detail::Training& training) {
  auto writer = ht::nn::detail::begin_checkpoint(path(), training, {}, {});
  writer.write();
  writer.commit();
}

/// The means over all ranks of tensors.
std::vector<at::Tensor> averaged(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> means;
  for (const auto& tensor : tensors) {
    means.push_back(tensor.detach().clone());
    ht::world().allreduce(ht::Buffer(means.back().data_ptr<double>(), tensor.numel(), ht::float64), ht::ReduceOp::mean);
  }
  return means;
}

}  // namespace

TEST_CASE("a running mean continues from a checkpoint with the same bits", "[nn][weight_mean]") {
  const ScratchFile scratch{path()};
  for (const auto& topology : topologies())
    for (const bool with_daso : {false, true})
      for (const std::int64_t saved : {1, 7, 10, 18}) {
        MeanRun run(topology, with_daso);
        run.train(0, saved);
        save(run.training());
        run.train(saved, 20);

        MeanRun resumed(topology, with_daso);
        (void)ht::nn::detail::load(path(), resumed.training());
        resumed.train(saved, 20);

        INFO("saved at " << saved << ", DASO " << with_daso);
        CHECK(equal(run.means(), resumed.means()));
        CHECK(run.model.checksum() == resumed.model.checksum());
      }
}

TEST_CASE("A running mean is written in pieces, one of each element, and read on other ranks", "[nn][weight_mean]") {
  const ScratchFile scratch{path()};
  const ht::Topology topology(ht::world());
  MeanRun run(topology, false);
  run.train(0, 5);
  std::array<std::int64_t, 2> bytes{0, 0};
  for (const bool with_mean : {false, true})
    for (const auto& piece :
         ht::nn::detail::written_pieces(run.model, run.adam,
                                        with_mean ? run.training().mean_of_parameters() : std::span<const at::Tensor>(),
                                        ht::nn::detail::Alike::all)
             .tensors)
      bytes[with_mean] += static_cast<std::int64_t>(piece.nbytes());
  const auto mine = bytes[1] - bytes[0], N = run.model.gradient_bytes();
  CHECK(std::abs(mine - N / ht::world().size()) <= 64);
  ht::world().allreduce(bytes);
  CHECK(bytes[0] == 3 * N);
  CHECK(bytes[1] == 4 * N);

  save(run.training());
  const auto half = *ht::world().split(ht::world().rank() % 2);
  MeanRun fewer(ht::Topology(half), false);
  (void)ht::nn::detail::load(path(), fewer.training());
  CHECK(equal(run.mean.of_parameters(), fewer.mean.of_parameters()));
  const auto of = [](const MeanRun& one) { return ht::nn::detail::floating(one.model.module().buffers()); };
  CHECK(distance(averaged(of(run)), of(fewer)) < 1e-12);
  CHECK(distance(averaged(run.mean.of_buffers()), fewer.mean.of_buffers()) < 1e-12);
}

TEST_CASE("A row gets the same outputs on all ranks after an epoch", "[nn][weight_mean]") {
  const auto [x, y] = my_batch(0, 8);
  const Dataset training(ht::from_local(x, {.split = 0}), ht::from_local(y, {.split = 0}));
  const auto rows = ht::from_local(samples(5).first, {.split = std::nullopt});
  const DasoOptions skips{.interval = {.first = {4, 1, 4}, .local_skips = true},
                          .merge = {.policy = MergePolicy::outer}};
  for (const auto& topology : topologies())
    for (const auto& daso : {std::optional<DasoOptions>(), {DasoOptions{}}, {skips}})
      for (const auto ema : {std::optional<double>(), {0.5}}) {
        DataParallelMultiGPU model(normed(), topology);
        torch::optim::Adam adam(model.parameters(), torch::optim::AdamOptions(0.01));
        Trainer trainer(model, adam, [](const at::Tensor& a, const at::Tensor& b) { return torch::mse_loss(a, b); },
                        {.batch_size = 2 * ht::world().size(), .daso = daso, .ema = ema, .progress = false});
        trainer.fit(training);

        const auto outputs = trainer.predict(rows).larray();
        auto first = outputs.clone();
        ht::world().broadcast(ht::Buffer(first.data_ptr<double>(), first.numel(), ht::float64), 0);
        CHECK(equals(outputs, first));
      }
}

TEST_CASE("a running mean begins with the weights of a file that has none, and is ignored if none is wanted",
          "[nn][weight_mean]") {
  const ScratchFile scratch{path()};
  const ht::Topology topology(ht::world());
  MeanRun run(topology, false), other(topology, false), third(topology, false);
  run.train(0, 4);
  save(run.without_mean());
  (void)ht::nn::detail::load(path(), other.training());
  const auto& parameters = other.model.flat().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) CHECK(equals(other.mean.of_parameters()[i], parameters[i]));
  CHECK(equals(other.mean.of_buffers()[0], other.model->norm->running_mean));

  save(run.training());
  (void)ht::nn::detail::load(path(), third.without_mean());
  CHECK(third.model.checksum() == run.model.checksum());
}
