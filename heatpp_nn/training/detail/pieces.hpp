#pragma once

#include <heatpp_nn/parallel/replica.hpp>
#include <string_view>

namespace heatpp::nn::detail {

/// A piece of a parameter in a checkpoint. Its elements are followed by those of what the optimizer keeps of it, in the
/// order of its columns (`OptimizerSlots`), and by those of its running mean.
struct PieceRow {
  std::int64_t parameter = 0;         ///< from the last to the first
  std::int64_t first = 0, count = 0;  ///< of its real numbers
  std::int64_t steps = 0;             ///< as the optimizer counts them
  std::int64_t kept = 0;              ///< which columns follow, a bit each, the running mean's last
};

/// Which ranks have equal weights.
enum class Alike { all, node, none };

/// What this rank writes of the weights and of the optimizer's state, so that the ranks with equal ones together write
/// each element once.
struct WrittenPieces {
  std::vector<PieceRow> rows;
  std::vector<at::Tensor> tensors;  ///< of the CPU
};
/// `mean` are running means of the parameters, from the last to the first, or none. Throws ValueError where the
/// optimizer has tensors that are not the replica's.
[[nodiscard]] WrittenPieces written_pieces(const Replica& replica, torch::optim::Optimizer& optimizer,
                                           std::span<const at::Tensor> mean, Alike alike);

/// Adds up, over the ranks that are `alike`, tensors of which one rank each has the elements and the others zeros: to
/// the bit. Collective over them.
void add_up_bits(const Replica& replica, const std::vector<at::Tensor>& tensors, Alike alike);

/// Puts pieces together again: each rank brings those that it has read, and every rank ends up with the weights and
/// with its own of the optimizer's state. Works in the memory of the gradients, which are undefined afterwards.
class Assembly {
 public:
  /// Running means, if there are any, get what the pieces say, or become the parameters where they say nothing.
  Assembly(const Replica& replica, torch::optim::Optimizer& optimizer, std::span<const at::Tensor> mean);

  /// How many bytes these pieces have. Throws std::exception where they do not fit the parameters.
  [[nodiscard]] std::size_t bytes_of(const std::vector<PieceRow>& rows) const;
  /// Brings the pieces with which `bytes` begins, of which `share` is taken, and returns their length. Throws
  /// std::exception where they do not fit the parameters. Local.
  std::size_t bring(const std::vector<PieceRow>& rows, std::string_view bytes, double share);
  /// Puts them into place, with the sum of what the ranks that are `alike` have brought; `exact` where each element was
  /// brought once: to the bit then. Collective over these ranks.
  void put(Alike alike, bool exact);

 private:
  /// Elements of a parameter, or of a column of the optimizer's.
  struct Part {
    std::size_t column;  // 0: the parameter's own; behind the optimizer's: its mean's
    std::size_t parameter;
    std::int64_t first, steps;
    at::Tensor values;
    double share;
  };
  void check(const PieceRow& row) const;
  void agree(Alike alike);
  void sum_up(std::size_t column, Alike alike, bool exact) const;
  void put_mean(Alike alike, bool exact);
  /// Of a parameter: its steps, or whether it keeps a column.
  [[nodiscard]] std::int64_t& told(std::size_t parameter, std::size_t column) {
    return told_[parameter * (2 + columns_) + column];
  }

  const Replica& replica_;
  torch::optim::Optimizer& optimizer_;
  std::span<const at::Tensor> mean_;
  std::size_t columns_;
  std::vector<Part> parts_;
  std::vector<std::int64_t> told_;  // of each parameter: steps, and whether it keeps each column
};

}  // namespace heatpp::nn::detail
