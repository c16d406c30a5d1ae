#include "../training.hpp"
#include "../../scratch_path.hpp"
#include "../../support.hpp"

#include <heatpp_nn/training/detail/training_archive.hpp>
#include <heatpp_nn/training/trainer.hpp>

#include <csignal>
#include <filesystem>
#include <numeric>
#include <sstream>
#include <torch/serialize.h>

using namespace heatpp::nn;

namespace {

constexpr std::int64_t total = 101;
constexpr auto orders = {Shuffle::none, Shuffle::local, Shuffle::blocks, Shuffle::global};

using Numbers = std::vector<std::int64_t>;

Numbers all_numbers() {
  Numbers rows(total);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

Numbers sorted(Numbers rows) {
  std::ranges::sort(rows);
  return rows;
}

/// A part of an epoch of all ranks of a layout, computed on one of them.
struct Pass {
  Pass(const ht::Layout& layout, const SamplerOptions& options, const Position& from) {
    for (int rank = 0; rank < layout.ranks(); ++rank)
      samplers.push_back(DistributedSampler(layout, rank, options).from(from));
  }
  void take(Numbers& to, std::int64_t first, std::int64_t last) const {
    for (std::int64_t batch = first; batch < last; ++batch) {
      const auto before = std::ssize(to);
      for (const auto& sampler : samplers) {
        const auto rows = sampler.rows(3, batch, batch + 1);
        CHECK(rows.numel() == sampler.count(batch));
        to.insert(to.end(), rows.const_data_ptr<std::int64_t>(), rows.const_data_ptr<std::int64_t>() + rows.numel());
      }
      CHECK(std::ssize(to) - before == samplers[0].total(batch));
    }
  }
  [[nodiscard]] std::int64_t batches() const { return samplers[0].batches(); }

  std::vector<DistributedSampler> samplers;
};

/// Returns the rows of an epoch that does one batch on one layout, and the rest on another.
Numbers interrupted(const ht::Layout& a, SamplerOptions options, const ht::Layout& b, std::int64_t batch_size) {
  Numbers rows;
  const Pass first(a, options, {});
  first.take(rows, 0, 1);
  options.batch_size = batch_size;
  const Pass second(b, options, {.batch = 1, .rows = std::ssize(rows)});
  CHECK(second.samplers[0].rows_before(1) >= std::ssize(rows));
  second.take(rows, 1, second.batches());
  return rows;
}

SamplerOptions joined(std::int64_t batch_size, Shuffle shuffle) {
  return {.batch_size = batch_size, .shuffle = shuffle, .seed = 5, .remainder = Remainder::join, .block = 5, .mix = 3};
}

/// A training of evenly split rows that records them and stops by itself in some batch.
class Run {
 public:
  Run(const ht::Communicator& comm, TrainerOptions options, std::int64_t raise_at = -1, double rate = 0.01)
      : comm_(comm), raise_at_(raise_at), model_(std::make_shared<SmallNet>(), ht::Topology(comm)) {
    options.seed = 5;
    options.folder = folder();
    options.resume = true;
    options.progress = false;
    options.transforms = {[this](Batch&, const BatchContext& context) {
      const auto* rows = context.rows.const_data_ptr<std::int64_t>();
      rows_.insert(rows_.end(), rows, rows + context.rows.numel());
    }};
    options.rate = [this, rate](const TrainingLength& length) {
      length_ = length;
      return constant_rate(rate);
    };
    const auto loss = [this](const at::Tensor& outputs, const at::Tensor& targets) {
      if (++calls_ == raise_at_ && comm_.rank() == 0) std::raise(SIGTERM);
      return torch::mse_loss(outputs, targets);
    };
    Trainer trainer(model_, sgd_, loss, std::move(options));
    result = trainer.fit(data());
    if (trainer.daso() && raise_at < 0) CHECK(trainer.daso()->phase() == Phase::cooldown);
    if (raise_at < 0) CHECK(result.batches == length_.total);
    CHECK((result.ended == Ended::signal) == (raise_at > 0));
    CHECK(model_.equal_on_all_ranks());
  }

  static std::filesystem::path folder() { return scratch_path("nn_position_test"); }
  [[nodiscard]] const Numbers& rows() const { return rows_; }
  TrainingResult result;

 private:
  [[nodiscard]] Dataset data() const {
    const auto [x, y] = samples(total);
    const ht::Layout even({total}, 0, comm_.size());
    const auto mine = [&](const at::Tensor& all) {
      const auto block = all.narrow(0, even.offset(comm_.rank()), even.count(comm_.rank())).contiguous();
      return ht::from_local(block, {.split = 0, .comm = comm_});
    };
    return {mine(x), mine(y)};
  }

  ht::Communicator comm_;
  std::int64_t calls_ = 0, raise_at_;
  TrainingLength length_;
  Numbers rows_;
  DataParallelMultiGPU<SmallNet> model_;
  torch::optim::SGD sgd_{model_.parameters(), 0.01};
};

void clear() {
  ht::world().barrier();
  if (ht::world().rank() == 0) std::filesystem::remove_all(Run::folder());
  ht::world().barrier();
}

/// Calls `run` on the first `ranks` ranks.
void on_first(int ranks, const std::function<void(const ht::Communicator&)>& run) {
  if (const auto some = ht::world().split(ht::world().rank() < ranks ? 0 : -1)) run(*some);
  ht::world().barrier();
}

/// Returns the rows of an epoch that stops in its second batch on the first `a` ranks and continues on `b`.
Numbers trained(int a, const TrainerOptions& first, int b, const TrainerOptions& second) {
  clear();
  Numbers rows;
  const auto add = [&](const Run& part) { rows.insert(rows.end(), part.rows().begin(), part.rows().end()); };
  on_first(a, [&](const auto& some) { add(Run(some, first, 2)); });
  on_first(b, [&](const auto& some) { add(Run(some, second)); });
  clear();
  return sorted(ht::from_local(torch::tensor(rows, torch::kLong), {.split = 0}).to_vector<std::int64_t>());
}

}  // namespace

TEST_CASE("an epoch continues with the remaining rows on other ranks and in batches of another size",
          "[nn][position]") {
  for (int a = 1; a <= 5; ++a)
    for (int b = 1; b <= 5; ++b)
      for (const std::int64_t size : {1, 7, 11, 200}) {
        const auto rows =
            interrupted(ht::Layout({total}, 0, a), joined(8, Shuffle::global), ht::Layout({total}, 0, b), size);
        CHECK(sorted(rows) == all_numbers());
      }
}

TEST_CASE("an epoch continues in batches of another size, for every order", "[nn][position]") {
  const std::vector<std::int64_t> uneven{0, 40, 40, 43, total};
  for (const auto& layout : {ht::Layout({total}, 0, 4), ht::Layout({total}, 0, uneven)})
    for (const auto shuffle : orders)
      for (const std::int64_t size : {1, 7, 11, 200})
        CHECK(sorted(interrupted(layout, joined(8, shuffle), layout, size)) == all_numbers());
}

TEST_CASE("On other ranks that keep their rows as many come as are left", "[nn][position]") {
  for (const auto shuffle : {Shuffle::none, Shuffle::local, Shuffle::blocks})
    for (int b = 1; b <= 5; ++b) {
      const auto rows = interrupted(ht::Layout({total}, 0, 4), joined(8, shuffle), ht::Layout({total}, 0, b), 8);
      CHECK(std::ssize(rows) <= total);
      CHECK(std::ssize(rows) > total - b);
    }
}

TEST_CASE("Positions outside an epoch are refused", "[nn][position]") {
  const DistributedSampler sampler(ht::Layout({total}, 0, 4), 0, joined(8, Shuffle::local));
  CHECK(sampler.from({.batch = 9, .rows = total}).batches() == 9);
  CHECK(sampler.from({.batch = 2}).rows_before(2) == 64);
  for (const Position& position : {Position{.batch = -1},
                                   {.batch = 5},
                                   {.batch = 0, .rows = -1},
                                   {.batch = 3, .rows = 2},
                                   {.batch = 1, .rows = total + 1}})
    CHECK_THROWS_AS(sampler.from(position), ht::ValueError);
}

TEST_CASE("a trainer that continues on other ranks trains every row once", "[nn][position]") {
  const int ranks = ht::world().size();
  const TrainerOptions plain{.batch_size = 32, .shuffle = Shuffle::global};
  auto daso = plain;
  daso.batch_size = 14;  // nodes ask each other for signals after every fourth batch
  daso.daso = DasoOptions{};
  daso.phases = {.warmup = 0.25, .cooldown = 0.25};
  for (const auto& options : {plain, daso})
    for (int other = 1; other <= ranks; ++other) {
      CHECK(trained(ranks, options, other, options) == all_numbers());
      CHECK(trained(other, options, ranks, options) == all_numbers());
    }
}

TEST_CASE("a trainer that continues in batches of another size trains every row once", "[nn][position]") {
  const int ranks = ht::world().size();
  for (const auto shuffle : orders)
    for (const std::int64_t size : {8, 12, 24, 101}) {
      const TrainerOptions first{.batch_size = 12, .shuffle = shuffle};
      auto second = first;
      second.batch_size = size;
      CHECK(trained(ranks, first, ranks, second) == all_numbers());
    }
}

TEST_CASE("the loss of an epoch that continues on other ranks is that of all its rows", "[nn][position]") {
  const int ranks = ht::world().size();
  const TrainerOptions options{.epochs = 2, .batch_size = 32, .shuffle = Shuffle::global};
  for (const auto& [before, after] : {std::pair{ranks, 1}, {1, ranks}, {ranks, ranks}}) {
    clear();
    on_first(before, [&](const auto& some) { const Run first(some, options, 2, 0); });
    on_first(after, [&](const auto& some) {
      const auto epochs = Run(some, options, -1, 0).result.epochs;
      REQUIRE(epochs.size() == 2);
      CHECK(epochs[0].loss == Approx(epochs[1].loss).epsilon(1e-12));
    });
  }
  clear();
}

TEST_CASE("a checkpoint that counts only batches continues after these", "[nn][position]") {
  ht::nn::detail::RankState state;
  state.position = {5, 2, 3, 40};
  state.generator = at::zeros({8}, at::kByte);
  const auto head = ht::nn::detail::to_head(state);
  torch::serialize::InputArchive from;
  from.load_from(head.data(), head.size());
  torch::serialize::OutputArchive to;
  for (const auto& key : from.keys()) {
    if (key == "extras" || key == "state" || key == "events") continue;
    at::Tensor tensor;
    from.read(key, tensor);
    to.write(key, tensor);
  }
  // The 23 numbers of an older build: the position, those of DASO, and two intervals.
  auto numbers = at::zeros({23}, at::kLong);
  numbers.slice(0, 0, 3).copy_(at::tensor({5, 2, 3}));
  numbers.slice(0, 17, 23).fill_(1);
  to.write("numbers", numbers);
  to.write("losses", at::zeros({6}, at::kDouble));
  to.write("tuning", at::zeros({6}, at::kDouble));
  to.write("events", at::empty({0}, at::kLong));
  std::ostringstream older;
  to.save_to(older);

  CHECK(ht::nn::detail::rank_state(head).position == Position{5, 2, 3, 40});
  CHECK(ht::nn::detail::rank_state(older.str()).position == Position{5, 2, 3});
}
