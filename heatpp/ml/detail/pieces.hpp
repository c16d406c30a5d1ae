#pragma once

#include <heatpp/comm/detail/failure.hpp>
#include <heatpp/comm/detail/watch.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/rows.hpp>

// One pass over the rows of this rank, and one message for the sums of all ranks.
namespace heatpp::ml::detail {

/// Consecutive rows of this rank in C order, few enough to stay in the cache.
template <class T>
struct Piece {
  const T* data;
  std::int64_t rows, features;
  std::int64_t first;  ///< among the rows of this rank
  [[nodiscard]] const T* row(std::int64_t i) const { return data + i * features; }
};

/// Returns the dtype of computations with rows: float64 for float64 and whole numbers of 32 and 64 bits, else float32.
[[nodiscard]] Dtype working_dtype(const Rows& rows);

/// Calls f(block, first, thread) with C-ordered blocks of this rank's rows in the working dtype, from several threads;
/// each thread gets consecutive blocks of what the source gives at a time. Local. If several threads fail, the error of
/// the lowest one is thrown.
using VisitBlock = std::function<void(const at::Tensor& block, std::int64_t first, int thread)>;
void for_blocks(const Rows& rows, const VisitBlock& f);

/// Calls f(i, thread) for 0 .. count from several threads. If several calls fail, the error of the lowest i is thrown.
/// Local.
void in_order(std::int64_t count, const std::function<void(std::int64_t i, int thread)>& f);

/// Returns the largest number of threads that for_blocks uses.
[[nodiscard]] std::size_t threads();

/// Calls f(block) as a Piece<float> or Piece<double>.
template <class F>
void with_piece(const at::Tensor& block, std::int64_t first, F f) {
  const auto rows = block.size(0), features = block.size(1);
  if (block.scalar_type() == at::kFloat) f(Piece<float>{block.const_data_ptr<float>(), rows, features, first});
  else f(Piece<double>{block.const_data_ptr<double>(), rows, features, first});
}

/// Calls f(piece, thread) with the pieces that are this rank's rows. Local.
template <class F>
void for_pieces(const Rows& rows, F f) {
  for_blocks(rows, [&](const at::Tensor& block, std::int64_t first, int thread) {
    with_piece(block, first, [&](const auto& piece) { f(piece, thread); });
  });
}

/// Numbers that every thread sums, or takes the maximum of, for itself, and that ranks combine in one message.
class Totals {
 public:
  /// `op` is sum, starting from 0, or max, starting from minus infinity.
  explicit Totals(std::size_t numbers, ReduceOp op = ReduceOp::sum);
  [[nodiscard]] std::span<double> of(int thread) {
    return std::span(values_).subspan(static_cast<std::size_t>(thread) * stride_, numbers_);
  }
  /// Combines the numbers of all threads and ranks: one all-reduce of the numbers and a flag, none if rows are
  /// replicated. If ranks pass failures, the one of the lowest rank is thrown on all. Collective.
  [[nodiscard]] std::vector<double> over_ranks(const Rows& rows,
                                               const std::optional<Communicator::Failure>& failure = std::nullopt);

 private:
  std::size_t numbers_, stride_;
  ReduceOp op_;
  std::vector<double> values_;
};

/// Returns the sums over all rows of all ranks to which add(piece, sums) adds each piece. Collective: one all-reduce of
/// numbers + 1 float64, none if rows are replicated. An error on one rank is thrown on all.
template <class F>
[[nodiscard]] std::vector<double> summed(const Rows& rows, std::size_t numbers, F add, ReduceOp op = ReduceOp::sum) {
  Totals totals(numbers, op);
  const auto failure = heatpp::detail::failure_of(
      [&] { for_pieces(rows, [&](const auto& piece, int thread) { add(piece, totals.of(thread)); }); });
  return totals.over_ranks(rows, failure);
}

/// The treatment of numbers that are not finite.
enum class Missing {
  refused,  ///< they are errors
  left_out  ///< NaN counts as missing; infinite ones are errors
};
/// Throws ValueError naming the first row with a number that is refused, by its global position. Local.
template <class T>
void check_finite(const char* op, const Rows& rows, const Piece<T>& piece, Missing missing = Missing::refused);

/// Returns this rank's part of one number for each row, in float64 and C order: `x` has shape (n,) and any layout.
/// Collective if it is cut otherwise than the rows. Throws ValueError for another shape.
[[nodiscard]] at::Tensor beside_rows(const char* op, const char* what, const Rows& rows, const DNDarray& x);
/// Returns this rank's part of sample weights; nullopt if there are none. Throws ValueError unless they are finite, not
/// negative and sum to more than 0. Collective if there are weights: one all-reduce.
[[nodiscard]] std::optional<at::Tensor> weights_beside(const char* op, const Rows& rows,
                                                       const std::optional<DNDarray>& weights);

/// Returns the rows with these global positions, in float64, on every rank. Collective: one all-reduce of 8 (m features
/// + 1) bytes, none if rows are replicated.
[[nodiscard]] at::Tensor fetch_rows(const Rows& rows, std::span<const std::int64_t> positions);

/// Replaces `sum`, contiguous float64 numbers, by the sum over ranks. If ranks pass failures, the one of the lowest
/// rank is thrown on all. Collective: one all-reduce of the numbers and a flag, none if rows are replicated.
void sum_over_ranks(const Rows& rows, at::Tensor& sum, const std::optional<Communicator::Failure>& failure);

/// Joins f(block), a (rows, columns) tensor, for all blocks of rows: cut as the rows, in the working dtype. Local for
/// arrays; other sources: one all-reduce of 8 bytes, so that an error on one rank is thrown on all.
[[nodiscard]] DNDarray mapped(const Rows& rows, std::int64_t columns,
                              const std::function<at::Tensor(const at::Tensor& block)>& f);

/// Returns a block as an array with the layout of the rows, with other columns or none.
[[nodiscard]] DNDarray as_rows(const Rows& rows, const at::Tensor& block);
/// Returns a tensor that is equal on all ranks as an array.
[[nodiscard]] DNDarray replicated(const at::Tensor& value, Dtype dtype, const Communicator& comm);

/// Throws ValueError unless rows have the number of features of the fit.
void check_features(const char* op, const Rows& rows, std::int64_t expected);
/// Throws ValueError for no rows or no features.
void check_not_empty(const char* op, const Rows& rows);

}  // namespace heatpp::ml::detail
