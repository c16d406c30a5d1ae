#include <heatpp/ml/neighbors/spatial.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ml/detail/around.hpp>
#include <heatpp/ml/detail/differences.hpp>

#include <cmath>

namespace heatpp::spatial {
namespace {

using namespace ml::detail;

/// Writes the numbers for rows of x and y to a part of the result.
using Fill = std::function<void(const at::Tensor& x, const at::Tensor& y, const at::Tensor& part)>;

Layout layout_of(const Rows& x, const Rows& y) {
  const Shape shape{x.size(), y.size()};
  if (x.distributed()) return x.layout().with(shape, 0);
  return y.distributed() ? y.layout().with(shape, 1) : x.layout().replicated(shape);
}

DNDarray matrix(const char* op, const Rows& x, const Rows& y, const Fill& fill) {
  heatpp::detail::check_same_comm(op, x.comm(), y.comm());
  if (x.features() != y.features())
    heatpp::detail::raise<ValueError>(op, "got rows of {} and of {} features; expected as many", x.features(),
                                      y.features());
  const auto dtype = promote_types(working_dtype(x), working_dtype(y));
  const auto layout = layout_of(x, y);
  at::Tensor left, right, result;
  const auto read = [&] {
    left = block_of(x, dtype), right = block_of(y, dtype);
    const auto shape = layout.local_shape(x.comm().rank());
    result = at::empty({shape[0], shape[1]}, left.options());
  };
  if (x.in_memory() && y.in_memory()) read();
  else all_or_none(x.comm(), read);
  const auto part = [&](const at::Tensor& block, std::int64_t first) {
    if (left.size(0) > 0 && block.size(0) > 0) fill(left, block, result.slice(1, first, first + block.size(0)));
  };
  if (x.distributed()) around(right, y.layout(), y.comm(), part);
  else part(right, 0);
  return heatpp::detail::wrap(result, layout, x.comm());
}

/// Returns a function that writes distances, or `finish` of their squares.
Fill filled(bool expansion, Difference kind, const Finish& finish = {}) {
  return [=](const at::Tensor& x, const at::Tensor& y, const at::Tensor& part) {
    if (expansion && x.size(1) >= product_features) differences_by_product(kind, x, y, part, finish);
    else differences(kind, x, y, part, finish);
  };
}

/// Sets the numbers of a row with itself to `value`.
DNDarray with_diagonal(DNDarray matrix, const Rows& x, double value) {
  auto own = matrix.mutable_larray();
  own.diagonal(x.first()).fill_(value);
  return matrix;
}

}  // namespace

DNDarray cdist(const Rows& x, const Rows& y, const DistanceOptions& options) {
  return matrix("cdist", x, y, filled(options.quadratic_expansion, Difference::distances));
}

DNDarray cdist(const Rows& x, const DistanceOptions& options) {
  auto distances = cdist(x, x, options);
  return options.quadratic_expansion ? with_diagonal(std::move(distances), x, 0) : distances;
}

DNDarray manhattan(const Rows& x) { return manhattan(x, x); }

DNDarray manhattan(const Rows& x, const Rows& y) { return matrix("manhattan", x, y, filled(false, Difference::sizes)); }

DNDarray rbf(const Rows& x, const Rows& y, const RbfOptions& options) {
  if (!(options.sigma > 0) || !std::isfinite(options.sigma))
    heatpp::detail::raise<ValueError>("rbf", "got sigma {}; expected a finite one > 0", options.sigma);
  const auto factor = -0.5 / (options.sigma * options.sigma);
  const auto similar = [factor](const at::Tensor& part) { part.mul_(factor).exp_(); };
  return matrix("rbf", x, y, filled(options.quadratic_expansion, Difference::squares, similar));
}

DNDarray rbf(const Rows& x, const RbfOptions& options) {
  auto similarities = rbf(x, x, options);
  return options.quadratic_expansion ? with_diagonal(std::move(similarities), x, 1) : similarities;
}

}  // namespace heatpp::spatial
