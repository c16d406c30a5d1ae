#pragma once

#include <heatpp_nn/parallel/replica.hpp>
#include <string_view>

namespace heatpp::nn::detail {

/// A piece of a parameter in a checkpoint. After its elements follow those of the optimizer's state, in the order of
/// the columns (`OptimizerSlots`), and those of the running mean.
struct PieceRow {
  std::int64_t parameter = 0;         ///< number of the parameter, from the last to the first
  std::int64_t first = 0, count = 0;  ///< range of its real numbers
  std::int64_t steps = 0;             ///< number of steps, as the optimizer counts them
  std::int64_t kept = 0;              ///< a bit for each column that follows; the running mean's is the last
};

/// Which ranks have equal weights.
enum class Alike { all, node, none };

/// What this rank writes of the weights and of the optimizer's state. Ranks with equal weights together write each
/// element once.
struct WrittenPieces {
  std::vector<PieceRow> rows;
  std::vector<at::Tensor> tensors;  ///< on the CPU
};
/// Returns what this rank writes. `mean` are running means of the parameters, from the last to the first, or none.
/// Throws ValueError if the optimizer has tensors that are not the replica's.
[[nodiscard]] WrittenPieces written_pieces(const Replica& replica, torch::optim::Optimizer& optimizer,
                                           std::span<const at::Tensor> mean, Alike alike);

/// Adds up tensors over the ranks that are `alike`. For each element, one rank has the value and the others have zero,
/// so the sum is exact to the bit. Collective over these ranks.
void add_up_bits(const Replica& replica, const std::vector<at::Tensor>& tensors, Alike alike);

/// Puts pieces together again: each rank brings the pieces that it has read, and every rank gets the weights and its
/// own part of the optimizer's state. It uses the memory of the gradients, which are undefined afterwards.
class Assembly {
 public:
  /// Sets running means, if there are any, from the pieces, or to the parameters if the pieces have none.
  Assembly(const Replica& replica, torch::optim::Optimizer& optimizer, std::span<const at::Tensor> mean);

  /// Returns the number of bytes of these pieces. Throws std::exception if they do not fit the parameters.
  [[nodiscard]] std::size_t bytes_of(const std::vector<PieceRow>& rows) const;
  /// Takes the pieces at the start of `bytes`, weighted by `share`. Returns their length in bytes. Throws
  /// std::exception if they do not fit the parameters. Local.
  std::size_t bring(const std::vector<PieceRow>& rows, std::string_view bytes, double share);
  /// Takes pieces of this program, weighted by `share`. Local.
  void bring(const WrittenPieces& pieces, double share);
  /// Puts the sum over the ranks that are `alike` into place. `exact`: each element was brought once, so the sum is
  /// exact to the bit. Collective over these ranks.
  void put(Alike alike, bool exact);

 private:
  /// Elements of a parameter, or of a column of the optimizer's state.
  struct Part {
    std::size_t column;  // 0: the parameter itself; after the optimizer's columns: its mean
    std::size_t parameter;
    std::int64_t first, steps;
    at::Tensor values;
    double share;
  };
  void check(const PieceRow& row) const;
  void agree(Alike alike);
  void sum_up(std::size_t column, Alike alike, bool exact) const;
  void put_mean(Alike alike, bool exact);
  /// Returns the steps of a parameter (column 0), or whether it has a column.
  [[nodiscard]] std::int64_t& told(std::size_t parameter, std::size_t column) {
    return told_[parameter * (2 + columns_) + column];
  }

  const Replica& replica_;
  torch::optim::Optimizer& optimizer_;
  std::span<const at::Tensor> mean_;
  std::size_t columns_;
  std::vector<Part> parts_;
  std::vector<std::int64_t> told_;  // for each parameter: its steps, and whether it has each column
};

}  // namespace heatpp::nn::detail
