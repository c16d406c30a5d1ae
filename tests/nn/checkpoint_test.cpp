#include "training.hpp"
#include "../support.hpp"

#include <heatpp_nn/checkpoint.hpp>

#include <filesystem>
#include <fstream>

using namespace heatpp::nn;

namespace {

// Runs with other numbers of ranks may be under way in the same folder.
std::string path() {
  return std::filesystem::temp_directory_path() / ("nn_checkpoint_test." + std::to_string(ht::world().size()) + ".pt");
}

/// Removes the file at the end of a test.
struct Cleanup {
  ~Cleanup() {
    ht::world().barrier();
    if (ht::world().rank() == 0) std::filesystem::remove(path());
  }
};

/// A training with random numbers, momenta and running statistics.
struct Run {
  std::shared_ptr<torch::nn::SequentialImpl> net;
  std::unique_ptr<DataParallelMultiGPU<torch::nn::SequentialImpl>> model;
  std::unique_ptr<torch::optim::Adam> adam;
  std::unique_ptr<DASO> daso;

  explicit Run(const ht::Topology& topology, std::int64_t width = 6) {
    torch::manual_seed(11);
    net = std::make_shared<torch::nn::SequentialImpl>(torch::nn::Linear(5, width), torch::nn::BatchNorm1d(width),
                                                      torch::nn::Dropout(0.3), torch::nn::Linear(width, 3));
    net->to(torch::kDouble);
    model = std::make_unique<DataParallelMultiGPU<torch::nn::SequentialImpl>>(net, topology);
    adam = std::make_unique<torch::optim::Adam>(model->parameters(), torch::optim::AdamOptions(0.01));
    daso = std::make_unique<DASO>(
        *model, *adam,
        DasoOptions{
            .phases = {.warmup = 3, .cooldown = 3, .total = 24}, .interval = {.first = {2, 1}}, .review_every = 5});
    torch::manual_seed(100 + static_cast<std::uint64_t>(ht::world().rank()));
  }

  void train(std::int64_t first, std::int64_t last) {
    for (auto b = first; b < last; ++b) {
      daso->zero_grad();
      const auto [x, y] = my_batch(b, 4);
      const auto loss = torch::mse_loss(net->forward(x), y);
      loss.backward();
      daso->step(loss);
    }
  }
};

void cut_file(std::uintmax_t size) {
  if (ht::world().rank() == 0) std::filesystem::resize_file(path(), size);
  ht::world().barrier();
}

std::string refusal(Run& run, const std::string& file = path()) {
  return message_of<ht::IoError>([&] { (void)load_checkpoint(file, *run.daso); });
}

}  // namespace

TEST_CASE("Going on from a checkpoint gives the same bits as going on without", "[nn][checkpoint]") {
  const Cleanup cleanup;
  const auto saved_at = GENERATE(2, 8, 13, 22);  // in warm-up, with a synchronisation under way, in a cycle, at the end
  for (const auto& topology : topologies()) {
    Run whole(topology);
    whole.train(0, saved_at);
    save_checkpoint(path(), *whole.daso, 7);
    whole.train(saved_at, 24);
    whole.daso->drain();

    Run again(topology);
    const auto epoch = load_checkpoint(path(), *again.daso);
    again.train(saved_at, 24);
    again.daso->drain();

    CHECK(epoch == 7);
    CHECK(again.model->checksum() == whole.model->checksum());
    CHECK((again.daso->events() == whole.daso->events()));
    CHECK(again.model->equal_on_all_ranks());
  }
}

TEST_CASE("LibTorch itself reads the weights of a checkpoint", "[nn][checkpoint]") {
  const Cleanup cleanup;
  const ht::Topology topology(ht::world());
  Run run(topology);
  run.train(0, 4);
  save_checkpoint(path(), *run.daso, 0);
  Run fresh(topology);

  torch::load(fresh.net, path());

  CHECK(fresh.model->checksum() == run.model->checksum());
}

TEST_CASE("Damaged, missing and foreign checkpoints are errors on all ranks and change nothing", "[nn][checkpoint]") {
  const Cleanup cleanup;
  const ht::Topology topology(ht::world());
  Run run(topology);
  run.train(0, 4);
  save_checkpoint(path(), *run.daso, 0);
  run.train(4, 5);
  const auto before = weights(*run.net);
  const auto size = std::filesystem::file_size(path());
  ht::world().barrier();
  Run wider(topology, 7);

  const auto foreign = refusal(wider);
  cut_file(size / 2);
  const auto half = refusal(run);
  cut_file(0);
  const auto empty = refusal(run);
  const auto missing = refusal(run, "no/such/file.pt");

  for (const auto& message : {foreign, half, empty}) CHECK_THAT(message, Catch::Contains("got \"" + path() + "\""));
  CHECK_THAT(missing, Catch::Contains("no/such/file.pt"));
  CHECK(equal(weights(*run.net), before));
  CHECK(wider.net->ptr<torch::nn::LinearImpl>(0)->weight.sizes() == at::IntArrayRef({7, 5}));
}

TEST_CASE("A flipped bit in the weights is found", "[nn][checkpoint]") {
  const Cleanup cleanup;
  const ht::Topology topology(ht::world());
  Run run(topology);
  save_checkpoint(path(), *run.daso, 0);
  if (ht::world().rank() == 0) {
    const auto weight = run.net->ptr<torch::nn::LinearImpl>(3)->weight.detach();
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    std::string bytes(std::filesystem::file_size(path()), '\0');
    file.read(bytes.data(), std::ssize(bytes));
    const auto at = bytes.find(std::string(static_cast<const char*>(weight.const_data_ptr()), 64));
    CHECK(at != std::string::npos);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(bytes[at] ^ 1));
  }
  ht::world().barrier();

  CHECK_THAT(refusal(run), Catch::Contains(path()));
}

TEST_CASE("A checkpoint that cannot be written is an error on all ranks", "[nn][checkpoint]") {
  const ht::Topology topology(ht::world());
  Run run(topology);

  const auto message = message_of<ht::IoError>([&] { save_checkpoint("no/such/folder/x.pt", *run.daso, 0); });

  CHECK_THAT(message, Catch::Contains("no/such/folder/x.pt"));
}
