// A training that loses a node at a given place, for goes_on_test.py and slurm_test.py.
//     goes_on <folder> <place> <mark>
// Places: warmup, cycle, cooldown, writing, damaged (the newest checkpoint is damaged, too), rank (only one rank
// dies), slow (none dies), none. The mark is a file that records that it has happened, with the name of the
// node.
#include "../training.hpp"

#include <heatpp/comm/environment.hpp>
#include <heatpp/interop/torch.hpp>
#include <heatpp_nn/training/trainer.hpp>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace fs = std::filesystem;
using namespace heatpp::nn;

namespace {

bool dies_writing = false;  // at the next file that is written to the disk

struct Fault {
  fs::path folder, mark;
  std::string place;

  [[nodiscard]] bool here() const {
    const char* host = std::getenv("HOST_OF_TEST");
    if (!host) host = std::getenv("SLURMD_NODENAME");
    return host && host == mark.stem() && (place != "rank" || ht::world().rank() == 3) && !fs::exists(mark);
  }

  /// Called before a batch; `batch` is the number of trained ones.
  void look(std::int64_t batch, const DASO& daso) const {
    const auto counters = daso.counters();
    const bool under_way = daso.phase() == Phase::cycle && counters.starts > counters.merges;
    const bool now = place == "warmup"     ? batch == 12
                     : place == "cooldown" ? batch > 75 && daso.phase() == Phase::cooldown
                                           : batch > 50 && under_way;
    if (place == "none" || place == "slow" || !now || !here()) return;
    if (place == "writing") dies_writing = true;
    else die();
  }

  [[noreturn]] void die() const {
    if (place == "damaged") damage_newest();
    std::ofstream(mark).put('\n');
    if (place != "rank")
      ::kill(::getppid(), SIGKILL);  // kills the daemon of Open MPI or Slurm, so that the whole node is lost
    std::raise(SIGKILL);
    std::abort();
  }

  void damage_newest() const {
    fs::path newest;
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".pt") newest = std::max(newest, entry.path());
    fs::resize_file(newest, 5000);
  }
};

Fault fault;

Dataset regression(std::int64_t rows, std::uint64_t seed) {
  const auto [x, y] = samples(rows, seed);
  const ht::Layout cut({rows}, 0, ht::world().size());
  const auto first = cut.offset(ht::world().rank()), count = cut.offset(ht::world().rank() + 1) - first;
  return {ht::from_local(x.narrow(0, first, count).contiguous(), {.split = 0}),
          ht::from_local(y.narrow(0, first, count).contiguous(), {.split = 0})};
}

int train(int argc, char** argv) {
  if (argc != 4) throw ht::ValueError("[goes_on] got too few arguments; expected a folder, a place and a mark");
  fault = {argv[1], argv[3], argv[2]};
  DataParallelMultiGPU model(std::make_shared<SmallNet>(), ht::Topology(ht::world()));
  torch::optim::Adam adam(model.parameters(), torch::optim::AdamOptions(0.01));
  std::int64_t trained = 0;
  const Trainer* running = nullptr;
  Trainer trainer(model, adam,
                  [&](const at::Tensor& outputs, const at::Tensor& targets) {
                    if (model.module().is_training()) fault.look(trained++, *running->daso());
                    if (fault.place == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(20));
                    return torch::mse_loss(outputs, targets);
                  },
                  {.epochs = 6,
                   .batch_size = 32,
                   .shuffle = Shuffle::global,
                   .daso = DasoOptions{.interval = {.first = {4, 3}}},
                   .phases = {.warmup = 1.0 / 3, .cooldown = 1.0 / 3},
                   .folder = fault.folder,
                   .resume = true,
                   .checkpoint_every = 5,
                   .progress = false});
  running = &trainer;
  const auto result = trainer.fit(regression(512, 1), regression(128, 2));
  const auto loss = trainer.evaluate(regression(128, 2)).loss;
  if (ht::world().rank() == 0)
    std::printf("ranks %d nodes %d batches %ld trained %ld complete %d loss %.5f\n", ht::world().size(),
                trainer.daso()->nodes(), result.batches, trained, result.ended == Ended::complete, loss);
  return 0;
}

}  // namespace

/// Replaces the function of the system.
extern "C" int fsync(int file) {
  if (dies_writing) fault.die();
  return static_cast<int>(::syscall(SYS_fsync, file));
}

int main(int argc, char** argv) { return ht::run(argc, argv, train); }
