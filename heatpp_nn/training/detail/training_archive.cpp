#include <heatpp_nn/training/detail/training_archive.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/training/detail/options/state.hpp>

#include <torch/optim/optimizer.h>
#include <torch/serialize.h>

#include <algorithm>
#include <cmath>
#include <cstring>
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
  numbers.push_back(state.position.rows.value_or(unknown));
  return numbers;
}

Interval interval_of(const std::int64_t* n) {
  if (n[0] < 1 || n[1] < 0 || n[2] < 1) throw std::runtime_error("a damaged record of intervals");
  return {n[0], n[1], n[2]};
}

std::optional<std::int64_t> known(std::int64_t number) {
  return number == unknown ? std::nullopt : std::optional(number);
}

void set_numbers(RankState& state, const Numbers& n) {
  if (n.size() != 23 && n.size() != 24) throw std::runtime_error("a record of another version");
  state.position = {static_cast<std::uint64_t>(n[0]), n[1], n[2]};
  if (n.size() == 24) state.position.rows = known(n[23]);  // older files count batches only
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
  daso.sync.interval = interval_of(&n[17]);
  daso.wanted = interval_of(&n[20]);
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

at::Tensor to_tensor(const Tuning& tuning) {
  const auto& costs = tuning.costs;
  return at::tensor({static_cast<double>(tuning.wire), static_cast<double>(tuning.policy), costs.transfer, costs.batch,
                     costs.waited, costs.drift, static_cast<double>(tuning.fragments)},
                    at::kDouble);
}

/// Reads the tuning of a training whose interval was `interval`.
Tuning tuning_of(const std::vector<double>& numbers, const Interval& interval) {
  const auto known = [](double number, const auto&... choices) {
    return ((number == static_cast<double>(choices)) || ...);
  };
  const auto is_cost = [](double number) { return std::isfinite(number) && number >= 0; };
  const bool cut = numbers.size() == 7;  // earlier versions did not cut the weights
  if ((numbers.size() != 6 && !cut) ||
      !known(numbers[0], Wire::float32, Wire::bfloat16, Wire::int8, Wire::int4, Wire::float4) ||
      !known(numbers[1], MergePolicy::daso, MergePolicy::alpha, MergePolicy::delta, MergePolicy::outer) ||
      !std::all_of(numbers.begin() + 2, numbers.end(), is_cost))
    throw std::runtime_error("a damaged record of how nodes synchronise");
  return {interval,
          static_cast<Wire>(numbers[0]),
          static_cast<MergePolicy>(numbers[1]),
          {numbers[2], numbers[3], numbers[4], numbers[5]},
          cut ? std::max<std::int64_t>(1, std::llround(numbers[6])) : 1};
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
  Extras tensors;
  if (!from.try_read(key, archive)) return tensors;
  for (const auto& name : archive.keys()) archive.read(name, tensors[name]);
  return tensors;
}

Extras named(const std::vector<at::Tensor>& list) {
  Extras tensors;
  for (std::size_t i = 0; i < list.size(); ++i) tensors[heatpp::detail::formatted("{:08}", i)] = list[i];
  return tensors;
}

std::vector<at::Tensor> listed(const Extras& tensors) {
  std::vector<at::Tensor> list;
  for (const auto& [name, tensor] : tensors) list.push_back(tensor);
  return list;
}

at::Tensor as_bytes(const std::string& text) {
  return at::tensor(std::vector<std::uint8_t>(text.begin(), text.end()), at::kByte);
}

std::string text_in(InputArchive& archive, const std::string& key) {
  const auto bytes = values<std::uint8_t>(archive, key);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

InputArchive opened(std::string_view bytes) {
  InputArchive archive;
  archive.load_from(bytes.data(), bytes.size(), at::kCPU);
  return archive;
}

std::string saved(OutputArchive& archive) {
  std::ostringstream stream;
  archive.save_to(stream);
  return std::move(stream).str();
}

std::string to_head(const RankState& state) {
  OutputArchive archive;
  const auto& losses = state.daso.losses;
  archive.write("numbers", at::tensor(numbers_of(state)));
  archive.write("losses", at::tensor({state.daso.plateau.best, losses.sum, losses.count, losses.pooled_sum,
                                      losses.pooled_count, state.daso.scaler.value_or(GradScaler::State{}).scale},
                                     at::kDouble));
  archive.write("tuning", to_tensor(state.daso.tuning));
  archive.write("events", at::tensor(numbers_of(state.daso.events), at::kLong));
  archive.write("kind", at::tensor(state.kind, at::kLong));
  archive.write("generator", state.generator);
  if (state.device_generator.defined()) archive.write("device_generator", state.device_generator);
  archive.write("structure", as_bytes(state.structure));
  archive.write("optimizer", as_bytes(state.optimizer));
  archive.write("options", as_bytes(state.options));
  static_assert(sizeof(PieceRow) == 5 * sizeof(std::int64_t));
  auto rows = at::empty({std::ssize(state.rows), 5}, at::kLong);
  std::memcpy(rows.mutable_data_ptr(), state.rows.data(), rows.nbytes());
  archive.write("rows", rows);
  archive.write("memory", at::tensor(state.memory, at::kLong));
  write(archive, "extras", state.extras);
  return saved(archive);
}

RankState rank_state(std::string_view head) {
  auto archive = opened(head);
  RankState state;
  set_numbers(state, values<std::int64_t>(archive, "numbers"));
  const auto losses = values<double>(archive, "losses");
  if (losses.size() != 6) throw std::runtime_error("a damaged record of losses");
  state.daso.plateau.best = losses[0];
  state.daso.losses = {losses[1], losses[2], losses[3], losses[4]};
  if (state.daso.scaler) state.daso.scaler->scale = losses[5];
  state.daso.tuning = tuning_of(values<double>(archive, "tuning"), state.daso.sync.interval);
  state.daso.events = events_of(values<std::int64_t>(archive, "events"));
  state.kind = values<std::int64_t>(archive, "kind");
  archive.read("generator", state.generator);
  (void)archive.try_read("device_generator", state.device_generator);
  state.structure = text_in(archive, "structure");
  state.optimizer = text_in(archive, "optimizer");
  state.options = text_in(archive, "options");
  const auto rows = values<std::int64_t>(archive, "rows");
  for (std::size_t i = 0; i + 5 <= rows.size(); i += 5)
    state.rows.push_back({rows[i], rows[i + 1], rows[i + 2], rows[i + 3], rows[i + 4]});
  state.memory = values<std::int64_t>(archive, "memory");
  state.extras = read(archive, "extras");
  return state;
}

std::vector<std::int64_t> table_of(const std::vector<at::Tensor>& memory) {
  std::vector<std::int64_t> table;
  for (const auto& tensor : memory)
    table.insert(table.end(), {static_cast<std::int64_t>(tensor.scalar_type()), tensor.numel()});
  return table;
}

std::size_t bytes_of(const std::vector<std::int64_t>& table) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i + 2 <= table.size(); i += 2)
    bytes += at::elementSize(static_cast<at::ScalarType>(table[i])) * static_cast<std::size_t>(table[i + 1]);
  return bytes;
}

