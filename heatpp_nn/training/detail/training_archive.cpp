#include <heatpp_nn/parallel/detail/optimizer_state.hpp>
#include <heatpp_nn/training/detail/training_archive.hpp>

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>
#include <torch/serialize.h>

#include <algorithm>
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
                  daso.failed,
                  daso.asked.warmup,
                  daso.asked.cooldown,
                  daso.asked.total.value_or(unknown),
                  daso.scaler ? daso.scaler->good : unknown};
  put(numbers, daso.sync.interval);
  put(numbers, daso.wanted);
  return numbers;
}

std::optional<std::int64_t> known(std::int64_t number) {
  return number == unknown ? std::nullopt : std::optional(number);
}

void set_numbers(RankState& state, const Numbers& n) {
  if (n.size() != 23) throw std::runtime_error("a record of another version");
  state.position = {static_cast<std::uint64_t>(n[0]), n[1], n[2]};
  auto& daso = state.daso;
  daso.batch = n[3];
  daso.sync.phases = {n[4], n[5], known(n[6])};
  daso.sync.last_sync = n[7];
  if (n[8] != unknown) daso.sync.flight = Flight{n[8], n[9]};
  daso.plateau.bad = n[10];
  daso.needed = n[11];
  daso.failed = n[12] != 0;
  daso.asked = {n[13], n[14], known(n[15])};
  if (n[16] != unknown) daso.scaler = GradScaler::State{.good = n[16]};
  daso.sync.interval = {n[17], n[18], n[19]};
  daso.wanted = {n[20], n[21], n[22]};
}

Numbers numbers_of(const std::vector<DasoEvent>& events) {
  Numbers numbers;
  for (const auto& e : events) {
    if (e.is_synchronisation()) continue;
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

std::string names_of(const torch::nn::Module& module) {
  std::string names;
  for (const auto& item : module.named_parameters()) names += item.key() + '\n';
  return names;
}

at::Tensor as_bytes(const std::string& text) {
  return at::tensor(std::vector<std::uint8_t>(text.begin(), text.end()), at::kByte);
}

InputArchive opened(const std::string& section) {
  InputArchive archive;
  archive.load_from(section.data(), section.size(), at::kCPU);
  return archive;
}

/// LibTorch leaves the state where the archive was loaded.
void move_to_parameters(torch::optim::Optimizer& optimizer) {
  const auto& groups = optimizer.param_groups();
  const auto on_cpu = [](const auto& parameter) { return parameter.is_cpu(); };
  if (!std::ranges::all_of(groups, [&](const auto& group) { return std::ranges::all_of(group.params(), on_cpu); }))
    set_slots(optimizer, slots_of(optimizer));
}

}  // namespace

std::string to_section(const RankState& state, const torch::nn::Module* module,
                       const torch::optim::Optimizer* optimizer) {
  OutputArchive archive;
  const auto& losses = state.daso.losses;
  archive.write("numbers", at::tensor(numbers_of(state)));
  archive.write("losses", at::tensor({state.daso.plateau.best, losses.sum, losses.count, losses.pooled_sum,
                                      losses.pooled_count, state.daso.scaler.value_or(GradScaler::State{}).scale},
                                     at::kDouble));
  archive.write("events", at::tensor(numbers_of(state.daso.events), at::kLong));
  archive.write("kind", at::tensor(state.kind, at::kLong));
  archive.write("generator", state.generator);
  write(archive, "buffers", named(state.buffers));
  write(archive, "memory", named(state.daso.memory));
  write(archive, "extras", state.extras);
  if (module) {
    archive.write("names", as_bytes(names_of(*module)));
    write(archive, "weights", named(module->parameters()));
    OutputArchive rest;
    optimizer->save(rest);
    archive.write("optimizer", rest);
  }
  std::ostringstream stream;
  archive.save_to(stream);
  return std::move(stream).str();
}

RankState rank_state(const std::string& section) {
  auto archive = opened(section);
  RankState state;
  set_numbers(state, values<std::int64_t>(archive, "numbers"));
  const auto losses = values<double>(archive, "losses");
  if (losses.size() != 6) throw std::runtime_error("a damaged record of losses");
  state.daso.plateau.best = losses[0];
  state.daso.losses = {losses[1], losses[2], losses[3], losses[4]};
  if (state.daso.scaler) state.daso.scaler->scale = losses[5];
  state.daso.events = events_of(values<std::int64_t>(archive, "events"));
  state.kind = values<std::int64_t>(archive, "kind");
  archive.read("generator", state.generator);
  state.buffers = listed(read(archive, "buffers"));
  state.daso.memory = listed(read(archive, "memory"));
  state.extras = read(archive, "extras");
  return state;
}

void load_shared(const std::string& section, torch::nn::Module& module, torch::optim::Optimizer& optimizer) {
  auto archive = opened(section);
  const auto names = values<std::uint8_t>(archive, "names");
  if (std::string(names.begin(), names.end()) != names_of(module))
    throw std::runtime_error("parameters of other names");
  copy_all(module.parameters(), listed(read(archive, "weights")));
  InputArchive rest;
  archive.read("optimizer", rest);
  optimizer.load(rest);
  move_to_parameters(optimizer);
}

void copy_all(const std::vector<at::Tensor>& to, const std::vector<at::Tensor>& from) {
  const at::NoGradGuard no_grad;
  const auto same_kind = [](const at::Tensor& a, const at::Tensor& b) {
    return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type();
  };
  if (!std::ranges::equal(to, from, same_kind)) throw std::runtime_error("tensors of other shapes or dtypes");
  for (std::size_t i = 0; i < to.size(); ++i) at::Tensor(to[i]).copy_(from[i]);
}

}  // namespace heatpp::nn::detail
