#include "training.hpp"
#include "../scratch_path.hpp"
#include "../support.hpp"

#include <heatpp_nn/training/checkpoint_manager.hpp>

#include <fstream>
#include <thread>

using namespace heatpp::nn;
namespace fs = std::filesystem;

namespace {

/// A folder that is removed at the end of a test.
struct Folder {
  fs::path path = scratch_path("nn_checkpoint_manager_test");
  Folder() { remove(); }
  ~Folder() { remove(); }
  void remove() const {
    ht::world().barrier();
    if (ht::world().rank() == 0) fs::remove_all(path);
    ht::world().barrier();
  }
};

struct ManagedRun {
  DataParallel<SmallNet> model;
  torch::optim::Adam adam;
  explicit ManagedRun(const ReplicaOptions& options = {})
      : model(std::make_shared<SmallNet>(), ht::Topology(ht::world()), options), adam(model.parameters(), 0.01) {}
  void train(std::int64_t first, std::int64_t last) {
    for (auto b = first; b < last; ++b) {
      adam.zero_grad();
      backward(model, b);
      model.step(adam);
    }
  }
};

void damage(const fs::path& file) {
  ht::world().barrier();
  if (ht::world().rank() == 0) fs::resize_file(file, fs::file_size(file) / 2);
  ht::world().barrier();
}

/// Changes the bytes of a file.
void change(const fs::path& file, const std::function<void(std::string&)>& how) {
  ht::world().barrier();
  if (ht::world().rank() == 0) {
    std::string bytes(fs::file_size(file), '\0');
    std::ifstream(file, std::ios::binary).read(bytes.data(), std::ssize(bytes));
    how(bytes);
    std::ofstream(file, std::ios::binary) << bytes;
  }
  ht::world().barrier();
}

}  // namespace

TEST_CASE("the newest checkpoints stay, and a training continues from the newest complete one", "[nn][checkpoint]") {
  for (const bool background : {true, false})
    for (const auto shard : {std::optional<Scope>(), std::optional(Scope::all)}) {
      const Folder folder;
      ManagedRun run({.shard = shard});
      CheckpointManager checkpoints(folder.path, ht::world(), {.keep = 2, .background = background});
      CHECK_FALSE(checkpoints.resume(run.model, run.adam));
      std::vector<std::uint32_t> sums;
      for (std::int64_t b = 1; b <= 4; ++b) {
        run.train(b - 1, b);
        checkpoints.save(b, run.model, run.adam, {.batch = b});
        sums.push_back(run.model.checksum());
      }
      checkpoints.finish();
      CHECK(checkpoints.numbers() == std::vector<std::int64_t>{3, 4});

      ManagedRun again({.shard = shard});
      CHECK(checkpoints.resume(again.model, again.adam)->position.batch == 4);
      CHECK(again.model.checksum() == sums[3]);
      damage(checkpoints.file(4));
      CHECK(checkpoints.resume(again.model, again.adam)->position.batch == 3);
      CHECK(again.model.checksum() == sums[2]);
      again.train(3, 4);
      CHECK(again.model.checksum() == sums[3]);

      checkpoints.save(2, again.model, again.adam);  // files with higher numbers are from a former training
      checkpoints.finish();
      CHECK(checkpoints.numbers() == std::vector<std::int64_t>{2});
      damage(checkpoints.file(2));
      CHECK_THROWS_AS(checkpoints.resume(again.model, again.adam), ht::IoError);
    }
}

TEST_CASE("A changed table of a checkpoint is found, and files from before it had a checksum are read",
          "[nn][checkpoint]") {
  const Folder folder;
  ManagedRun run;
  run.train(0, 2);
  CheckpointManager checkpoints(folder.path, ht::world(), {.background = false});
  for (const auto number : {1, 2}) checkpoints.save(number, run.model, run.adam);
  const auto saved = run.model.checksum();
  run.train(2, 3);
  const auto before = run.model.checksum();
  const auto table = static_cast<std::size_t>(48 * ht::world().size());

  change(checkpoints.file(2), [&](auto& bytes) {
    auto& source = bytes[24 + table - 40];  // the rank with the same weights
    source = static_cast<char>(source ^ 1);
  });
  change(checkpoints.file(1), [&](auto& bytes) {
    bytes = "HPPCKPT3" + bytes.substr(8, 8) + bytes.substr(24, 4096 - 24) + std::string(8, '\0') + bytes.substr(4096);
  });

  const auto load = [&](int number) { (void)load_checkpoint(checkpoints.file(number).string(), run.model, run.adam); };
  CHECK_THAT(message_of<ht::IoError>([&] { load(2); }), Catch::Contains("table fails its checksum"));
  CHECK(run.model.checksum() == before);
  load(1);
  CHECK(run.model.checksum() == saved);
}

TEST_CASE("a checkpoint written in the background has the state at the call of save", "[nn][checkpoint]") {
  const Folder folder;
  ManagedRun run;
  run.train(0, 2);
  const auto sum = run.model.checksum();
  {
    CheckpointManager checkpoints(folder.path, ht::world());
    checkpoints.save(2, run.model, run.adam);
    run.train(2, 3);
  }
  ManagedRun again;
  CheckpointManager checkpoints(folder.path, ht::world());
  CHECK(checkpoints.resume(again.model, again.adam).has_value());
  CHECK(again.model.checksum() == sum);
}