std::vector<at::Tensor> memory_in(std::string_view& bytes, const std::vector<std::int64_t>& table) {
  std::vector<at::Tensor> memory;
  for (std::size_t i = 0; i + 2 <= table.size(); i += 2) {
    const auto dtype = static_cast<at::ScalarType>(table[i]);
    if ((dtype != at::kFloat && dtype != at::kDouble && dtype != at::kHalf && dtype != at::kBFloat16) ||
        table[i + 1] < 0 || table[i + 1] > std::ssize(bytes))
      throw std::runtime_error("a damaged record of memory");
    auto tensor = at::empty({table[i + 1]}, at::TensorOptions(dtype));
    if (tensor.nbytes() > bytes.size()) throw std::runtime_error("fewer bytes than its memory has");
    if (tensor.numel() > 0) std::memcpy(tensor.mutable_data_ptr(), bytes.data(), tensor.nbytes());
    bytes.remove_prefix(tensor.nbytes());
    memory.push_back(std::move(tensor));
  }
  return memory;
}

at::Tensor to_rest(const Rest& rest) {
  OutputArchive archive;
  write(archive, "buffers", named(rest.buffers));
  write(archive, "frozen", rest.frozen);
  write(archive, "mean", named(rest.mean));
  return as_bytes(saved(archive));
}

