#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/detail/training_archive.hpp>

#include <torch/serialize.h>

namespace heatpp::nn::detail {
namespace {

constexpr std::int64_t format_version = 1;
constexpr std::int64_t no_total = -1;

using Numbers = std::vector<std::int64_t>;

Numbers counters_of(const Training& t) {
  const auto& sync = t.daso.sync;
  return {format_version,
          t.epoch,
          t.daso.batch,
          sync.phases.warmup,
          sync.phases.cooldown,
          sync.phases.total.value_or(no_total),
          sync.interval.batches,
          sync.interval.wait,
          sync.last_sync,
          t.daso.plateau.bad,
          std::int64_t{t.checksum}};
}

void set_counters(Training& t, const Numbers& n) {
  if (n.size() != 11 || n[0] != format_version) throw std::runtime_error("a format that this version does not know");
  auto& sync = t.daso.sync;
  t.epoch = n[1];
  t.daso.batch = n[2];
  sync.phases = {n[3], n[4], n[5] == no_total ? std::nullopt : std::optional(n[5])};
  sync.interval = {n[6], n[7]};
  sync.last_sync = n[8];
  t.daso.plateau.bad = n[9];
  t.checksum = static_cast<std::uint32_t>(n[10]);
}

Numbers numbers_of(const std::vector<DasoEvent>& events) {
  Numbers numbers;
  for (const auto& e : events)
    numbers.insert(numbers.end(), {e.batch, static_cast<std::int64_t>(e.kind), static_cast<std::int64_t>(e.phase),
                                   e.interval.batches, e.interval.wait, e.age});
  return numbers;
}

std::vector<DasoEvent> events_of(const Numbers& n) {
  std::vector<DasoEvent> events;
  for (std::size_t i = 0; i + 6 <= n.size(); i += 6)
    events.push_back(
        {n[i], static_cast<DasoEvent::Kind>(n[i + 1]), static_cast<Phase>(n[i + 2]), {n[i + 3], n[i + 4]}, n[i + 5]});
  return events;
}

template <class T>
std::vector<T> values(torch::serialize::InputArchive& archive, const std::string& key) {
  at::Tensor tensor;
  archive.read(key, tensor);
  tensor = tensor.contiguous();
  const T* data = tensor.const_data_ptr<T>();
  return {data, data + tensor.numel()};
}

}  // namespace

void write(torch::serialize::OutputArchive& archive, const Training& training) {
  const auto& losses = training.daso.losses;
  const std::vector<double> doubles{training.daso.plateau.best, losses.pooled_sum, losses.pooled_count};
  archive.write("counters", at::tensor(counters_of(training)));
  archive.write("losses", at::tensor(doubles, at::kDouble));
  archive.write("events", at::tensor(numbers_of(training.daso.events)));
  archive.write("generators", training.generators);
}

Training read_training(torch::serialize::InputArchive& archive) {
  Training training;
  set_counters(training, values<std::int64_t>(archive, "counters"));
  const auto doubles = values<double>(archive, "losses");
  if (doubles.size() != 3) throw std::runtime_error("a damaged record of losses");
  training.daso.plateau.best = doubles[0];
  training.daso.losses = {.pooled_sum = doubles[1], .pooled_count = doubles[2]};
  training.daso.events = events_of(values<std::int64_t>(archive, "events"));
  archive.read("generators", training.generators);
  return training;
}

at::Tensor gather_generators(const Communicator& comm) {
  const auto mine = at::globalContext().defaultGenerator(at::kCPU).get_state();
  auto all = at::empty({comm.size(), mine.numel()}, mine.options());
  const std::vector<std::int64_t> counts(static_cast<std::size_t>(comm.size()), mine.numel());
  comm.allgather(heatpp::detail::buffer_of(mine), heatpp::detail::buffer_of(all), counts);
  return all;
}

void restore_generator(const Communicator& comm, const at::Tensor& generators) {
  if (generators.size(0) != comm.size()) return;
  auto generator = at::globalContext().defaultGenerator(at::kCPU);
  generator.set_state(generators[comm.rank()].clone());
}

}  // namespace heatpp::nn::detail
