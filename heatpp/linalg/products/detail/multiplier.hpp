#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace heatpp::detail {

/// Looks at messages under way; empty if there is none.
using Poll = std::function<void()>;

/// The labels of a product of matrices: (batch, rows, inner) by (batch, inner, columns) gives (batch, rows, columns).
struct LabelGroups {
  std::vector<int> batch, rows, inner, columns;

  LabelGroups(const std::vector<int>& a, const std::vector<int>& b, const std::vector<int>& out);
};

/// Multiplies blocks of two arrays, whose axes have labels, into blocks of the result with the labels `out`.
class Multiplier {
 public:
  /// With `panels`, products that fit are computed by multiply_by_panels.
  Multiplier(std::vector<int> a, std::vector<int> b, std::vector<int> out, bool panels)
      : a_(std::move(a)), b_(std::move(b)), out_(std::move(out)), groups_(a_, b_, out_), panels_(panels) {}

  /// Computes c = a * b, or c += a * b, and calls `poll`, if any, every few milliseconds.
  void operator()(const at::Tensor& c, const at::Tensor& a, const at::Tensor& b, bool accumulate,
                  const Poll& poll) const;

 private:
  std::vector<int> a_, b_, out_;
  LabelGroups groups_;
  bool panels_;
};

}  // namespace heatpp::detail
