// Trains a network while a simulation runs. The network is a surrogate: it learns to make many time steps of the heat
// equation at once. Each rank trains on its own rows of the plate, with the rows of its neighbors as ghosts, on the
// solver's communicator.
#include "view.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
#include <heatpp/interop/mpi.hpp>
#include <heatpp_nn/heatpp_nn.hpp>
#include <numbers>
#include <torch/nn/modules/conv.h>
#include <torch/optim/adam.h>

namespace ht = heatpp;
namespace nn = heatpp::nn;

namespace {

constexpr std::int64_t reach = 12;  // points on each side of a point that the surrogate uses
constexpr int leap = 24;            // time steps that it takes at once

/// Four convolutions that together have this reach. The edges of the plate are cold, so zeros lie beyond them.
struct Surrogate : torch::nn::Module {
  static torch::nn::Conv2d layer(std::int64_t in, std::int64_t out) {
    return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 2 * (reach / 4) + 1));
  }
  torch::nn::Conv2d first = register_module("first", layer(1, 8)), second = register_module("second", layer(8, 8)),
                    third = register_module("third", layer(8, 8)), last = register_module("last", layer(8, 1));

  /// Maps (n, 1, rows + 2 reach, columns + 2 reach) to (n, 1, rows, columns).
  at::Tensor forward(const at::Tensor& fields) {
    auto x = at::leaky_relu(first(fields), 0.2);
    x = at::leaky_relu(second(x), 0.2);
    return last(at::leaky_relu(third(x), 0.2));
  }
};

/// Returns an initial field of a few waves with cold edges, equal on all ranks for the same number.
HeatSolver::Start waves(std::uint64_t number) {
  auto generator = at::detail::createCPUGenerator(number);
  const auto amplitudes = at::randn({4, 4}, generator, at::TensorOptions(at::kDouble));
  return [amplitudes](double x, double y) {
    double sum = 0;
    for (int i = 1; i <= 4; ++i)
      for (int j = 1; j <= 4; ++j)
        sum += amplitudes[i - 1][j - 1].item<double>() * std::sin(i * std::numbers::pi * x) *
               std::sin(j * std::numbers::pi * y);
    return sum;
  };
}

/// This rank's rows of the field, copied, with and without the points around them, as one sample.
struct Sample {
  at::Tensor wide, inner;
};

Sample sample_of(HeatSolver& solver, const ht::Communicator& comm) {
  const auto field = view_of(solver, comm);
  const auto rows = ht::halo(field, {.width = reach, .boundary = ht::Boundary::constant}).with_block();
  const auto wide = at::constant_pad_nd(rows.to(at::kFloat), {reach, reach});
  return {wide.unsqueeze(0).unsqueeze(0), field.larray().to(at::kFloat).unsqueeze(0).unsqueeze(0)};
}

void leap_with(HeatSolver& solver) {
  for (int step = 0; step < leap; ++step) solver.step();
}

at::Tensor loss_of(Surrogate& net, const at::Tensor& fields, const at::Tensor& later) {
  // Every field has the same weight, also if it has cooled.
  const auto size = later.square().mean({1, 2, 3}, true) + 1e-8;
  return ((net.forward(fields) - later).square() / size).mean();
}

struct Errors {
  double surrogate, standstill;  // relative L2 errors of the network, and of no change at all
};

Errors evaluate(Surrogate& net, const ht::Communicator& comm, MPI_Comm mpi, std::size_t points, std::uint64_t number) {
  const at::NoGradGuard no_grad;
  HeatSolver solver(mpi, points, waves(number));
  const auto now = sample_of(solver, comm);
  leap_with(solver);
  const auto later = sample_of(solver, comm).inner;
  std::array<double, 3> sums{(net.forward(now.wide) - later).square().sum().item<double>(),
                             (now.inner - later).square().sum().item<double>(), later.square().sum().item<double>()};
  comm.allreduce(sums);
  return {std::sqrt(sums[0] / sums[2]), std::sqrt(sums[1] / sums[2])};
}

struct Options {
  std::size_t points = 32;
  int runs = 150, leaps = 4, unseen = 8;
  double wanted = 0.05;
};

bool train(const Options& options) {
  HeatSolver first(MPI_COMM_WORLD, options.points);
  const auto comm = ht::from_mpi(first.comm());
  const ht::Topology topology(comm);
  torch::manual_seed(1);
  nn::DataParallelMultiGPU model(std::make_shared<Surrogate>(), topology);
  torch::optim::Adam adam(model.parameters(), 3e-3);
  nn::DASO daso(model, adam, {.phases = {.warmup = 50}, .interval = {.first = {2, 1}}});
  nn::OnlineTrainer trainer(daso,
                            [&](const at::Tensor& x, const at::Tensor& y) { return loss_of(model.module(), x, y); },
                            {.capacity = 256, .batch_size = 8, .updates = 4});
  const auto updates = 4 * options.runs * options.leaps;
  const nn::WarmupCosine rate{.peak = 3e-3, .warmup = updates / 20, .total = updates};
  for (int run = 0; run < options.runs; ++run) {
    HeatSolver solver(first.comm(), options.points, waves(static_cast<std::uint64_t>(run)));
    double loss = 0;
    for (int k = 0; k < options.leaps; ++k) {
      const auto before = sample_of(solver, comm).wide;
      leap_with(solver);
      nn::set_learning_rate(adam, rate.at(daso.batch()));
      loss = trainer.train_step(before, sample_of(solver, comm).inner);
    }
    if (comm.rank() == 0 && (run + 1) % 10 == 0) std::printf("run %3d  relative loss %.5f\n", run + 1, loss);
  }
  daso.drain();
  double worst = 0;
  for (int i = 0; i < options.unseen; ++i) {
    const auto errors =
        evaluate(model.module(), comm, first.comm(), options.points, 1000000 + static_cast<std::uint64_t>(i));
    worst = std::max(worst, errors.surrogate);
    if (comm.rank() == 0)
      std::printf("unseen start %d: relative L2 error %.4f; of no change %.4f\n", i, errors.surrogate,
                  errors.standstill);
  }
  return worst < options.wanted;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);  // the simulation starts and ends MPI; heatpp is a guest
  int status = 1;
  try {
    const ht::Environment env(argc, argv);
    Options options;
    CLI::App app{"A surrogate of the heat equation, trained while the simulation runs"};
    app.add_option("--points", options.points, "interior points along an edge")->check(CLI::Range(4, 100000));
    app.add_option("--runs", options.runs, "number of simulations for training")->check(CLI::PositiveNumber);
    app.add_option("--leaps", options.leaps, "samples of each")->check(CLI::PositiveNumber);
    app.add_option("--wanted", options.wanted, "relative L2 error that every unseen start must stay below");
    CLI11_PARSE(app, argc, argv);
    status = train(options) ? 0 : 1;
  } catch (const ht::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  MPI_Finalize();
  return status;
}
