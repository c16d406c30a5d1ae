#pragma once

#include <heatpp/ml/cluster/detail/within.hpp>
#include <heatpp/ml/detail/pieces.hpp>

namespace heatpp::ml::detail {

/// Rows in float64, each on one rank, with access to the rows of other ranks near them.
class Nearby {
 public:
  Nearby() = default;
  Nearby(const Nearby&) = delete;
  Nearby& operator=(const Nearby&) = delete;
  virtual ~Nearby() = default;

  [[nodiscard]] const at::Tensor& rows() const { return rows_; }  ///< this rank's, in the order of `Within`
  [[nodiscard]] std::int64_t count() const { return rows_.size(0); }
  /// Return the place of the i-th row among this rank's in the order of global numbers, and its global number.
  [[nodiscard]] std::int64_t place(std::int64_t i) const { return order_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::int64_t number(std::int64_t place) const { return numbers_[static_cast<std::size_t>(place)]; }

  /// Calls f(block, values, own) with blocks in the order of `Within` that together hold all rows that may be near this
  /// rank's rows, its own included, and with the `values` (float64, or undefined) of these rows. Collective. An error
  /// of f on one rank is thrown on all.
  using Visit = std::function<void(const at::Tensor& block, const at::Tensor& values, bool own)>;
  virtual void around(const at::Tensor& values, const Visit& f) const = 0;
  /// Returns values of rows by place to the ranks that gave the rows, in the order there. Collective.
  [[nodiscard]] virtual at::Tensor home(const at::Tensor& values) const { return values; }

 protected:
  void keep(const Within& within, const at::Tensor& rows, std::vector<std::int64_t> numbers);

 private:
  at::Tensor rows_;
  std::vector<std::int64_t> order_, numbers_;
};

/// Compares rows, which stay where they are, with all ranks' rows. `around`: P - 1 messages and 8 bytes.
[[nodiscard]] std::unique_ptr<Nearby> compared_with_all(const Rows& rows, const Within& within);
/// Moves rows to the ranks whose `Boxes` contain them, with copies of those at most eps from a box. Each rank sends its
/// rows and their numbers once, and the copies; `around` with values sends 8 bytes for each copy, `home` 8 for each
/// row, and both 8 to agree. Collective.
[[nodiscard]] std::unique_ptr<Nearby> moved_to_boxes(const Rows& rows, const Within& within);

}  // namespace heatpp::ml::detail
