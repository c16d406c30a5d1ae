#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp/core/layout.hpp>
#include <heatpp_nn/data/position.hpp>

namespace heatpp::nn {

/// The order of the rows in an epoch.
enum class Shuffle {
  none,    ///< in their order; each rank uses its own rows
  local,   ///< each rank shuffles its own rows; they stay on their rank
  blocks,  ///< shuffles blocks of neighboring rows, then the rows of `mix` blocks: cheap to read from files. Rows
           ///< of a block mostly stay close together; each rank uses blocks of its own
  global   ///< a full random permutation. It is equal for any number of ranks: the rows of a batch of all ranks
           ///< together depend only on seed, epoch and its number of rows
};

/// The treatment of rows that do not fill a batch on every rank.
enum class Remainder {
  drop,  ///< they are left out of this epoch
  pad,   ///< they are trained; ranks with fewer rows use some of theirs again
  join   ///< they are trained once; ranks have smaller batches at the end, or empty ones
};

struct SamplerOptions {
  std::int64_t batch_size = 32;  ///< rows of each rank in a batch
  Shuffle shuffle = Shuffle::local;
  std::uint64_t seed = 0;
  Remainder remainder = Remainder::drop;
  std::int64_t block = 64;  ///< Shuffle::blocks: rows of a block
  std::int64_t mix = 64;    ///< Shuffle::blocks: number of blocks that are mixed with each other
};

/// The order in which the ranks use the rows of an array that is split along axis 0: a function of the layout, the
/// options, the epoch and the batch. It is computed on demand, in memory for the requested rows, by keyed bijections of
/// the row numbers. Local: no rank has to ask how many rows others have.
class DistributedSampler {
 public:
  /// Throws ValueError on all ranks if an array is not split along axis 0, options are below 1, or rows too few: on a
  /// rank for a batch (`drop`) or a row (`pad`), in total for a row (`join`); with Shuffle::global always in total.
  DistributedSampler(const Layout& layout, int rank, const SamplerOptions& options = {});

  /// Returns the order of an epoch that continues at a position, possibly on other ranks and with another batch size.
  /// Batch numbers continue from the position's. With Shuffle::global the remaining rows are exactly those not yet
  /// used. With the others each rank continues in its own rows after an equal number; on other ranks some rows may be
  /// used twice and others not. Local. Throws ValueError for a position outside the epoch; its seed is ignored.
  [[nodiscard]] DistributedSampler from(const Position& position) const;
  /// Returns the rows of all ranks in the batches of the epoch before this one, including those before a position.
  [[nodiscard]] std::int64_t rows_before(std::int64_t batch) const;

  /// Returns the batches of an epoch, equal on every rank; those before a position are included.
  [[nodiscard]] std::int64_t batches() const { return batches_; }
  [[nodiscard]] std::int64_t batch_size() const { return options_.batch_size; }
  /// Returns the rows of the array.
  [[nodiscard]] std::int64_t extent() const { return layout_.shape()[0]; }
  [[nodiscard]] const SamplerOptions& options() const { return options_; }

  /// Returns the rows of a rank in a batch: batch_size(), or fewer at the end with Remainder::join.
  [[nodiscard]] std::int64_t count(std::int64_t batch, int rank) const;
  [[nodiscard]] std::int64_t count(std::int64_t batch) const { return count(batch, rank_); }
  /// Returns the rows of all ranks in a batch.
  [[nodiscard]] std::int64_t total(std::int64_t batch) const;
  /// Returns the number of ranks that have rows in a batch.
  [[nodiscard]] int active_ranks(std::int64_t batch) const;
  /// Whether some rank has `rows` rows in a batch.
  [[nodiscard]] bool any_has(std::int64_t rows, std::int64_t batch) const;
  /// Returns the factor for this rank's mean over its rows, so that the mean over all ranks is the mean over all rows;
  /// 0 without rows.
  [[nodiscard]] double weight(std::int64_t batch) const;

  /// Returns the numbers of this rank's rows in batches first ... last - 1 of an epoch, int64, batch after batch.
  [[nodiscard]] at::Tensor rows(std::int64_t epoch, std::int64_t first, std::int64_t last) const;
  /// Whether all rows of a rank are those that it holds.
  [[nodiscard]] bool stays_on_rank() const { return options_.shuffle < Shuffle::blocks; }

 private:
  [[nodiscard]] bool is_global() const { return options_.shuffle == Shuffle::global; }
  [[nodiscard]] bool joins() const { return options_.remainder == Remainder::join; }
  /// Returns the places of the order in a full batch: of all ranks with Shuffle::global, otherwise of each.
  [[nodiscard]] std::int64_t stride() const { return options_.batch_size * (is_global() ? layout_.ranks() : 1); }
  /// Returns the first of these places for a batch.
  [[nodiscard]] std::int64_t place(std::int64_t batch) const { return done_ + (batch - first_) * stride(); }
  /// Returns the place after `rows` rows of all ranks. rows_before_place returns the rows before a place.
  [[nodiscard]] std::int64_t place_behind(std::int64_t rows) const;
  [[nodiscard]] std::int64_t rows_before_place(std::int64_t place) const;
  void check_rows() const;
  [[nodiscard]] std::int64_t count_batches() const;
  /// Returns the place of this rank's first row of a batch in the order of the epoch.
  [[nodiscard]] std::int64_t first_place(std::int64_t batch) const;

  Layout layout_;
  int rank_;
  SamplerOptions options_;
  std::int64_t first_ = 0, done_ = 0;  // batch and place at which the order begins
  std::int64_t batches_ = 0;
};

}  // namespace heatpp::nn