TEST_CASE("a checkpoint is complete before the next one begins", "[nn][checkpoint]") {
  const Folder folder;
  ManagedRun run;
  CheckpointManager checkpoints(folder.path, ht::world());
  checkpoints.advance();
  if (ht::world().rank() == 0) std::ofstream(folder.path / ".checkpoint-00000001.pt.0123").put('x');
  checkpoints.save(2, run.model, run.adam);
  for (int call = 0; call < 10000 && checkpoints.numbers().empty(); ++call) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // a thread writes
    checkpoints.advance();
  }
  CHECK(checkpoints.numbers() == std::vector<std::int64_t>{2});
  CHECK(!fs::exists(folder.path / ".checkpoint-00000001.pt.0123"));  // left by a writer that was killed
  checkpoints.save(3, run.model, run.adam);
  checkpoints.advance();
  checkpoints.finish();  // with a request under way
  checkpoints.advance();
  CHECK(checkpoints.numbers() == std::vector<std::int64_t>{2, 3});
}

TEST_CASE("A checkpoint that cannot be written leaves the one before", "[nn][checkpoint]") {
  const Folder folder;
  ManagedRun run;
  CheckpointManager checkpoints(folder.path, ht::world());
  checkpoints.save(1, run.model, run.adam);
  checkpoints.finish();
  if (ht::world().rank() == 0) fs::create_directory(checkpoints.file(2));
  CHECK_THROWS_AS(checkpoints.save(2, run.model, run.adam), ht::IoError);
  if (ht::world().rank() == 0) fs::remove(checkpoints.file(2));
  CHECK(checkpoints.resume(run.model, run.adam).has_value());
  CHECK_THROWS_AS(CheckpointManager(folder.path, ht::world(), {.keep = 0}), ht::ValueError);
}

TEST_CASE("if no checkpoint can be loaded, the error names the newest one", "[nn][checkpoint]") {
  const Folder folder;
  ManagedRun run;
  CheckpointManager checkpoints(folder.path, ht::world());
  for (const auto number : {1, 2}) checkpoints.save(number, run.model, run.adam);
  DataParallel other(std::make_shared<Constant>(), ht::Topology(ht::world()));
  torch::optim::Adam adam(other.parameters(), 0.01);
  const auto message = message_of<ht::IoError>([&] { (void)checkpoints.resume(other, adam); });
  CHECK_THAT(message, Catch::Contains(checkpoints.file(2).string()));
}

TEST_CASE("each rank writes and reads its share of the common data, on any number of ranks", "[nn][checkpoint]") {
  const Folder folder;
  for (const auto shard : {std::optional<Scope>(), std::optional(Scope::all), std::optional(Scope::node)})
    for (const auto& topology : topologies()) {
      DataParallel model(std::make_shared<SmallNet>(), topology, {.shard = shard});
      torch::optim::AdamW adam(model.parameters(), 0.01);
      const auto train = [](auto& net, auto& optimizer, std::int64_t first, std::int64_t last) {
        for (auto b = first; b < last; ++b) {
          optimizer.zero_grad();
          backward(net, b);
          net.step(optimizer);
        }
      };
      CheckpointManager checkpoints(folder.path, ht::world(), {.background = false});
      train(model, adam, 0, 3);
      checkpoints.save(1, model, adam);
      const auto file = checkpoints.file(1);
      // Weights and two moments in float64 are written once, and a few bytes for each rank.
      constexpr std::int64_t elements = 5 * 8 + 8 + 8 * 3 + 3;
      CHECK(static_cast<std::int64_t>(fs::file_size(file)) < 3 * 8 * elements + 40000 * ht::world().size());
      const auto saved = model.checksum();

      // With another way to share the optimizer, and on one rank.
      for (const auto other : {std::optional<Scope>(), std::optional(Scope::all), std::optional(Scope::node)}) {
        DataParallel next(std::make_shared<SmallNet>(), topology, {.shard = other});
        torch::optim::AdamW moments(next.parameters(), 0.01);
        (void)load_checkpoint(file.string(), next, moments);
        CHECK(next.checksum() == saved);
        train(next, moments, 3, 4);
      }
      DataParallel single(std::make_shared<SmallNet>(), ht::Topology(ht::self()));
      torch::optim::AdamW moments(single.parameters(), 0.01);
      (void)load_checkpoint(file.string(), single, moments);
      CHECK(single.checksum() == saved);
      train(model, adam, 3, 4);
      DataParallel whole(std::make_shared<SmallNet>(), topology, {.shard = shard});
      torch::optim::AdamW kept(whole.parameters(), 0.01);
      (void)load_checkpoint(file.string(), whole, kept);
      train(whole, kept, 3, 4);
      CHECK(whole.checksum() == model.checksum());
      const auto [x, y] = samples(4 * ht::world().size(), 103);
      torch::mse_loss(single(x), y).backward();
      single.average_gradients();
      moments.step();
      CHECK(distance(weights(single.module()), weights(model.module())) < 1e-12);
    }
}
