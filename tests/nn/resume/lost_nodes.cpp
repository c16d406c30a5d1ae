// A training that loses a node, for lost_nodes_test.py:
//     lost_nodes <place> <sharing> <folder>
// The last two of four ranks, a node, end in this place: warmup, step, wait (for a synchronisation), drain, cooldown,
// writing (a checkpoint), loading (rows), validation; none. Sharing: none, optimizer, weights, all (DataParallel whose
// optimizer all ranks share), rank (only one rank ends), patience (nodes go on without late ones). The folder gets
// checkpoints, from which the next call continues.
#include "../training.hpp"

#include <heatpp/comm/environment.hpp>
#include <heatpp/interop/torch.hpp>
#include <heatpp_nn/training/trainer.hpp>

#include <chrono>
#include <csignal>
#include <sys/syscall.h>
#include <unistd.h>

using namespace heatpp::nn;

namespace {

using Clock = std::chrono::steady_clock;

double unix_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

struct Ending {
  std::string place;
  bool only_one = false;
  bool writes = false;  // ends at the next file that is written to the disk

  [[nodiscard]] bool ends() const {
    const int rank = ht::world().rank();
    return only_one ? rank == 3 : rank >= 2;
  }
  /// Called in forward of a batch, while ranks train.
  void look(std::int64_t batch, const DASO* daso) {
    if (!ends()) return;
    const bool flight = daso && daso->counters().starts > daso->counters().merges;
    if ((place == "warmup" && batch == 12) || (place == "step" && batch >= 40 && !flight) ||
        (place == "wait" && batch >= 40 && (flight || !daso)) || (place == "drain" && batch == 63) ||
        (place == "cooldown" && batch == 75))
      die();
    writes = place == "writing" && batch >= 40;
  }
  [[noreturn]] static void die() {
    std::fprintf(stderr, "ends at %.3f\n", unix_time());
    std::raise(SIGKILL);
    std::abort();
  }
};
Ending ending;

/// The ranks that end do so in this batch of the loader, or in these rows of the validation.
void transform(const Batch&, const BatchContext& context) {
  if (ending.place == "loading" && ending.ends() && context.epoch == 2) Ending::die();
}

Dataset regression(std::int64_t rows, std::uint64_t seed) {
  const auto [x, y] = samples(rows, seed);
  const ht::Layout cut({rows}, 0, ht::world().size());
  const auto first = cut.offset(ht::world().rank()), count = cut.offset(ht::world().rank() + 1) - first;
  return {ht::from_local(x.narrow(0, first, count).contiguous(), {.split = 0}),
          ht::from_local(y.narrow(0, first, count).contiguous(), {.split = 0})};
}

ReplicaOptions sharing_of(const std::string& name) {
  if (name == "optimizer") return {.shard = Scope::node};
  if (name == "weights") return {.shard = Scope::node, .shard_weights = true};
  if (name == "all") return {.shard = Scope::all};
  return {};
}

std::optional<DasoOptions> daso_of(const std::string& sharing) {
  DasoOptions options{.interval = {.first = {4, 3}}};
  if (sharing == "all") return std::nullopt;
  if (sharing == "patience") options.patience = 0.01;
  return options;
}

int train(int argc, char** argv) {
  if (argc != 4) throw ht::ValueError("[lost_nodes] got too few arguments; expected a place, a sharing and a folder");
  const std::string sharing = argv[2], folder = argv[3];
  ending = {.place = argv[1], .only_one = sharing == "rank"};
  const ht::Topology topology(ht::world(), {.node_of = [](int rank) { return rank / 2; }});
  DataParallelMultiGPU model(std::make_shared<SmallNet>(), topology, sharing_of(sharing));
  torch::optim::Adam adam(model.parameters(), torch::optim::AdamOptions(0.01));
  std::int64_t trained = 0;
  std::optional<Clock::time_point> last;
  double began = 0, longest = 0;  // when it trained the first batch, and the longest time between two
  const Trainer* running = nullptr;
  Trainer trainer(model, adam,
                  [&](const at::Tensor& outputs, const at::Tensor& targets) {
                    if (model.module().is_training()) {
                      const auto now = Clock::now();
                      if (last) longest = std::max(longest, std::chrono::duration<double>(now - *last).count());
                      else began = unix_time();
                      last = now;
                      ending.look(trained++, running->daso());
                    } else if (ending.place == "validation" && ending.ends() && trained > 40) Ending::die();
                    return torch::mse_loss(outputs, targets);
                  },
                  {.epochs = 6,
                   .batch_size = 32,
                   .shuffle = Shuffle::global,
                   .transforms = {transform},
                   .daso = daso_of(sharing),
                   .phases = sharing == "all" ? PhaseShares() : PhaseShares{.warmup = 1.0 / 3, .cooldown = 1.0 / 3},
                   .folder = folder,
                   .resume = true,
                   .checkpoint_every = sharing == "patience" ? 0 : 5,
                   .progress = false});
  running = &trainer;
  const auto validation = regression(128, 2);
  const auto result = trainer.fit(regression(512, 1), validation);
  const auto& comm = model.topology().comm();
  const auto loss = trainer.evaluate(validation.on_remaining(comm)).loss;
  const bool equal = model.equal_on_all_ranks();
  if (comm.rank() == 0)
    std::printf(
        "ranks %d nodes %d batches %ld trained %ld epochs %zu complete %d equal %d loss %.5f began %.3f pause %.3f\n",
        comm.size(), trainer.daso() ? trainer.daso()->nodes() : 0, result.batches, trained, result.epochs.size(),
        result.ended == Ended::complete, equal, loss, began, longest);
  std::fflush(stdout);
  return 0;
}

}  // namespace

/// Replaces the function of the system.
extern "C" int fsync(int file) {
  if (ending.writes && ending.ends()) Ending::die();
  return static_cast<int>(::syscall(SYS_fsync, file));
}

int main(int argc, char** argv) { return ht::run(argc, argv, train); }
