#include "reading.hpp"
#include "../turns.hpp"

#include <heatpp/heatpp.hpp>

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

namespace bench {
namespace {

namespace ht = heatpp;
namespace nn = heatpp::nn;

/// Returns the seconds of an epoch on the slowest rank; `sum` becomes that of the labels.
double read(nn::DataLoader& loader, std::int64_t epoch, std::int64_t& sum) {
  sum = 0;
  ht::world().barrier();
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& [images, labels] : loader.epoch(epoch)) sum += labels.sum().item<std::int64_t>();
  std::array<double, 1> seconds{std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
  ht::world().allreduce(seconds, ht::ReduceOp::max);
  std::array<std::int64_t, 1> all{sum};
  ht::world().allreduce(all);
  sum = all[0];
  return seconds[0];
}

}  // namespace

int read_in_turns(const ReadingOptions& options) {
  const auto data = nn::Dataset::from_hdf5(options.files, {.inputs = "images", .targets = "labels"});
  const nn::SamplerOptions order{
      .batch_size = options.batch, .shuffle = nn::Shuffle::global, .remainder = nn::Remainder::join};
  nn::DataLoader loader(data, order, {nn::normalise(127.5, 127.5)});
  loader.prefetch(options.prefetch);
  std::int64_t epoch = 0, sum = 0;
  const auto say = [&](const char* what) {
    const auto seconds = read(loader, epoch++, sum);
    if (ht::world().rank() == 0)
      std::cout << nlohmann::json{{what, seconds}, {"rows", data.size()}, {"sum", sum}}.dump() << std::endl;
  };
  for (say("warm_up"); another_turn();) say("seconds");
  return 0;
}

}  // namespace bench
