#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp/core/layout.hpp>

namespace heatpp::nn {

/// What happens to rows that do not fill a batch on every rank.
enum class Remainder {
  drop,  ///< they are left out of this epoch
  pad    ///< they are trained; ranks with fewer rows take some of theirs again
};

struct SamplerOptions {
  std::int64_t batch_size = 32;  ///< rows of each rank in a batch
  bool shuffle = true;           ///< the rows of each rank among themselves; they stay on their rank
  std::uint64_t seed = 0;
  Remainder remainder = Remainder::drop;
};

/// The order in which the ranks go through the rows of an array that is split along axis 0: equally many full batches
/// on every rank, in an order that depends on seed, rank and epoch only. Local: nobody has to ask how many rows others
/// have.
class DistributedSampler {
 public:
  /// Throws ValueError on all ranks for an array that is not split along axis 0, or with too few rows on some rank for
  /// one batch (`drop`) or any (`pad`).
  DistributedSampler(const Layout& layout, int rank, const SamplerOptions& options = {});

  /// Batches of an epoch, the same on every rank.
  [[nodiscard]] std::int64_t batches() const { return batches_; }
  [[nodiscard]] std::int64_t batch_size() const { return options_.batch_size; }
  /// Positions in this rank's block, int64, batches() * batch_size() of them.
  [[nodiscard]] at::Tensor order(std::int64_t epoch) const;

 private:
  SamplerOptions options_;
  std::int64_t rows_;
  std::int64_t rank_;
  std::int64_t batches_ = 0;
};

}  // namespace heatpp::nn
