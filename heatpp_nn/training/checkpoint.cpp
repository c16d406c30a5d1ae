#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/parallel/detail/optimizer_state.hpp>
#include <heatpp_nn/training/checkpoint.hpp>
#include <heatpp_nn/training/detail/section_file.hpp>
#include <heatpp_nn/training/detail/training_archive.hpp>

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include <algorithm>
#include <numeric>

namespace heatpp::nn {

using heatpp::detail::raise;

namespace {

constexpr auto op = "checkpoint";

using Tensors = std::vector<at::Tensor>;

at::Generator generator() { return at::globalContext().defaultGenerator(at::kCPU); }

/// What is saved and loaded; `daso` may be missing.
struct Training {
  Replica& replica;
  torch::optim::Optimizer& optimizer;
  DASO* daso;

  [[nodiscard]] const Communicator& comm() const { return replica.topology().comm(); }
  [[nodiscard]] torch::nn::Module& module() const { return *replica.shared_module(); }
};

/// The first of the ranks that have this one's weights: of the node in the cycle, of all outside of it.
std::int64_t source(const Training& training, std::int64_t node) {
  if (!training.daso || training.daso->phase() != Phase::cycle) return 0;
  return training.daso->keeps_nodes_equal() ? node : training.comm().rank();
}

/// The node of each rank, by its first rank.
std::int64_t node_of(const Replica& replica) {
  std::array<std::int64_t, 1> first{replica.topology().comm().rank()};
  replica.topology().node().allreduce(first, ReduceOp::min);
  return first[0];
}

std::vector<std::int64_t> kind_of(const Training& training) {
  return training.daso ? training.daso->kind() : std::vector<std::int64_t>();
}

void save(const std::string& path, const Training& training, const Position& position, const Extras& extras) {
  const auto node = node_of(training.replica);
  const auto from = source(training, node);
  detail::RankState state{.daso = {},
                          .position = position,
                          .generator = generator().get_state(),
                          .buffers = training.module().buffers(),
                          .extras = extras,
                          .kind = kind_of(training)};
  if (training.daso) state.daso = training.daso->state();
  else state.daso.memory = training.replica.residuals();
  const bool whole = from == training.comm().rank();
  const auto section =
      detail::to_section(state, whole ? &training.module() : nullptr, whole ? &training.optimizer : nullptr);
  detail::SectionFile::write(op, training.comm(), path, {.node = node, .source = from}, section);
}

/// The tensors of a module, to be put back where loading fails.
class Backup {
 public:
  explicit Backup(const torch::nn::Module& module) : tensors_(module.parameters()) {
    const auto buffers = module.buffers();
    tensors_.insert(tensors_.end(), buffers.begin(), buffers.end());
    for (const auto& tensor : tensors_) copies_.push_back(tensor.detach().clone());
  }
  void restore() const { detail::copy_all(tensors_, copies_); }

 private:
  Tensors tensors_, copies_;
};

// LibTorch's messages carry a stack trace after the first line.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Loads from one or two files' worth of bytes; on failure the module is as before, on all ranks.
class Loading {
 public:
  Loading(const std::string& path, const Training& training)
      : path_(path), training_(training), backup_(training.module()) {}

  void attempt(const std::function<void()>& work) {
    try {
      all_or_none(training_.comm(), [&] { named(work); });
    } catch (...) {
      backup_.restore();
      throw;
    }
  }

 private:
  void named(const std::function<void()>& work) {
    try {
      work();
    } catch (const IoError&) {
      throw;
    } catch (const std::exception& error) {
      raise<IoError>(op, "got \"{}\" ({}); expected a checkpoint of this module and optimizer", path_,
                     first_line(error.what()));
    }
  }

