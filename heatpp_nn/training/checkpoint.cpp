#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/parallel/detail/optimizer_state.hpp>
#include <heatpp_nn/training/checkpoint.hpp>
#include <heatpp_nn/training/detail/section_file.hpp>
#include <heatpp_nn/training/detail/training_archive.hpp>

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include <algorithm>

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

void save(const std::string& path, const Training& training, const Position& position, const Extras& extras) {
  const auto node = node_of(training.replica);
  const auto from = source(training, node);
  detail::RankState state{.daso = {},
                          .position = position,
                          .generator = generator().get_state(),
                          .buffers = training.module().buffers(),
                          .extras = extras};
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
  void restore() {
    for (std::size_t i = 0; i < tensors_.size(); ++i) tensors_[i].set_data(copies_[i]);
  }
  [[nodiscard]] bool same_kind() const {
    return std::equal(tensors_.begin(), tensors_.end(), copies_.begin(), [](const auto& now, const auto& before) {
      return now.sizes() == before.sizes() && now.scalar_type() == before.scalar_type();
    });
  }

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
  void load_shared(const std::string& section) {
    detail::load_shared(section, training_.module(), training_.optimizer);
    if (!backup_.same_kind()) throw std::runtime_error("parameters of other shapes or dtypes");
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

void copy_all(const Tensors& to, const Tensors& from) {
  const at::NoGradGuard no_grad;
  if (to.size() != from.size()) throw std::runtime_error("another number of tensors");
  for (std::size_t i = 0; i < to.size(); ++i) at::Tensor(to[i]).copy_(from[i]);
}

void set_daso(const Training& training, DasoState state) {
  if (training.daso) training.daso->set_state(std::move(state));
  else copy_all(training.replica.residuals(), state.memory);
}

/// Each rank takes up its own state.
detail::RankState continue_run(const detail::SectionFile& file, const Training& training, Loading& loading) {
  std::vector<std::size_t> sources, own;
  for (std::size_t rank = 0; rank < file.entries().size(); ++rank) {
    sources.push_back(static_cast<std::size_t>(file.entries()[rank].source));
    own.push_back(rank);
  }
  const auto shared = file.deliver(sources);
  const auto mine = file.deliver(own);
  detail::RankState state;
  loading.attempt([&] {
    state = detail::rank_state(mine);
    loading.load_shared(shared);
    copy_all(training.module().buffers(), state.buffers);
    set_daso(training, state.daso);
    generator().set_state(state.generator);
  });
  return state;
}

Tensors averaged(const Training& training) {
  auto tensors = training.module().parameters();
  for (const auto& more : {training.module().buffers(), detail::state_tensors(training.optimizer)})
    tensors.insert(tensors.end(), more.begin(), more.end());
  std::erase_if(tensors, [](const auto& tensor) { return !tensor.is_floating_point(); });
  return tensors;
}

/// Every rank takes up the mean of the weights in the file.
detail::RankState join_run(const detail::SectionFile& file, const Training& training, Loading& loading) {
  const auto& entries = file.entries();
  detail::RankState state;
  Tensors sums;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].source != static_cast<std::int64_t>(i)) continue;
    const auto section = file.deliver(std::vector(static_cast<std::size_t>(training.comm().size()), i));
    const auto ranks = std::ranges::count(entries, entries[i].source, &detail::SectionFile::Entry::source);
    loading.attempt([&] {
      const at::NoGradGuard no_grad;
      if (i == 0) state = detail::rank_state(section);
      loading.load_shared(section);
      const auto tensors = averaged(training);
      for (std::size_t t = 0; t < tensors.size(); ++t) {
        const auto share = tensors[t].to(at::kDouble) * static_cast<double>(ranks);
        if (i == 0) sums.push_back(share);
        else sums.at(t).add_(share);
      }
    });
  }
  for (auto& sum : sums) sum.div_(static_cast<double>(entries.size()));
  copy_all(averaged(training), sums);
  if (training.daso) training.daso->join_state(std::move(state.daso));
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
  auto state = others[0] == 0 ? continue_run(file, training, loading) : join_run(file, training, loading);
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
