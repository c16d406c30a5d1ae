#pragma once

#include <heatpp/ml/cluster/detail/lloyd.hpp>

namespace heatpp::ml::detail {

/// The squared distance of each row of this rank to its nearest center so far; infinite without centers.
class Closest {
 public:
  explicit Closest(const Weighted& data);
  /// Adds centers, (m, features). Local: the next sum throws an error on all ranks.
  void add(const at::Tensor& centers);
  /// Returns, for each row as one more center, the sum of weighted distances that remains. Collective: one all-reduce
  /// of m + 1 numbers.
  [[nodiscard]] std::vector<double> sums_with(const at::Tensor& centers) const;
  /// Returns the sum of weighted distances over all rows. Collective: one all-reduce of 16 bytes.
  [[nodiscard]] double sum() const;
  /// Returns weight times distance of a row of this rank.
  [[nodiscard]] double mass(std::int64_t row) const {
    const auto i = static_cast<std::size_t>(row);
    return distances_[i] * (data_.weights ? data_.weights[row] : 1.0);
  }
  [[nodiscard]] std::vector<double> masses() const;

 private:
  Weighted data_;
  std::vector<double> distances_;
  std::optional<Communicator::Failure> failure_;
};

/// Returns, for each number in (0, 1), the row at which this part of the total mass is reached: its global position if
/// this rank holds it, else -1; any row if the total mass is 0. Collective: one all-gather of 8 bytes a rank; on more
/// than 1024 ranks what drawn_by_place sends.
[[nodiscard]] std::vector<std::int64_t> drawn(const Rows& rows, std::span<const double> masses,
                                              std::span<const double> parts);
/// Does so without a number for each rank. The masses of ranks are rounded down to units of 2^-52 of the total, so that
/// all ranks agree on whose a part is. Collective: an all-reduce of 8 bytes, and a place in the whole.
[[nodiscard]] std::vector<std::int64_t> drawn_by_place(const Rows& rows, std::span<const double> masses,
                                                       std::span<const double> parts);

}  // namespace heatpp::ml::detail
