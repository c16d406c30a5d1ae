#pragma once

#include <heatpp/comm/detail/failure.hpp>
#include <heatpp/comm/detail/watch.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/rows.hpp>

// One pass over the rows of this rank, and one message for what all ranks have added up.
namespace heatpp::ml::detail {

/// Consecutive rows of this rank in C order, few enough to stay in the cache while they are worked on.
template <class T>
struct Piece {
  const T* data;
  std::int64_t rows, features;
  std::int64_t first;  ///< among the rows of this rank
  [[nodiscard]] const T* row(std::int64_t i) const { return data + i * features; }
};

/// The dtype in which rows are worked on: float64 for float64 and whole numbers of 32 and 64 bits, else float32.
[[nodiscard]] Dtype working_dtype(const Rows& rows);

/// Calls f(block, first, thread) with C-ordered blocks of rows in the working dtype that together are this rank's, from
/// several threads, each of which gets consecutive ones of what the source gives at a time. Local. An error is that of
/// the lowest thread.
using VisitBlock = std::function<void(const at::Tensor& block, std::int64_t first, int thread)>;
void for_blocks(const Rows& rows, const VisitBlock& f);

/// Runs f(i, thread) for 0 .. count from several threads, so that the error of the lowest i is the one that is thrown.
/// Local.
void in_order(std::int64_t count, const std::function<void(std::int64_t i, int thread)>& f);

/// The most threads that for_blocks calls from.
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

/// Numbers that every thread adds up, or takes the largest of, for itself, and ranks in one message.
class Totals {
 public:
  /// `op` is sum, from 0, or max, from minus infinity.
  explicit Totals(std::size_t numbers, ReduceOp op = ReduceOp::sum);
  [[nodiscard]] std::span<double> of(int thread) {
    return std::span(values_).subspan(static_cast<std::size_t>(thread) * stride_, numbers_);
  }
  /// Those of all threads and ranks: one all-reduce of the numbers and a flag, or none where rows are replicated. Where
  /// any rank passes a failure all throw that of the lowest one. Collective.
  [[nodiscard]] std::vector<double> over_ranks(const Rows& rows,
                                               const std::optional<Communicator::Failure>& failure = std::nullopt);

 private:
  std::size_t numbers_, stride_;
  ReduceOp op_;
  std::vector<double> values_;
};

/// What one pass adds up over all rows of all ranks: add(piece, sums) for every piece. Collective: one all-reduce of
/// numbers + 1 float64, none where rows are replicated. What a rank throws all throw.
template <class F>
[[nodiscard]] std::vector<double> summed(const Rows& rows, std::size_t numbers, F add, ReduceOp op = ReduceOp::sum) {
  Totals totals(numbers, op);
  const auto failure = heatpp::detail::failure_of(
      [&] { for_pieces(rows, [&](const auto& piece, int thread) { add(piece, totals.of(thread)); }); });
  return totals.over_ranks(rows, failure);
}

/// What becomes of numbers that are not finite.
enum class Missing {
  refused,  ///< they are errors
  left_out  ///< NaN counts as missing; infinite ones are errors
};
/// Throws ValueError naming the first row with a number that is refused, by its global position. Local.
template <class T>
void check_finite(const char* op, const Rows& rows, const Piece<T>& piece, Missing missing = Missing::refused);

/// This rank's part of one number for each row, in float64 and C order: `x` has shape (n,) and any layout. Collective
/// where it is cut otherwise. Throws ValueError for another shape.
[[nodiscard]] at::Tensor beside_rows(const char* op, const char* what, const Rows& rows, const DNDarray& x);
/// The same for sample weights, which are finite and not negative, and sum to more than 0: 1 for all where there are
/// none. Collective, one all-reduce, where there are.
[[nodiscard]] std::optional<at::Tensor> weights_beside(const char* op, const Rows& rows,
                                                       const std::optional<DNDarray>& weights);

/// The rows with these global positions, in float64, on every rank. Collective: one all-reduce of 8 (m features + 1)
/// bytes, none where rows are replicated.
[[nodiscard]] at::Tensor fetch_rows(const Rows& rows, std::span<const std::int64_t> positions);

/// `sum`, contiguous float64 numbers, becomes that over all ranks. Where any rank passes a failure all throw that of
/// the lowest one. Collective: one all-reduce of the numbers and a flag, none where rows are replicated.
void sum_over_ranks(const Rows& rows, at::Tensor& sum, const std::optional<Communicator::Failure>& failure);

/// f(block) for all rows, a (rows, columns) tensor for each block, put together: cut as the rows, in the working dtype.
/// Local for arrays; for other sources one all-reduce of 8 bytes, so that what one rank throws all throw.
[[nodiscard]] DNDarray mapped(const Rows& rows, std::int64_t columns,
                              const std::function<at::Tensor(const at::Tensor& block)>& f);

/// A block with the layout of the rows and other columns, or none.
[[nodiscard]] DNDarray as_rows(const Rows& rows, const at::Tensor& block);
/// A tensor that all ranks have alike, as an array.
[[nodiscard]] DNDarray replicated(const at::Tensor& value, Dtype dtype, const Communicator& comm);

/// Throws ValueError where there are not as many features as were learnt.
void check_features(const char* op, const Rows& rows, std::int64_t expected);
/// Throws ValueError for no rows or no features.
void check_not_empty(const char* op, const Rows& rows);

}  // namespace heatpp::ml::detail
