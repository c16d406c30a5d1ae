#pragma once

#include <heatpp/core/detail/fused/formula.hpp>
#include <memory>

namespace heatpp::detail::fused {

/// Whether the elements of the block are those of the formula's shape in C order.
[[nodiscard]] bool has_all_elements(const at::Tensor& block, at::IntArrayRef shape);
/// Whether the block can be read for a formula of this shape: it has all elements in C order, or is broadcast.
[[nodiscard]] bool is_readable(const at::Tensor& block, at::IntArrayRef shape);

class Plan;

/// Computes parts of a formula, which has to live as long. In parallel, by runs that stay in the first-level cache.
class Evaluation {
 public:
  explicit Evaluation(const Formula& formula);
  Evaluation(Evaluation&&) noexcept;
  ~Evaluation();
  /// Computes elements first .. last, in C order, into `out`.
  void run(std::int64_t first, std::int64_t last, void* out) const;

 private:
  std::unique_ptr<const Plan> plan_;
};

/// Computes the formula into `out`, which may be the memory of a block with all elements.
void run(const Formula& formula, void* out);

}  // namespace heatpp::detail::fused
