#include <heatpp_nn/training/checkpoint.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/text.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/detail/first_line.hpp>
#include <heatpp_nn/parallel/detail/flat.hpp>
#include <heatpp_nn/parallel/detail/optimizer_state.hpp>
#include <heatpp_nn/training/detail/forwarded.hpp>
#include <heatpp_nn/training/detail/section_file.hpp>
#include <heatpp_nn/training/detail/training.hpp>
#include <heatpp_nn/training/detail/agreement.hpp>
#include <heatpp_nn/training/detail/training_archive.hpp>

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include <algorithm>
#include <mutex>

namespace heatpp::nn {

using detail::Alike;
using detail::SectionFile;
using detail::Training;
using heatpp::detail::formatted;
using heatpp::detail::raise;

namespace {

constexpr auto op = "checkpoint";

at::Tensor state_of(at::Generator generator) {
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

at::Generator cpu_generator() { return at::globalContext().defaultGenerator(at::kCPU); }
/// Returns the generator of the GPU on which the network is, if it is on one.
std::optional<at::Generator> device_generator(const Training& training) {
  const auto device = detail::device_of(training.module());
  if (device.is_cpu()) return std::nullopt;
  return at::globalContext().defaultGenerator(device);
}

/// Sets a generator's state. If there is none, or it is of another kind of device, the generator stays as it is.
void go_on_with(at::Generator generator, const at::Tensor& state) {
  if (!state.defined() || state.numel() != state_of(generator).numel()) return;
  const std::lock_guard lock(generator.mutex());
  generator.set_state(state);
}

/// Returns the node of this rank, as the number of its first rank.
std::int64_t node_of(const Replica& replica) {
  std::array<std::int64_t, 1> first{replica.topology().comm().rank()};
  replica.topology().node().allreduce(first, ReduceOp::min);
  return first[0];
}

/// Returns which ranks have equal weights and running means.
Alike alike_in(const Training& training) {
  return std::max(training.alike(), training.mean ? training.mean->alike() : Alike::all);
}

std::vector<std::int64_t> kind_of(const Training& training) {
  if (!training.daso) return {};
  // The state of shares has the layout of these buckets.
  std::vector<std::int64_t> ends;
  for (const auto& bucket : training.replica.flat().buckets()) ends.push_back(static_cast<std::int64_t>(bucket.end));
  auto kind = training.daso->kind();
  kind.insert(kind.end(), ends.begin(), ends.end());
  return kind;
}

/// Whether this rank writes a frozen parameter. Ranks with equal weights take turns.
bool writes_frozen(const Training& training, Alike alike, std::size_t number) {
  if (alike == Alike::none) return true;
  const auto& comm = alike == Alike::all ? training.comm() : training.replica.topology().node();
  return static_cast<int>(number % static_cast<std::size_t>(comm.size())) == comm.rank();
}

SectionFile::Section section_of(const Training& training, const Position& position, const Extras& extras, Alike alike) {
  auto pieces = detail::written_pieces(training.replica, training.optimizer, training.mean_of_parameters(), alike);
  detail::RankState state{.daso = {},
                          .position = position,
                          .generator = state_of(cpu_generator()),
                          .extras = extras,
                          .kind = kind_of(training),
                          .structure = training.replica.structure(),
                          .optimizer = detail::name_of(training.optimizer),
                          .options = detail::options_of(training.optimizer),
                          .rows = std::move(pieces.rows)};
  auto memory = training.replica.residuals();
  if (training.daso) {
    state.daso = training.daso->state();
    memory = std::move(state.daso.memory);
  }
  if (const auto of_device = device_generator(training)) state.device_generator = state_of(*of_device);
  state.memory = detail::table_of(memory);
  for (const auto& tensor : memory) pieces.tensors.push_back(tensor.detach().cpu().contiguous());
  detail::Rest rest{.buffers = training.replica.buffers()};
  const auto& frozen = training.replica.frozen();
  for (std::size_t i = 0; i < frozen.size(); ++i)
    if (writes_frozen(training, alike, i)) rest.frozen[formatted("{:08}", i)] = frozen[i];
  if (training.mean) rest.mean = training.mean->of_buffers();
  pieces.tensors.push_back(detail::to_rest(rest));
  return {detail::to_head(state), std::move(pieces.tensors)};
}

/// What a rank has read of one section.
struct Read {
  detail::RankState state;
  std::vector<at::Tensor> memory;
  detail::Rest rest;
};

/// Loads a file. It reads and checks everything before it changes anything.
class Loading {
 public:
  Loading(const std::string& path, const Training& training)
      : path_(path),
        training_(training),
        file_(op, training.comm(), path),
        assembly_(training.replica, training.optimizer, training.mean_of_parameters()),
        structure_(training.replica.structure()) {}

  Resumed run() {
    if (goes_on()) return go_on();
    return join();
  }

 private:
  void attempt(const std::function<void()>& work) const {
    all_or_none(training_.comm(), [&] {
      try {
        work();
      } catch (const IoError&) {
        throw;
      } catch (const std::exception& error) {
        raise<IoError>(op, "got \"{}\" ({}); expected a checkpoint of this module and optimizer", path_,
                       detail::first_line(error));
      }
    });
  }

  [[nodiscard]] bool on_all(bool mine) const {
    std::array<std::int64_t, 1> others{!mine};
    training_.comm().allreduce(others);
    return others[0] == 0;
  }

  detail::RankState state_in(const std::string& head) const {
    auto state = detail::rank_state(head);
    if (state.structure != structure_)
      throw std::runtime_error("parameters or buffers of other names, shapes or dtypes");
    if (state.optimizer != detail::name_of(training_.optimizer))
      throw std::runtime_error(formatted("the state of {}", state.optimizer));
    return state;
  }

  /// Whether the file has the same number of ranks, equal nodes, and the same kinds of merge rules and wires.
  bool goes_on() {
    const auto node = node_of(training_.replica);
    if (!on_all(file_.sections() == training_.comm().size() && file_.parts()[0].entry.node == node)) return false;
    attempt([&] { mine_.state = state_in(file_.head(file_.parts()[0])); });
    return on_all(mine_.state.kind == kind_of(training_) && has_same_wires(mine_.state));
  }

  /// Whether the gradients have the same wires. Their residuals come after DASO's memory.
  [[nodiscard]] bool has_same_wires(const detail::RankState& state) const {
    const auto mine = detail::table_of(training_.replica.residuals());
    const auto before = training_.daso ? 2 * training_.daso->memory_size(state.daso.sync.flight.has_value()) : 0;
    return state.memory.size() == before + mine.size() && std::equal(mine.rbegin(), mine.rend(), state.memory.rbegin());
  }

  /// Returns which ranks wrote their pieces together.
  [[nodiscard]] Alike alike_of_file() const {
    if (file_.is_source_0()) return Alike::all;
    return file_.is_source_node() ? Alike::node : Alike::none;
  }

  void bring(const SectionFile::StoredSection& section, Read& read, double share) {
    const auto body = file_.body(section);
    check_complex(read.state, body);
    auto left = std::string_view(body).substr(assembly_.bring(read.state.rows, body, share));
    read.memory = detail::memory_in(left, read.state.memory);
    read.rest = detail::rest_of(left);
    detail::check_alike(training_.replica.buffers(), read.rest.buffers);
    if (read.rest.mean.empty()) read.rest.mean = detail::floating(read.rest.buffers);
    if (training_.mean) detail::check_alike(training_.mean->of_buffers(), read.rest.mean);
  }

  /// Older files count complex weights as complex numbers, and their moments are not PyTorch's. In such a file the
  /// archive at the end of the body does not begin at the computed position.
  void check_complex(const detail::RankState& state, std::string_view body) const {
    if (training_.replica.flat().complex().empty()) return;
    const auto end = assembly_.bytes_of(state.rows) + detail::bytes_of(state.memory);
    if (end > body.size() || !body.substr(end).starts_with("PK"))
      throw std::runtime_error(
          "complex weights in an older form, with moments that are not PyTorch's; to keep the weights, load it with "
          "the version that wrote it, save_safetensors there and load_safetensors here");
  }

  /// Each rank loads its own state.
  Resumed go_on() {
    auto& [state, memory, rest] = mine_;
    attempt([&] {
      bring(file_.parts()[0], mine_, 1);
      if (training_.daso) {
        state.daso.memory = memory;
        training_.daso->set_state(state.daso);
      } else detail::copy_all(training_.replica.residuals(), memory);
      detail::set_options(training_.optimizer, state.options);
    });
    const auto alike = alike_of_file();
    assembly_.put(alike, true);
    put_frozen(rest, alike);
    detail::copy_all(training_.replica.buffers(), rest.buffers);
    if (training_.mean) {
      detail::copy_all(training_.mean->of_buffers(), rest.mean);
      training_.mean->set_alike(alike);
    }
    go_on_with(cpu_generator(), state.generator);
    if (const auto of_device = device_generator(training_)) go_on_with(*of_device, state.device_generator);
    if (training_.daso) training_.daso->align();
    return {state.position, std::move(state.extras)};
  }

  /// Every rank loads the mean over the ranks that wrote. Each rank reads some of the sections.
  Resumed join() {
    std::vector<Read> sources;
    detail::Rest frozen;
    detail::RankState state;
    std::string head;  // head of the first section, which rank 0 reads
    attempt([&] {
      for (const auto& part : file_.parts()) {
        const auto share = static_cast<double>(part.of_source) / static_cast<double>(file_.sections());
        auto text = file_.head(part);
        Read read{state_in(text), {}, {}};
        if (part.index == 0) head = std::move(text);
        bring(part, read, share);
        read.memory.clear();
        if (part.entry.source == 0) frozen.frozen.merge(read.rest.frozen);
        read.rest.frozen.clear();
        sources.push_back(std::move(read));
      }
    });
    head = heatpp::detail::text_of_rank_0(training_.comm(), std::move(head));
    attempt([&] {
      state = state_in(head);
      detail::set_options(training_.optimizer, state.options);
    });
    assembly_.put(Alike::all, file_.is_source_0());
    put_frozen(frozen, Alike::all);
    mean_of(training_.replica.buffers(), sources, &detail::Rest::buffers);
    if (training_.mean) {
      mean_of(training_.mean->of_buffers(), sources, &detail::Rest::mean);
      training_.mean->set_alike(Alike::all);
    }
    if (training_.daso) training_.daso->join_state(state.kind.empty() ? training_.daso->state() : state.daso);
    return {state.position, std::move(state.extras)};
  }

  /// Ranks of a node may have the frozen weights in common; then all write the same values.
  void put_frozen(const detail::Rest& rest, Alike alike) const {
    const at::NoGradGuard no_grad;
    const auto& frozen = training_.replica.frozen();
    std::vector<at::Tensor> sums;
    for (std::size_t i = 0; i < frozen.size(); ++i) {
      const auto found = rest.frozen.find(formatted("{:08}", i));
      sums.push_back(at::zeros_like(frozen[i], at::MemoryFormat::Contiguous));
      if (found != rest.frozen.end()) sums.back().copy_(found->second);
    }
    detail::add_up_bits(training_.replica, sums, alike);
    detail::copy_all(frozen, sums);
  }

  /// Averages floating-point buffers, which differ between ranks, in float64: equal values stay unchanged. Other
  /// buffers become those of the first section.
  void mean_of(const std::vector<at::Tensor>& buffers, const std::vector<Read>& sources,
               std::vector<at::Tensor> detail::Rest::*of) const {
    const at::NoGradGuard no_grad;
    std::vector<at::Tensor> averaged, sums, others;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const auto theirs = [&](const Read& read) { return (read.rest.*of)[i]; };
      if (!buffers[i].is_floating_point()) {
        if (training_.comm().rank() == 0) at::Tensor(buffers[i]).copy_(theirs(sources.front()));
        others.push_back(buffers[i]);
        continue;
      }
      averaged.push_back(buffers[i]);
      sums.push_back(at::zeros_like(buffers[i], at::kDouble));
      for (const auto& read : sources) sums.back().add_(theirs(read).to(sums.back().device()));
    }
    detail::add_up(training_.replica.topology(), sums);
    for (std::size_t i = 0; i < sums.size(); ++i)
      averaged[i].copy_(sums[i].div_(static_cast<double>(file_.sections())));
    detail::broadcast(training_.comm(), others);
  }

  const std::string& path_;
  const Training& training_;
  SectionFile file_;
  detail::Assembly assembly_;
  std::string structure_;
  Read mine_;
};

}  // namespace

/// Nodes train independently only in the cycle.
Alike detail::Training::alike() const {
  if (!daso || daso->phase() != Phase::cycle) return Alike::all;
  return daso->keeps_nodes_equal() ? Alike::node : Alike::none;
}

Resumed detail::load(const std::string& path, const Training& training) { return Loading(path, training).run(); }

detail::SectionWriter detail::begin_checkpoint(const std::string& path, const Training& training,
                                               const Position& position, const Extras& extras) {
  detail::check_agreed("save_checkpoint", training.comm(), {{"path", formatted("\"{}\"", path)}}, [&] {
    for (const auto& [name, tensor] : extras)
      if (!tensor.defined() || name.find('"') != std::string::npos)
        raise<ValueError>("save_checkpoint", "got {} {}; expected tensors, under names without quotation marks",
                          tensor.defined() ? "a tensor named" : "no tensor for", name);
  });
  training.replica.agree_on("save_checkpoint", training.optimizer);
  if (training.daso) training.daso->check_finite();
  const auto alike = alike_in(training);
  const auto node = node_of(training.replica);
  const std::int64_t source = alike == Alike::all ? 0 : alike == Alike::node ? node : training.comm().rank();
  return {op, training.comm(), path, {.node = node, .source = source}, section_of(training, position, extras, alike)};
}

namespace {

void save(const std::string& path, const Training& training, const Position& position, const Extras& extras) {
  auto writer = detail::begin_checkpoint(path, training, position, extras);
  writer.write();
  writer.commit();
}

}  // namespace

void save_checkpoint(const std::string& path, DASO& daso, const Position& position, const Extras& extras) {
  save(path, {daso.replica(), daso.optimizer(), &daso}, position, extras);
}

void save_checkpoint(const std::string& path, Replica& replica, torch::optim::Optimizer& optimizer,
                     const Position& position, const Extras& extras) {
  save(path, {replica, optimizer, nullptr}, position, extras);
}

Resumed load_checkpoint(const std::string& path, DASO& daso) {
  return detail::load(path, {daso.replica(), daso.optimizer(), &daso});
}

Resumed load_checkpoint(const std::string& path, Replica& replica, torch::optim::Optimizer& optimizer) {
  return detail::load(path, {replica, optimizer, nullptr});
}

}  // namespace heatpp::nn
