#pragma once

#include <heatpp/ml/cluster/detail/lloyd.hpp>

namespace heatpp::ml::detail {

/// The squared distance of each row of this rank to the nearest of some centres, infinite before there are any.
class Closest {
 public:
  explicit Closest(const Weighted& data);
  /// More centres, (m, features). Local: an error is thrown by the next sum, on all ranks.
  void add(const at::Tensor& centres);
  /// What each of the rows would leave of the sum of weighted distances if it were another centre. Collective: one
  /// all-reduce of m + 1 numbers.
  [[nodiscard]] std::vector<double> sums_with(const at::Tensor& centres) const;
  /// The sum of weighted distances over all rows. Collective: one all-reduce of 16 bytes.
  [[nodiscard]] double sum() const;
  /// Weight times distance of a row of this rank.
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

/// For each of the numbers in (0, 1) the row with that part of all rows' mass before it: its global position where it
/// is this rank's, else -1. Any row where there is no mass at all. Collective: one all-gather of 8 bytes a rank.
[[nodiscard]] std::vector<std::int64_t> drawn(const Rows& rows, std::span<const double> masses,
                                              std::span<const double> parts);

}  // namespace heatpp::ml::detail
