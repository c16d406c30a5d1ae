#include <heatpp_nn/training/detail/training_archive.hpp>

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>
#include <torch/serialize.h>

#include <sstream>

namespace heatpp::nn::detail {
namespace {

using torch::serialize::InputArchive;
using torch::serialize::OutputArchive;
using Numbers = std::vector<std::int64_t>;

constexpr std::int64_t unknown = -1;

void put(Numbers& to, const Interval& interval) {
  to.insert(to.end(), {interval.batches, interval.wait, interval.local});
}

Numbers numbers_of(const RankState& state) {
  const auto& daso = state.daso;
  const auto flight = daso.sync.flight.value_or(Flight{unknown, unknown});
  Numbers numbers{static_cast<std::int64_t>(state.position.seed),
                  state.position.epoch,
                  state.position.batch,
                  daso.batch,
                  daso.sync.phases.warmup,
                  daso.sync.phases.cooldown,
                  daso.sync.phases.total.value_or(unknown),
                  daso.sync.last_sync,
                  flight.started,
                  flight.wait,
                  daso.plateau.bad,
                  daso.needed,
                  daso.failed};
  put(numbers, daso.sync.interval);
  put(numbers, daso.wanted);
  return numbers;
}

void set_numbers(RankState& state, const Numbers& n) {
  if (n.size() != 19) throw std::runtime_error("a record of another version");
  state.position = {static_cast<std::uint64_t>(n[0]), n[1], n[2]};
  auto& daso = state.daso;
  daso.batch = n[3];
  daso.sync.phases = {n[4], n[5], n[6] == unknown ? std::nullopt : std::optional(n[6])};
  daso.sync.last_sync = n[7];
  if (n[8] != unknown) daso.sync.flight = Flight{n[8], n[9]};
  daso.plateau.bad = n[10];
  daso.needed = n[11];
  daso.failed = n[12] != 0;
  daso.sync.interval = {n[13], n[14], n[15]};
  daso.wanted = {n[16], n[17], n[18]};
}

Numbers numbers_of(const std::vector<DasoEvent>& events) {
  Numbers numbers;
  for (const auto& e : events) {
    numbers.insert(numbers.end(),
                   {e.batch, static_cast<std::int64_t>(e.kind), static_cast<std::int64_t>(e.phase), e.age});
    put(numbers, e.interval);
  }
  return numbers;
}

std::vector<DasoEvent> events_of(const Numbers& n) {
  std::vector<DasoEvent> events;
  for (std::size_t i = 0; i + 7 <= n.size(); i += 7)
    events.push_back({n[i],
                      static_cast<DasoEvent::Kind>(n[i + 1]),
                      static_cast<Phase>(n[i + 2]),
                      {n[i + 4], n[i + 5], n[i + 6]},
                      n[i + 3]});
  return events;
}

template <class T>
std::vector<T> values(InputArchive& archive, const std::string& key) {
  at::Tensor tensor;
  archive.read(key, tensor);
  tensor = tensor.contiguous();
  const T* data = tensor.const_data_ptr<T>();
  return {data, data + tensor.numel()};
}

void write(OutputArchive& to, const std::string& key, const Extras& tensors) {
  OutputArchive archive;
  for (const auto& [name, tensor] : tensors) archive.write(name, tensor.cpu());
  to.write(key, archive);
}

Extras read(InputArchive& from, const std::string& key) {
  InputArchive archive;
  from.read(key, archive);
  Extras tensors;
  for (const auto& name : archive.keys()) archive.read(name, tensors[name]);
  return tensors;
}

Extras named(const std::vector<at::Tensor>& list) {
  Extras tensors;
  for (std::size_t i = 0; i < list.size(); ++i) tensors[fmt::format("{:08}", i)] = list[i];
  return tensors;
}

std::vector<at::Tensor> listed(const Extras& tensors) {
  std::vector<at::Tensor> list;
  for (const auto& [name, tensor] : tensors) list.push_back(tensor);
  return list;
}

}  // namespace

std::string to_section(const RankState& state, const torch::nn::Module* module,
                       const torch::optim::Optimizer* optimizer) {
  OutputArchive archive;
  const auto& losses = state.daso.losses;
  archive.write("numbers", at::tensor(numbers_of(state)));
  archive.write("losses",
                at::tensor({state.daso.plateau.best, losses.sum, losses.count, losses.pooled_sum, losses.pooled_count},
                           at::kDouble));
  archive.write("events", at::tensor(numbers_of(state.daso.events), at::kLong));
  archive.write("generator", state.generator);
  write(archive, "buffers", named(state.buffers));
  write(archive, "memory", named(state.daso.memory));
  write(archive, "extras", state.extras);
  if (module) {
    OutputArchive weights, rest;
    module->save(weights);
    optimizer->save(rest);
    archive.write("module", weights);
    archive.write("optimizer", rest);
  }
  std::ostringstream stream;
  archive.save_to(stream);
  return std::move(stream).str();
}

RankState rank_state(const std::string& section) {
  InputArchive archive;
  archive.load_from(section.data(), section.size());
  RankState state;
  set_numbers(state, values<std::int64_t>(archive, "numbers"));
  const auto losses = values<double>(archive, "losses");
  if (losses.size() != 5) throw std::runtime_error("a damaged record of losses");
  state.daso.plateau.best = losses[0];
  state.daso.losses = {losses[1], losses[2], losses[3], losses[4]};
  state.daso.events = events_of(values<std::int64_t>(archive, "events"));
  archive.read("generator", state.generator);
  state.buffers = listed(read(archive, "buffers"));
  state.daso.memory = listed(read(archive, "memory"));
  state.extras = read(archive, "extras");
  return state;
}

void load_shared(const std::string& section, torch::nn::Module& module, torch::optim::Optimizer& optimizer) {
  InputArchive archive, weights, rest;
  archive.load_from(section.data(), section.size());
  archive.read("module", weights);
  archive.read("optimizer", rest);
  module.load(weights);
  optimizer.load(rest);
}

}  // namespace heatpp::nn::detail
