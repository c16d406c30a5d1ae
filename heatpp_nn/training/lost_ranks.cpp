#include <heatpp_nn/training/lost_ranks.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/log.hpp>
#include <heatpp_nn/parallel/detail/optimizer_state.hpp>
#include <heatpp_nn/training/detail/remaining/remaining.hpp>
#include <heatpp_nn/training/detail/training.hpp>
#include <heatpp_nn/training/detail/training_archive.hpp>

#include <ATen/ATen.h>

#include <chrono>

namespace heatpp::nn {

using detail::Alike;
using detail::Remaining;
using detail::Training;
using detail::WrittenPieces;

namespace {

/// Leaves out the optimizer's state, of which `columns` follow the values of each piece.
void drop_state(WrittenPieces& pieces, std::size_t columns) {
  std::vector<at::Tensor> left;
  auto tensor = pieces.tensors.begin();
  for (auto& row : pieces.rows) {
    left.push_back(*tensor++);
    for (std::size_t column = 0; column < columns; ++column) tensor += row.kept >> column & 1;
    row.kept = row.kept >> columns << columns;
    row.steps = 0;
    if (row.kept != 0) left.push_back(*tensor++);
  }
  pieces.tensors = std::move(left);
}

/// Returns copies of what this rank has. Until all have continued, it begins from these again if others end. Where
/// ranks share the optimizer's work and do not bring their shares, nobody has the whole state.
WrittenPieces pieces_of(const Training& training, Alike alike) {
  auto pieces = detail::written_pieces(training.replica, training.optimizer, training.mean_of_parameters(), alike);
  if (alike == Alike::none && training.replica.shard()) drop_state(pieces, detail::slot_columns(training.optimizer));
  for (auto& tensor : pieces.tensors) tensor = tensor.clone();
  return pieces;
}

/// Whether each rank brings its share of its node's weights. Other parts may be incomplete while a node gathers them.
bool brings_share(const Training& training) {
  return !training.replica.ownership().all && (!training.daso || training.daso->owns_shares());
}

/// Returns a text, any bytes, that one rank passes.
std::string text_of(const Communicator& comm, int rank, std::string text) {
  std::array<std::int64_t, 1> length{std::ssize(text)};
  comm.broadcast(length, rank);
  text.resize(static_cast<std::size_t>(length[0]));
  std::vector<std::int8_t> bytes(text.begin(), text.end());
  comm.broadcast(bytes, rank);
  return {bytes.begin(), bytes.end()};
}

class Continuation {
 public:
  Continuation(const Training& training, const Position& position, const Extras& extras, const Remaining& remaining)
      : training_(training), remaining_(remaining), comm_(training.comm()), node_(training.replica.node_number()) {
    if (training.daso) state_.daso = training.daso->abandon();
    state_.position = position;
    state_.generator = at::empty({0}, at::kByte);
    state_.extras = extras;
    const bool is_share = brings_share(training);
    pieces_ = pieces_of(training, is_share ? Alike::node : Alike::none);
    if (!is_share) return;
    const auto& shares = training.replica.ownership().in_node;
    const auto rank = shares.comm().rank();
    held_ = {shares.owners(), rank < shares.owners() ? rank : -1, shares.comm().size()};
  }

  Resumed run() {
    for (;;) {
      try {
        return attempt();
      } catch (const ProcessFailure& error) {
        log(LogLevel::info, error.what());
      }
    }
  }

 private:
  /// What each remaining rank tells, in the order of these numbers.
  struct Told {
    std::int64_t node, parts, part, weight, epoch, batch, trained;
  };

  [[nodiscard]] std::vector<Told> told_by_all() const {
    std::vector<Told> all(static_cast<std::size_t>(comm_.size()));
    all[static_cast<std::size_t>(comm_.rank())] = {
        node_, held_.parts, held_.part, held_.weight, state_.position.epoch, state_.position.batch, state_.daso.batch};
    constexpr auto numbers = sizeof(Told) / sizeof(std::int64_t);
    comm_.allreduce(std::span(&all.front().node, all.size() * numbers));
    return all;
  }

  Resumed attempt() {
    comm_ = remaining_(comm_);
    const auto all = told_by_all();
    std::vector<detail::Held> held;
    std::vector<detail::Reached> reached;
    for (const auto& each : all) {
      held.push_back({each.parts, each.part, each.weight});
      reached.push_back({each.epoch, each.batch, each.trained});
    }
    const auto state = detail::rank_state(text_of(comm_, detail::least_far(reached), detail::to_head(state_)));
    const auto nodes = [&all](int rank) { return static_cast<int>(all[static_cast<std::size_t>(rank)].node); };
    move(Topology(comm_, {.node_of = nodes}), detail::shares_of(held));
    if (training_.daso) training_.daso->rejoin(state.daso);
    return {state.position, state.extras};
  }

  /// Moves the replica, and gives all ranks the mean.
  void move(const Topology& topology, const std::vector<double>& shares) {
    const auto rank = static_cast<std::size_t>(comm_.rank());
    const auto pieces = shares.empty() ? pieces_of(training_, Alike::none) : pieces_;
    training_.replica.move_to(topology, training_.optimizer);
    detail::Assembly assembly(training_.replica, training_.optimizer, training_.mean_of_parameters());
    assembly.bring(pieces, shares.empty() ? 1.0 / comm_.size() : shares[rank]);
    assembly.put(Alike::all, false);
    training_.replica.average_buffers();
    if (training_.mean) training_.mean->agree(false);
  }

  const Training& training_;
  const Remaining& remaining_;
  Communicator comm_;
  std::int64_t node_;
  detail::Held held_ = {};
  WrittenPieces pieces_;
  detail::RankState state_;
};

}  // namespace

Resumed detail::continue_without_lost(const Training& training, const Position& position, const Extras& extras,
                                      const Remaining& remaining) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto before = training.comm().size();
  auto resumed = Continuation(training, position, extras, remaining).run();
  log(LogLevel::warning,
      heatpp::detail::formatted("[continue_without_lost] {} of {} ranks are left; they go on after {:.3f} s",
                                training.comm().size(), before,
                                std::chrono::duration<double>(Clock::now() - begin).count()));
  return resumed;
}

Resumed continue_without_lost(DASO& daso, const Position& position, const Extras& extras) {
  return detail::continue_without_lost({daso.replica(), daso.optimizer(), &daso}, position, extras);
}

Resumed continue_without_lost(Replica& replica, torch::optim::Optimizer& optimizer, const Position& position,
                              const Extras& extras) {
  return detail::continue_without_lost({replica, optimizer, nullptr}, position, extras);
}

}  // namespace heatpp::nn
