#include "saved_run.hpp"
#include "scratch_file.hpp"
#include "../support.hpp"

#include <heatpp_nn/training/checkpoint.hpp>

#include <sys/resource.h>

#include <csignal>

#include <filesystem>
#include <fstream>

using namespace heatpp::nn;

namespace {

std::string path() { return scratch_path("nn_checkpoint_test"); }

/// Ways of training with different states.
std::vector<DasoOptions> ways() {
  return {
      {.interval = {.first = {4, 2}}},
      {.interval = {.first = {2, 1}}, .carriers = Carriers::rotating},
      {.interval = {.first = {3, 2}}, .merge = {.policy = MergePolicy::outer}, .wire = ht::Wire::int8},
      {.interval = {.first = {6, 2}}, .merge = {.policy = MergePolicy::outer}, .fragments = 3, .wire = ht::Wire::int8},
      {.interval = {.first = {4, 2}}, .fragments = 2, .wire = ht::Wire::int4},
      {.interval = {.first = {4, 2}}, .partners = Partners::pairs, .fragments = 2},
      {.interval = {.first = {4, 2, 2}, .local_skips = true}, .wire = ht::Wire::bfloat16}};
}

/// Returns the events without synchronisations, which a checkpoint leaves out.
std::vector<DasoEvent> lasting(std::vector<DasoEvent> events) {
  std::erase_if(events, [](const auto& event) { return event.is_synchronisation(); });
  return events;
}

void cut_file(std::uintmax_t size) {
  if (ht::world().rank() == 0) std::filesystem::resize_file(path(), size);
  ht::world().barrier();
}

std::string refusal(SavedRun& run, const std::string& file = path()) {
  return message_of<ht::IoError>([&] { (void)load_checkpoint(file, *run.daso); });
}

}  // namespace

TEST_CASE("Going on from a checkpoint at any batch gives the bits of an uninterrupted run", "[nn][checkpoint]") {
  const ScratchFile scratch{path()};
  for (const auto& options : ways())
    for (const auto& topology : topologies()) {
      SavedRun whole(topology, options);
      whole.train(0, 24);
      whole.daso->drain();
      // Warm-up, each batch of the longest cycle, cool-down.
      for (const auto saved_at :
           options.carriers == Carriers::all ? std::vector{2, 7, 8, 9, 10, 22} : std::vector{8, 9}) {
        SavedRun first(topology, options);
        first.train(0, saved_at);
        save_checkpoint(path(), *first.daso, {.epoch = 7, .batch = saved_at},
                        {{"mine", at::full({2}, ht::world().rank())}});
        first.train(saved_at, saved_at + 1);

        SavedRun again(topology, options);
        const auto resumed = load_checkpoint(path(), *again.daso);
        again.train(saved_at, 24);
        again.daso->drain();

        CHECK((resumed.position == Position{.epoch = 7, .batch = saved_at}));
        CHECK(equals(resumed.extras.at("mine"), at::full({2}, ht::world().rank())));
        CHECK(again.model->checksum() == whole.model->checksum());
        CHECK((lasting(again.daso->events()) == lasting(whole.daso->events())));
      }
      CHECK(whole.model->equal_on_all_ranks());
    }
}

TEST_CASE("Another number of ranks takes up the mean of the weights", "[nn][checkpoint]") {
  const ScratchFile scratch{path()};
  for (const auto& options : ways())
    for (const auto& topology : topologies()) {
      SavedRun run(topology, options);
      run.train(0, 9);
      save_checkpoint(path(), *run.daso, {.epoch = 1});
      auto expected = weights(*run.net);
      const ht::Topology all(ht::world());
      for (auto& weight : expected) {
        weight = weight.to(torch::kDouble);
        ht::world().allreduce(ht::Buffer(weight.data_ptr<double>(), weight.numel(), ht::float64), ht::ReduceOp::mean);
      }

      const ht::Topology alone(ht::self());
      SavedRun single(alone, options);
      const auto resumed = load_checkpoint(path(), *single.daso);

      CHECK(resumed.position.epoch == 1);
      CHECK(single.daso->batch() == 9);
      const auto found = weights(*single.net);
      for (std::size_t i = 0; i < found.size(); ++i)
        CHECK(near_to(found[i].to(torch::kDouble), expected[i], 1e-6, 1e-7));
      single.train(9, 24);
      single.daso->drain();
      CHECK(single.daso->phase() == Phase::cooldown);
    }
}

