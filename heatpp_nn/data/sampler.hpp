#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp/core/layout.hpp>
#include <heatpp_nn/data/position.hpp>

namespace heatpp::nn {

/// The order of the rows in an epoch.
enum class Shuffle {
  none,    ///< as they are; each rank goes through its own
  local,   ///< each rank's own among themselves; they stay on their rank
  blocks,  ///< runs of neighbours all over the array, and then rows among `mix` runs: cheap to read from files. Two
           ///< rows of a run are seldom far apart; each rank goes through runs of its own
  global   ///< every row is equally likely at every place of every rank. Equal for any number of ranks: the rows of a
           ///< batch of all ranks together depend on seed, epoch and the rows in it only
};

/// What happens to rows that do not fill a batch on every rank.
enum class Remainder {
  drop,  ///< they are left out of this epoch
  pad,   ///< they are trained; ranks with fewer rows take some of theirs again
  join   ///< they are trained once; ranks have smaller batches at the end, or empty ones
};

struct SamplerOptions {
  std::int64_t batch_size = 32;  ///< rows of each rank in a batch
  Shuffle shuffle = Shuffle::local;
  std::uint64_t seed = 0;
  Remainder remainder = Remainder::drop;
  std::int64_t block = 64;  ///< Shuffle::blocks: rows of a run
  std::int64_t mix = 64;    ///< Shuffle::blocks: so many runs are mixed with each other
};

/// The order in which the ranks go through the rows of an array that is split along axis 0: a function of the layout,
/// the options, the epoch and the batch, computed where it is needed (in memory for the rows asked for, by keyed
/// bijections of the row numbers). Local: nobody has to ask how many rows others have.
class DistributedSampler {
 public:
  /// Throws ValueError on all ranks for an array that is not split along axis 0, options below 1, and too few rows: on
  /// some rank for one batch (`drop`) or any (`pad`), or in all for any (`join`); with Shuffle::global in all together.
  DistributedSampler(const Layout& layout, int rank, const SamplerOptions& options = {});

  /// The order of an epoch that goes on at a position, on other ranks and in batches of another size, too. Numbers of
  /// batches go on at its batch. With Shuffle::global the rows to come are those that are not done; with the others
  /// each rank goes on in its own rows, behind equally many: on other ranks some may come twice and others not. Throws
  /// ValueError for a position outside the epoch; its seed is not looked at. Local.
  [[nodiscard]] DistributedSampler from(const Position& position) const;
  /// Rows of all ranks in the batches of the epoch before this one, those before a position included.
  [[nodiscard]] std::int64_t rows_before(std::int64_t batch) const;

  /// Batches of an epoch, the same on every rank; those before a position included.
  [[nodiscard]] std::int64_t batches() const { return batches_; }
  [[nodiscard]] std::int64_t batch_size() const { return options_.batch_size; }
  [[nodiscard]] const SamplerOptions& options() const { return options_; }

  /// Rows of a rank in a batch: batch_size(), or fewer at the end with Remainder::join.
  [[nodiscard]] std::int64_t count(std::int64_t batch, int rank) const;
  [[nodiscard]] std::int64_t count(std::int64_t batch) const { return count(batch, rank_); }
  /// Rows of all ranks in a batch.
  [[nodiscard]] std::int64_t total(std::int64_t batch) const;
  /// How many ranks have rows in a batch.
  [[nodiscard]] int active_ranks(std::int64_t batch) const;
  /// Whether some rank has so many rows in a batch.
  [[nodiscard]] bool any_has(std::int64_t rows, std::int64_t batch) const;
  /// What this rank's mean over its rows is to be multiplied by so that the mean over all ranks is the mean over all
  /// rows; 0 without rows.
  [[nodiscard]] double weight(std::int64_t batch) const;

  /// Numbers of this rank's rows in batches first ... last - 1 of an epoch, int64, batch after batch.
  [[nodiscard]] at::Tensor rows(std::int64_t epoch, std::int64_t first, std::int64_t last) const;
  /// Whether all rows of a rank are those that it holds.
  [[nodiscard]] bool stays_on_rank() const { return options_.shuffle < Shuffle::blocks; }

 private:
  [[nodiscard]] bool is_global() const { return options_.shuffle == Shuffle::global; }
  [[nodiscard]] std::int64_t extent() const { return layout_.shape()[0]; }
  [[nodiscard]] bool joins() const { return options_.remainder == Remainder::join; }
  /// Places of the order that go into a full batch: of all ranks with Shuffle::global, else of each.
  [[nodiscard]] std::int64_t stride() const { return options_.batch_size * (is_global() ? layout_.ranks() : 1); }
  /// Of these, those before a batch.
  [[nodiscard]] std::int64_t place(std::int64_t batch) const { return done_ + (batch - first_) * stride(); }
  /// The place behind so many rows of all ranks, and how many rows are before a place.
  [[nodiscard]] std::int64_t place_behind(std::int64_t rows) const;
  [[nodiscard]] std::int64_t rows_before_place(std::int64_t place) const;
  void check_rows() const;
  [[nodiscard]] std::int64_t count_batches() const;
  /// The place of this rank's first row of a batch in the order of the epoch.
  [[nodiscard]] std::int64_t first_place(std::int64_t batch) const;

  Layout layout_;
  int rank_;
  SamplerOptions options_;
  std::int64_t first_ = 0, done_ = 0;  // the batch and the place where the order begins
  std::int64_t batches_ = 0;
};

}  // namespace heatpp::nn
