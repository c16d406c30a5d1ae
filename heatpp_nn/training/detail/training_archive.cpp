#include <heatpp_nn/training/detail/training_archive.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/training/detail/options/older_state.hpp>
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
constexpr auto damaged = "a damaged record of its state";

/// Returns the position and the state of DASO as lines, without the events.
std::string text_of(const RankState& state) {
  std::vector<Setting> settings;
  heatpp::detail::add_settings(state.position, "position.", settings);
  heatpp::detail::add_settings(state.daso, "daso.", settings);
  return lines_of(settings);
}

void read_text(const std::string& text, RankState& state) {
  const auto lines = lines_in(text);
  if (!read_fields(lines, "position.", state.position) || !read_fields(lines, "daso.", state.daso))
    throw std::runtime_error(damaged);
}

/// Returns events as a table: a line of names, and one line for each event. Synchronisations are left out.
std::string event_table(const std::vector<DasoEvent>& events) {
  const auto line_of = [](const std::vector<Setting>& settings, std::string Setting::*part) {
    std::string line;
    for (const auto& setting : settings) line += setting.*part + " ";
    return line + "\n";
  };
  auto table = line_of(heatpp::detail::settings_of(DasoEvent()), &Setting::name);
  for (const auto& event : events)
    if (!event.is_synchronisation()) table += line_of(heatpp::detail::settings_of(event), &Setting::value);
  return table;
}

std::vector<DasoEvent> events_in(const std::string& table) {
  std::istringstream lines(table);
  std::string line, name;
  std::getline(lines, line);
  std::vector<std::string> names;
  for (std::istringstream words(line); words >> name;) names.push_back(name);
  std::vector<DasoEvent> events;
  while (std::getline(lines, line)) {
    Lines values;
    std::istringstream words(line);
    for (const auto& each : names) words >> values[each];
    if (!words || !read_fields(values, "", events.emplace_back())) throw std::runtime_error(damaged);
  }
  return events;
}

/// Throws std::exception for numbers that no training has.
void check(const DasoState& daso) {
  const auto is_right = [](const Interval& each) { return each.batches >= 1 && each.wait >= 0 && each.local >= 1; };
  if (!is_right(daso.sync.interval) || !is_right(daso.wanted))
    throw std::runtime_error("a damaged record of intervals");
  const auto& costs = daso.tuning.costs;
  for (const auto cost : {costs.transfer, costs.batch, costs.waited, costs.drift})
    if (!std::isfinite(cost) || cost < 0) throw std::runtime_error("a damaged record of how nodes synchronise");
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
  archive.write("state", as_bytes(text_of(state)));
  archive.write("events", as_bytes(event_table(state.daso.events)));
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
  if (at::Tensor named; archive.try_read("state", named)) {
    read_text(text_in(archive, "state"), state);
    state.daso.events = events_in(text_in(archive, "events"));
  } else
    set_older(state, {.numbers = values<std::int64_t>(archive, "numbers"),
                      .events = values<std::int64_t>(archive, "events"),
                      .losses = values<double>(archive, "losses"),
                      .tuning = values<double>(archive, "tuning")});
  check(state.daso);
  state.daso.tuning.interval = state.daso.sync.interval;
  state.daso.tuning.fragments = std::max<std::int64_t>(1, state.daso.tuning.fragments);
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

std::optional<LoopState> loop_state(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_contiguous()) return std::nullopt;
  if (tensor.scalar_type() == at::kDouble) return older_loop_state(tensor);
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