TEST_CASE("a training continues for more epochs, or for fewer", "[nn][checkpoint]") {
  const ScratchFile scratch{path()};
  for (const auto& topology : topologies())
    for (const std::int64_t saved_at : {23, 10}) {  // in the cool-down; in the cycle, with a transfer under way
      SavedRun run(topology);
      run.train(0, saved_at);
      save_checkpoint(path(), *run.daso);

      const auto total = saved_at == 23 ? 40 : 12;
      SavedRun again(topology, {.interval = {.first = {2, 1}}}, 6, total);
      (void)load_checkpoint(path(), *again.daso);
      CHECK(again.daso->phase() == (saved_at == 23 ? Phase::cycle : Phase::cooldown));
      if (saved_at == 10) CHECK(again.model->equal_on_all_ranks());
      again.train(saved_at, total);
      CHECK(again.daso->phase() == Phase::cooldown);
      again.daso->drain();
      CHECK(again.model->equal_on_all_ranks());
    }
}

TEST_CASE("Another merge rule, wire or kind of training takes up the mean", "[nn][checkpoint]") {
  const ScratchFile scratch{path()};
  for (const auto& topology : topologies()) {
    SavedRun run(topology, {.interval = {.first = {4, 2}}});
    run.train(0, 9);
    save_checkpoint(path(), *run.daso, {.epoch = 1});
    auto expected = weights(*run.net);
    for (auto& weight : expected) {
      weight = weight.to(torch::kDouble);
      ht::world().allreduce(ht::Buffer(weight.data_ptr<double>(), weight.numel(), ht::float64), ht::ReduceOp::mean);
    }
    const auto check = [&](const auto& net) {
      const auto found = weights(net);
      for (std::size_t i = 0; i < found.size(); ++i)
        CHECK(near_to(found[i].to(torch::kDouble), expected[i], 1e-6, 1e-7));
    };

    for (const DasoOptions& options :
         {DasoOptions{.interval = {.first = {3, 2}}, .merge = {.policy = MergePolicy::outer}, .wire = ht::Wire::int8},
          DasoOptions{.interval = {.first = {2, 1}}, .carriers = Carriers::rotating}}) {
      SavedRun other(topology, options);
      CHECK(load_checkpoint(path(), *other.daso).position.epoch == 1);
      CHECK(other.daso->batch() == 9);
      check(*other.net);
      other.train(9, 24);
      other.daso->drain();
      CHECK(other.model->equal_on_all_ranks());
    }
    SavedRun synchronous(topology);
    CHECK(load_checkpoint(path(), *synchronous.model, *synchronous.adam).position.epoch == 1);
    check(*synchronous.net);

    save_checkpoint(path(), *synchronous.model, *synchronous.adam, {.epoch = 2});
    SavedRun back(topology);
    CHECK(load_checkpoint(path(), *back.daso).position.epoch == 2);
    check(*back.net);
    CHECK(back.daso->phase() == Phase::warmup);
    back.train(0, 24);
  }
}

TEST_CASE("DataParallel also continues from a checkpoint", "[nn][checkpoint]") {
  const ScratchFile scratch{path()};
  for (const auto& topology : topologies()) {
    const auto train = [](auto& model, auto& adam, std::int64_t first, std::int64_t last) {
      for (auto b = first; b < last; ++b) {
        adam.zero_grad();
        const auto [x, y] = my_batch(b, 4);
        torch::mse_loss(model(x.to(torch::kFloat)), y.to(torch::kFloat)).backward();
        model.average_gradients();
        adam.step();
      }
    };
    const ReplicaOptions options{.gradients = {.wire = ht::Wire::int8}};
    DataParallel whole(std::make_shared<SmallNet>(torch::kFloat), topology, options);
    torch::optim::AdamW adam(whole.parameters());
    train(whole, adam, 0, 5);
    save_checkpoint(path(), whole, adam, {.batch = 5});
    train(whole, adam, 5, 9);

    DataParallel again(std::make_shared<SmallNet>(torch::kFloat), topology, options);
    torch::optim::AdamW other(again.parameters());
    const auto resumed = load_checkpoint(path(), again, other);
    train(again, other, resumed.position.batch, 9);

    CHECK(again.checksum() == whole.checksum());
  }
}

TEST_CASE("Parameter groups keep their own rates through a cycle and a checkpoint", "[nn][checkpoint]") {
  const ScratchFile scratch{path()};
  for (const auto& topology : topologies()) {
    struct Groups {
      std::shared_ptr<SmallNet> net = std::make_shared<SmallNet>();
      DataParallelMultiGPU<SmallNet> model;
      torch::optim::SGD sgd;
      DASO daso;
      explicit Groups(const ht::Topology& topology, double second_rate)
          : model(net, topology),
            sgd({{net->first->parameters()},
                 {net->second->parameters(), std::make_unique<torch::optim::SGDOptions>(second_rate)}},
                torch::optim::SGDOptions(0.1).momentum(0.9)),
            daso(model, sgd, {.interval = {.first = {2, 1}}}) {}
      void train(std::int64_t first, std::int64_t last) {
        for (auto b = first; b < last; ++b) {
          daso.zero_grad();
          backward(model, b);
          daso.step(1.0);
        }
      }
    };
    Groups whole(topology, 0.0);
    const auto before = weights(*whole.net);
    whole.train(0, 6);
    save_checkpoint(path(), whole.daso);
    whole.train(6, 10);
    whole.daso.drain();

    Groups again(topology, 0.7);
    (void)load_checkpoint(path(), again.daso);
    again.train(6, 10);
    again.daso.drain();

    const auto after = weights(*whole.net);
    CHECK(distance({before.begin(), before.begin() + 2}, {after.begin(), after.begin() + 2}) > 1e-3);
    CHECK(equal({before.begin() + 2, before.end()}, {after.begin() + 2, after.end()}));
    CHECK(equal(weights(*again.net), after));
  }
}