  const std::string& path_;
  const Training& training_;
  Backup backup_;
};

/// What is kept of merge rules and wires has to be of the same kind, or training goes on without it.
bool continues(const Training& training, const detail::RankState& state) {
  const auto residuals = training.replica.residuals();
  return state.kind == kind_of(training) &&
         (training.daso ||
          std::ranges::equal(residuals, state.daso.memory, {}, &at::Tensor::numel, &at::Tensor::numel));
}

/// Each rank takes up its own state.
void continue_run(const detail::SectionFile& file, const Training& training, Loading& loading,
                  const detail::RankState& state) {
  std::vector<std::size_t> sources;
  for (const auto& entry : file.entries()) sources.push_back(static_cast<std::size_t>(entry.source));
  const auto shared = file.deliver(sources);
  loading.attempt([&] {
    detail::load_shared(shared, training.module(), training.optimizer);
    detail::copy_all(training.module().buffers(), state.buffers);
    if (training.daso) training.daso->set_state(state.daso);
    else detail::copy_all(training.replica.residuals(), state.daso.memory);
    generator().set_state(state.generator);
  });
  if (training.daso) training.daso->align();
}

/// What floats in a training: weights, buffers and the optimizer's state, added up over those who wrote.
class Mean {
 public:
  explicit Mean(const Training& training) : training_(training) {}

  void add(double share) {
    const at::NoGradGuard no_grad;
    detail::add_to(sums_, floating(), share);
    detail::add_to(slots_, detail::slots_of(training_.optimizer), share);
  }
  void put() const {
    const at::NoGradGuard no_grad;
    const auto tensors = floating();
    for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].copy_(sums_[i]);
    detail::set_slots(training_.optimizer, slots_);
  }

 private:
  [[nodiscard]] Tensors floating() const {
    auto tensors = training_.module().parameters();
    const auto buffers = training_.module().buffers();
    tensors.insert(tensors.end(), buffers.begin(), buffers.end());
    std::erase_if(tensors, [](const auto& tensor) { return !tensor.is_floating_point(); });
    return tensors;
  }

  const Training& training_;
  Tensors sums_;
  detail::OptimizerSlots slots_;
};

/// Every rank takes up the mean of the weights in the file, or those that all who wrote had.
detail::RankState join_run(const detail::SectionFile& file, const Training& training, Loading& loading) {
  const auto& entries = file.entries();
  detail::RankState state;
  Mean mean(training);
  bool differ = false;
  for (std::size_t i = entries.size(); i-- > 0;) {
    if (entries[i].source != static_cast<std::int64_t>(i)) continue;
    differ = differ || i > 0;
    const auto section = file.deliver(std::vector(static_cast<std::size_t>(training.comm().size()), i));
    const auto ranks = std::ranges::count(entries, entries[i].source, &detail::SectionFile::Entry::source);
    loading.attempt([&] {
      state = detail::rank_state(section);
      detail::load_shared(section, training.module(), training.optimizer);
      detail::copy_all(training.module().buffers(), state.buffers);
      if (differ) mean.add(static_cast<double>(ranks) / static_cast<double>(entries.size()));
    });
  }
  if (differ) mean.put();
  if (training.daso) training.daso->join_state(state.kind.empty() ? training.daso->state() : state.daso);
  return state;
}

Resumed load(const std::string& path, const Training& training) {
  const detail::SectionFile file(op, training.comm(), path);
  const auto& entries = file.entries();
  const auto rank = static_cast<std::size_t>(training.comm().rank());
  const auto node = node_of(training.replica);
  const bool same = std::ssize(entries) == training.comm().size() && entries[rank].node == node;
  std::array<std::int64_t, 1> others{!same};
  training.comm().allreduce(others);
  Loading loading(path, training);
  detail::RankState state;
  if (others[0] == 0) {
    std::vector<std::size_t> own(entries.size());
    std::iota(own.begin(), own.end(), 0);
    const auto mine = file.deliver(own);
    loading.attempt([&] { state = detail::rank_state(mine); });
    others[0] = !continues(training, state);
    training.comm().allreduce(others);
  }
  if (others[0] == 0) continue_run(file, training, loading, state);
  else state = join_run(file, training, loading);
  return {state.position, std::move(state.extras)};
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
  return load(path, {daso.replica(), daso.optimizer(), &daso});
}

Resumed load_checkpoint(const std::string& path, Replica& replica, torch::optim::Optimizer& optimizer) {
  return load(path, {replica, optimizer, nullptr});
}

}  // namespace heatpp::nn
