#include <heatpp/linalg/products/detail/multiplier.hpp>

#include <heatpp/linalg/products/detail/gemm.hpp>

#include <ATen/ATen.h>
#include <ATen/TensorUtils.h>
#include <algorithm>
#include <array>

namespace heatpp::detail {
namespace {

using Labels = std::vector<int>;

bool among(const Labels& labels, int label) { return std::ranges::find(labels, label) != labels.end(); }

/// A block with its axes in the order of three groups of labels, and the shape that merges each group.
struct Grouped {
  at::Tensor block;
  std::array<std::int64_t, 3> shape;
};

Grouped group(const at::Tensor& block, const Labels& labels, std::initializer_list<const Labels*> groups) {
  std::vector<std::int64_t> order;
  Grouped grouped{{}, {1, 1, 1}};
  std::size_t i = 0;
  for (const auto* members : groups) {
    for (const auto label : *members) {
      order.push_back(std::ranges::find(labels, label) - labels.begin());
      grouped.shape[i] *= block.size(order.back());
    }
    ++i;
  }
  grouped.block = block.permute(order);
  return grouped;
}

at::Tensor matrices(const at::Tensor& block, const Labels& labels, std::initializer_list<const Labels*> groups) {
  const auto grouped = group(block, labels, groups);
  return grouped.block.reshape(grouped.shape);
}

/// How matrices are multiplied.
struct Multiplying {
  bool panels;
  const Poll& poll;
};

void multiply_piece(at::Tensor c, const at::Tensor& a, const at::Tensor& b, bool accumulate) {
  if (c.numel() == 1) {
    const auto product = at::dot(a.reshape(-1), b.reshape(-1));
    if (accumulate) c.add_(product);
    else c.fill_(product);
  } else if (accumulate) c.addmm_(a, b);
  else at::mm_out(c, a, b);
}

/// Multiplies in pieces, and looks at the messages under way after each. Pieces are cut along the summed axis as far as
/// possible, because a product rearranges its whole operands, which pieces of rows would repeat.
void multiply_matrix(const at::Tensor& c, const at::Tensor& a, const at::Tensor& b, bool accumulate, const Poll& poll) {
  if (!poll) return multiply_piece(c, a, b, accumulate);
  constexpr auto products = std::int64_t{1} << 31;  // tens of milliseconds
  constexpr std::int64_t least_depth = 512, least_rows = 2048;
  const auto at_once = [](std::int64_t least, std::int64_t one) {
    return std::max(least, products / std::max<std::int64_t>(1, one));
  };
  const auto depth = at_once(least_depth, c.numel()),
             rows = at_once(least_rows, std::min(depth, a.size(1)) * c.size(1));
  for (std::int64_t k = 0; k == 0 || k < a.size(1); k += depth)
    for (std::int64_t row = 0; row < c.size(0); row += rows) {
      multiply_piece(c.slice(0, row, row + rows), a.slice(0, row, row + rows).slice(1, k, k + depth),
                     b.slice(0, k, k + depth), accumulate || k > 0);
      poll();
    }
}

/// Computes c = a * b, or c += a * b, for stacks of matrices.
void multiply(at::Tensor c, const at::Tensor& a, const at::Tensor& b, bool accumulate, const Multiplying& by) {
  if (a.size(2) == 1) {  // no sum: infinite complex numbers are multiplied as elementwise
    if (accumulate) c.addcmul_(a, b);
    else at::mul_out(c, a, b);
    return;
  }
  if (c.size(0) != 1) {
    if (accumulate) c.baddbmm_(a, b);
    else at::bmm_out(c, a, b);
    return;
  }
  if (by.panels && fits_panels(c[0], a[0], b[0])) multiply_by_panels(c[0], a[0], b[0], accumulate, by.poll);
  else multiply_matrix(c[0], a[0], b[0], accumulate, by.poll);
}

}  // namespace

LabelGroups::LabelGroups(const Labels& a, const Labels& b, const Labels& out) {
  for (const auto label : out) (among(a, label) ? among(b, label) ? batch : rows : columns).push_back(label);
  for (const auto label : a)
    if (!among(out, label)) inner.push_back(label);
}

void Multiplier::operator()(const at::Tensor& c, const at::Tensor& a, const at::Tensor& b, bool accumulate,
                            const Poll& poll) const {
  const auto left = matrices(a, a_, {&groups_.batch, &groups_.rows, &groups_.inner});
  const auto right = matrices(b, b_, {&groups_.batch, &groups_.inner, &groups_.columns});
  const Multiplying by{panels_, poll};
  const auto target = group(c, out_, {&groups_.batch, &groups_.rows, &groups_.columns});
  if (at::detail::computeStride(target.block.sizes(), target.block.strides(), at::IntArrayRef(target.shape)))
    return multiply(target.block.view(target.shape), left, right, accumulate, by);
  const auto product = at::empty(target.shape, c.options());
  multiply(product, left, right, false, by);
  const auto unfolded = product.view(target.block.sizes());
  if (accumulate) target.block.add_(unfolded);
  else target.block.copy_(unfolded);
}

}  // namespace heatpp::detail
