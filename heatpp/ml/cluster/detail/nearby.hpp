#pragma once

#include <heatpp/ml/cluster/detail/within.hpp>
#include <heatpp/ml/detail/pieces.hpp>

namespace heatpp::ml::detail {

/// Rows in float64, each on one rank, and what other ranks have near them.
class Nearby {
 public:
  Nearby() = default;
  Nearby(const Nearby&) = delete;
  Nearby& operator=(const Nearby&) = delete;
  virtual ~Nearby() = default;

  [[nodiscard]] const at::Tensor& rows() const { return rows_; }  ///< this rank's, in the order of `Within`
  [[nodiscard]] std::int64_t count() const { return rows_.size(0); }
  /// The place of the i-th of them among this rank's by their numbers among all, and that number.
  [[nodiscard]] std::int64_t place(std::int64_t i) const { return order_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::int64_t number(std::int64_t place) const { return numbers_[static_cast<std::size_t>(place)]; }

  /// Calls f(block, values, own) with blocks in the order of `Within` that together hold all that may be near this
  /// rank's rows, which are one of them, and the `values` (float64, or undefined) that ranks have for theirs.
  /// Collective. What one rank's f throws all throw.
  using Visit = std::function<void(const at::Tensor& block, const at::Tensor& values, bool own)>;
  virtual void around(const at::Tensor& values, const Visit& f) const = 0;
  /// What ranks have for rows by their place, on the ranks that gave the rows, as these lie there. Collective.
  [[nodiscard]] virtual at::Tensor home(const at::Tensor& values) const { return values; }

 protected:
  void keep(const Within& within, const at::Tensor& rows, std::vector<std::int64_t> numbers);

 private:
  at::Tensor rows_;
  std::vector<std::int64_t> order_, numbers_;
};

/// Rows that stay where they are, compared with all ranks': blocks go round, P - 1 messages and 8 bytes for `around`.
[[nodiscard]] std::unique_ptr<Nearby> compared_with_all(const Rows& rows, const Within& within);
/// Rows that move to the ranks in whose `Boxes` they are, with copies of those at most eps from a box. Each rank sends
/// its rows and their numbers once, and the copies; for `around` with values 8 bytes for each copy, for `home` for each
/// row, and 8 to agree. Collective.
[[nodiscard]] std::unique_ptr<Nearby> moved_to_boxes(const Rows& rows, const Within& within);

}  // namespace heatpp::ml::detail
