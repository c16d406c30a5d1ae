#include "../training.hpp"
#include "../../support.hpp"

#include <heatpp_nn/models/unet.hpp>
#include <heatpp_nn/parallel/sync_batch_norm.hpp>
#include <heatpp_nn/training/trainer.hpp>

using namespace heatpp::nn;

namespace {

/// Returns the numbers of rows of the ranks: equal, unequal, all on the last one.
std::vector<std::vector<std::int64_t>> row_counts() {
  const auto ranks = static_cast<std::size_t>(ht::world().size());
  std::vector<std::int64_t> even(ranks, 4), uneven, one(ranks, 0);
  for (std::size_t r = 0; r < ranks; ++r) uneven.push_back(static_cast<std::int64_t>(3 * r + 2) % 5);
  one.back() = 6;
  return {even, uneven, one};
}

/// Returns this rank's rows of a tensor that has those of all.
at::Tensor mine(const at::Tensor& all, const std::vector<std::int64_t>& counts) {
  const auto rank = static_cast<std::size_t>(ht::world().rank());
  const auto first =
      std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(rank), std::int64_t{0});
  return all.narrow(0, first, counts[rank]).clone();
}

std::int64_t sum(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

at::Tensor added_up(at::Tensor tensor) {
  tensor = tensor.clone();
  ht::world().allreduce(std::span(tensor.data_ptr<double>(), static_cast<std::size_t>(tensor.numel())));
  return tensor;
}

template <class Norm>
void compare(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& counts,
             const SyncBatchNormOptions& options, double tolerance, at::ScalarType dtype) {
  auto sizes = extents;
  sizes.insert(sizes.begin(), {sum(counts), 3});
  auto generator = at::detail::createCPUGenerator(5);
  const auto all = (torch::randn(sizes, generator, torch::kDouble) * 2 + 1e4).to(dtype);
  const auto slopes = torch::randn(sizes, generator, torch::kDouble).to(dtype);

  Norm expected(torch::nn::BatchNormOptions(3).eps(options.eps).momentum(options.momentum).affine(options.affine));
  SyncBatchNorm norm(3, options);
  expected->to(torch::kDouble);  // the reference, also for float32
  norm->to(dtype);
  ht::nn::synchronise_norms(*norm, ht::Topology(ht::world()));
  auto whole = all.to(torch::kDouble).requires_grad_(), part = mine(all.detach(), counts).requires_grad_();

  const auto wanted = expected(whole), found = norm(part);
  (wanted * slopes.to(torch::kDouble)).sum().backward();
  (found * mine(slopes, counts)).sum().backward();

  const auto close = [&](const at::Tensor& a, const at::Tensor& b) {
    return near_to(a.to(torch::kDouble), b, tolerance, tolerance);
  };
  CHECK(found.scalar_type() == dtype);
  CHECK(close(found, mine(wanted.detach(), counts)));
  CHECK(close(part.grad(), mine(whole.grad(), counts)));
  CHECK(near_to(norm->running_mean.to(torch::kDouble), expected->running_mean, 1e-6));
  CHECK(close(norm->running_var, expected->running_var));
  CHECK(norm->num_batches_tracked.template item<double>() == 1);
  if (!options.affine) return;
  CHECK(close(added_up(norm->weight.grad().to(torch::kDouble)), expected->weight.grad()));
  CHECK(close(added_up(norm->bias.grad().to(torch::kDouble)), expected->bias.grad()));
}

/// Convolution, normalisation and a linear layer.
template <class Norm>
struct Net : torch::nn::Module {
  torch::nn::Conv2d conv = register_module("conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 4, 3).padding(1)));
  Norm bn = register_module("bn", Norm(4));
  torch::nn::Linear fc = register_module("fc", torch::nn::Linear(4, 2));
  at::Tensor forward(const at::Tensor& x) { return fc(torch::relu(bn(conv(x))).mean({2, 3})); }
};

template <class Norm>
std::shared_ptr<Net<Norm>> net() {
  torch::manual_seed(3);
  auto made = std::make_shared<Net<Norm>>();
  made->to(torch::kDouble);
  return made;
}

}  // namespace

TEST_CASE("Norms over all ranks are those of one rank with all rows", "[nn][sync_batch_norm]") {
  using namespace torch::nn;
  for (const auto& counts : row_counts()) {
    for (const auto& options : {SyncBatchNormOptions{}, {.eps = 1e-3, .momentum = std::nullopt}, {.affine = false}}) {
      compare<BatchNorm1d>({}, counts, options, 1e-9, torch::kDouble);
      compare<BatchNorm1d>({5}, counts, options, 1e-9, torch::kDouble);
      compare<BatchNorm2d>({4, 3}, counts, options, 1e-9, torch::kDouble);
      compare<BatchNorm3d>({2, 3, 2}, counts, options, 1e-9, torch::kDouble);
    }
    compare<BatchNorm2d>({4, 3}, counts, {}, 2e-2, torch::kFloat);  // an ulp of 1e4 is 1e-3
  }
}

TEST_CASE("A network with norms over all ranks trains as one rank with all rows does", "[nn][sync_batch_norm]") {
  for (const auto& counts : row_counts())
    for (const auto& topology : topologies()) {
      auto generator = at::detail::createCPUGenerator(9);
      const auto x = torch::randn({sum(counts), 1, 6, 6}, generator, torch::kDouble),
                 y = torch::randn({sum(counts), 2}, generator, torch::kDouble);
      const auto single = net<torch::nn::BatchNorm2d>();
      torch::optim::SGD alone(single->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
      DataParallel model(net<SyncBatchNorm>(), topology);
      CHECK(synchronise_norms(model.module(), topology) == 1);
      torch::optim::SGD sgd(model.parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));

      for (int batch = 0; batch < 4; ++batch) {
        alone.zero_grad();
        torch::mse_loss(single->forward(x), y).backward();
        alone.step();
        sgd.zero_grad();
        const auto outputs = model(mine(x, counts));
        const auto rows = outputs.size(0);
        model.backward(rows > 0 ? torch::mse_loss(outputs, mine(y, counts)) : outputs.sum(), static_cast<double>(rows));
        model.step(sgd);
      }

      CHECK(distance(weights(*single), weights(model.module())) < 1e-9);
      CHECK(near_to(single->bn->running_mean, model->bn->running_mean, 1e-9));
      CHECK(near_to(single->bn->running_var, model->bn->running_var, 1e-9));
      CHECK(model.equal_on_all_ranks());
      single->eval();
      model->eval();
      CHECK(near_to(single->forward(x), model(x), 1e-9, 1e-9));
    }
}

TEST_CASE("Norms of nodes are those of their rows", "[nn][sync_batch_norm]") {
  for (const auto& topology : topologies()) {
    SyncBatchNorm norm(1);
    synchronise_norms(*norm, topology, Scope::node);
    const auto x = torch::full({2, 1}, static_cast<float>(ht::world().rank()));
    const auto ranks = topology.node().allgather(std::int64_t{ht::world().rank()});

    if (topology.node().size() > 1) (void)norm(x);

    const auto mean = static_cast<double>(std::accumulate(ranks.begin(), ranks.end(), std::int64_t{0})) /
                      static_cast<double>(ranks.size());
    if (topology.node().size() > 1) CHECK(norm->running_mean.item<double>() == Approx(0.1 * mean));
  }
}

TEST_CASE("A trainer takes norms over all ranks to those that have no rows", "[nn][sync_batch_norm]") {
  const auto rank = ht::world().rank(), last = ht::world().size() - 1;
  auto generator = at::detail::createCPUGenerator(2);
  const auto x = torch::randn({10, 1, 8, 8}, generator), y = x.square();
  const auto part = [&](const at::Tensor& all) {
    return ht::from_local(all.narrow(0, 0, rank == last ? 10 : 0).clone(), {.split = 0});
  };
  const Dataset dataset(part(x), part(y));
  for (const bool synchronised : {true, false}) {
    torch::manual_seed(1);
    const ht::Topology topology(ht::world());
    DataParallel model(std::make_shared<UNet>(UNetOptions{.width = 4, .depth = 2}), topology);
    if (synchronised) CHECK(synchronise_norms(model.module(), topology) == 10);
    CHECK(has_synchronised_norms(model.module()) == (synchronised && last > 0));
    torch::optim::SGD sgd(model.parameters(), torch::optim::SGDOptions(0.05));
    Trainer trainer(model, sgd, [](const at::Tensor& a, const at::Tensor& b) { return torch::mse_loss(a, b); },
                    {.epochs = 3, .batch_size = 4 * ht::world().size(), .progress = false});

    const auto result = trainer.fit(dataset);

    CHECK(std::isfinite(result.epochs.back().loss));
    CHECK(result.epochs.back().loss < result.epochs.front().loss);
    CHECK(model.equal_on_all_ranks());  // also the counts of each rank's own rows
  }
}

TEST_CASE("Norms that cannot be synchronised are refused", "[nn][sync_batch_norm]") {
  const ht::Topology topology(ht::world());
  const auto plain = net<torch::nn::BatchNorm2d>();
  CHECK_THAT(message_of<ht::ValueError>([&] { synchronise_norms(*plain, topology); }), Catch::Contains("bn"));
  CHECK_THROWS_AS(SyncBatchNorm(0), ht::ValueError);
  SyncBatchNorm norm(2);
  synchronise_norms(*norm, topology);
  CHECK_THROWS_AS(norm(torch::ones({4, 3})), ht::ValueError);
  CHECK_THROWS_AS(norm(torch::ones({ht::world().rank() == 0 ? 1 : 0, 2})), ht::ValueError);
  norm->eval();
  CHECK(norm(torch::ones({1, 2})).size(0) == 1);
}