Rest rest_of(std::string_view bytes) {
  auto archive = opened(bytes);
  return {listed(read(archive, "buffers")), read(archive, "frozen"), listed(read(archive, "mean"))};
}

at::Tensor to_tensor(const LoopState& state) { return as_bytes(lines_of(state)); }

namespace {

/// Reads the 10 or 11 numbers of older files, which had no names.
std::optional<LoopState> of_numbers(const at::Tensor& tensor) {
  if (tensor.numel() != 10 && tensor.numel() != 11) return std::nullopt;
  const auto* const numbers = tensor.const_data_ptr<double>();
  const auto whole = [&](int i) { return static_cast<std::int64_t>(numbers[i]); };
  return LoopState{.losses = {numbers[0], numbers[1]},
                   .batch = whole(2),
                   .early = {whole(3), whole(4), numbers[5] != 0, {numbers[6], whole(7)}},
                   .scale = {numbers[8], whole(9)},
                   .least = numbers[tensor.numel() == 11 ? 10 : 6]};  // the oldest have what `stop` took as the best
}

}  // namespace

std::optional<LoopState> loop_state(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_contiguous()) return std::nullopt;
  if (tensor.scalar_type() == at::kDouble) return of_numbers(tensor);
  if (tensor.scalar_type() != at::kByte) return std::nullopt;
  const auto* const bytes = tensor.const_data_ptr<std::uint8_t>();
  const auto lines = lines_in({bytes, bytes + tensor.numel()});
  LoopState state;
  return lines.contains("batch") && read_fields(lines, "", state) ? std::optional(state) : std::nullopt;
}

/// When it stopped the training, the count of values without improvement restarted.
EarlyStopping::State going_on(EarlyStopping::State state, const std::optional<PlateauOptions>& stop) {
  if (state.stopped) state.plateau.bad = state.seen - 1 - state.best;
  state.stopped = state.stopped && stop && state.plateau.bad > stop->patience;
  return state;
}

std::string options_of(const torch::optim::Optimizer& optimizer) {
  OutputArchive archive;
  for (std::size_t i = 0; i < optimizer.param_groups().size(); ++i) {
    OutputArchive group;
    optimizer.param_groups()[i].options().serialize(group);
    archive.write(heatpp::detail::formatted("{:08}", i), group);
  }
  return saved(archive);
}

void set_options(torch::optim::Optimizer& optimizer, const std::string& options) {
  auto archive = opened(options);
  if (archive.keys().size() != optimizer.param_groups().size())
    throw std::runtime_error("an optimizer of other groups of parameters");
  for (std::size_t i = 0; i < optimizer.param_groups().size(); ++i) {
    InputArchive group;
    archive.read(heatpp::detail::formatted("{:08}", i), group);
    optimizer.param_groups()[i].options().serialize(group);
  }
}

void check_alike(const std::vector<at::Tensor>& to, const std::vector<at::Tensor>& from) {
  const auto same_kind = [](const at::Tensor& a, const at::Tensor& b) {
    return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type();
  };
  if (!std::ranges::equal(to, from, same_kind)) throw std::runtime_error("tensors of other shapes or dtypes");
}

void copy_all(const std::vector<at::Tensor>& to, const std::vector<at::Tensor>& from) {
  const at::NoGradGuard no_grad;
  check_alike(to, from);
  for (std::size_t i = 0; i < to.size(); ++i) at::Tensor(to[i]).copy_(from[i]);
}

}  // namespace heatpp::nn::detail