TEST_CASE("Damaged, missing and foreign checkpoints are errors on all ranks and change nothing", "[nn][checkpoint]") {
  const ScratchFile scratch{path()};
  const ht::Topology topology(ht::world());
  SavedRun run(topology);
  run.train(0, 4);
  save_checkpoint(path(), *run.daso);
  run.train(4, 5);
  const auto before = weights(*run.net);
  const auto size = std::filesystem::file_size(path());
  ht::world().barrier();
  SavedRun wider(topology, {}, 7);

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
  const ScratchFile scratch{path()};
  const ht::Topology topology(ht::world());
  SavedRun run(topology);
  save_checkpoint(path(), *run.daso);
  if (ht::world().rank() == 0) {
    const auto weight = run.net->ptr<torch::nn::LinearImpl>(3)->weight.detach();
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    std::string bytes(std::filesystem::file_size(path()), '\0');
    file.read(bytes.data(), std::ssize(bytes));
    const auto at = bytes.find(std::string(static_cast<const char*>(weight.const_data_ptr()), 12));
    CHECK(at != std::string::npos);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(bytes[at] ^ 1));
  }
  ht::world().barrier();

  CHECK_THAT(refusal(run), Catch::Contains(path()));
}

TEST_CASE("A checkpoint that cannot be written is an error on all ranks", "[nn][checkpoint]") {
  const ht::Topology topology(ht::world());
  SavedRun run(topology);

  const auto message = message_of<ht::IoError>([&] { save_checkpoint("no/such/folder/x.pt", *run.daso); });

  CHECK_THAT(message, Catch::Contains("no/such/folder/x.pt"));
}

TEST_CASE("A disk that fills up leaves the last checkpoint as it was", "[nn][checkpoint]") {
  const ScratchFile scratch{path()};
  const ht::Topology topology(ht::world());
  SavedRun run(topology);
  run.train(0, 4);
  save_checkpoint(path(), *run.daso);
  const auto saved = run.model->checksum();
  run.train(4, 6);

  // Files of rank 0 may not grow beyond a kilobyte, which simulates a full disk.
  rlimit former{};
  getrlimit(RLIMIT_FSIZE, &former);
  const rlimit small{1024, former.rlim_max};
  if (ht::world().rank() == 0) setrlimit(RLIMIT_FSIZE, &small);
  struct sigaction action {};
  sigaction(SIGXFSZ, nullptr, &action);
  std::signal(SIGXFSZ, SIG_IGN);
  const auto message = message_of<ht::IoError>([&] { save_checkpoint(path(), *run.daso); });
  setrlimit(RLIMIT_FSIZE, &former);
  sigaction(SIGXFSZ, &action, nullptr);

  CHECK_THAT(message, Catch::Contains(path()) && Catch::Contains("expected room for"));
  SavedRun again(topology);
  (void)load_checkpoint(path(), *again.daso);
  CHECK(again.model->checksum() == saved);
}

// Two parts of one test, each in its own launch: a rank dies between the start of a transfer and its merge, and the
// next run continues from the last checkpoint.
namespace {
const std::string last_good = (std::filesystem::temp_directory_path() / "nn_checkpoint_test.last_good").string();
}

TEST_CASE("A rank dies with a transfer under way", "[.dies]") {
  const ht::Topology topology(ht::world(), {.node_of = [](int rank) { return rank / 2; }});
  SavedRun run(topology, {.interval = {.first = {4, 3}}});
  run.train(0, 5);
  save_checkpoint(last_good, *run.daso, {.batch = 5});
  run.train(5, 8);
  if (ht::world().rank() == ht::world().size() - 1) std::raise(SIGKILL);
  run.train(8, 24);
}

TEST_CASE("a training continues after the death of a rank", "[.goes_on]") {
  const ht::Topology topology(ht::world(), {.node_of = [](int rank) { return rank / 2; }});
  SavedRun run(topology, {.interval = {.first = {4, 3}}});
  const auto resumed = load_checkpoint(last_good, *run.daso);
  CHECK(resumed.position.batch == 5);
  run.train(resumed.position.batch, 24);
  run.daso->drain();
  CHECK(run.model->equal_on_all_ranks());
  ht::world().barrier();
  if (ht::world().rank() == 0) std::filesystem::remove(last_good);
}
