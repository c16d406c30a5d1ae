#include <heatpp/fft/detail/lines.hpp>

#include <ATen/Parallel.h>
#include <algorithm>
#include <array>
#include <c10/util/accumulate.h>
#include <cstring>

namespace heatpp::detail {
namespace {

constexpr std::int64_t cache_bytes = 1 << 20;
// This many neighbors fill one or two cache lines, and the vectors of a processor.
constexpr std::int64_t least_lines = 8;

/// Copies a matrix whose rows are contiguous.
void copy_rows(const at::Tensor& from, const at::Tensor& to) {
  const auto bytes = from.size(1) * from.element_size();
  const auto* in = static_cast<const std::byte*>(from.const_data_ptr());
  auto* out = static_cast<std::byte*>(to.mutable_data_ptr());
  const auto in_step = from.stride(0) * from.element_size(), out_step = to.stride(0) * to.element_size();
  for (std::int64_t row = 0; row < from.size(0); ++row, in += in_step, out += out_step)
    std::memcpy(out, in, static_cast<std::size_t>(bytes));
}

/// Groups of lines of a block along an axis: the rows of a matrix, or the columns of several.
class Groups {
 public:
  Groups(const at::Tensor& block, int axis)
      : n_(block.size(axis)),
        outer_(c10::multiply_integers(block.sizes().slice(0, static_cast<std::size_t>(axis)))),
        inner_(block.numel() / (outer_ * n_)),
        line_axis_(inner_ == 1 && outer_ > 1 ? 1 : 0),
        lines_(line_axis_ == 1 ? outer_ : inner_),
        width_(width(n_ * block.element_size())),
        per_matrix_((lines_ + width_ - 1) / width_) {}

  /// Returns the axis of a line in a matrix.
  [[nodiscard]] int line_axis() const { return line_axis_; }
  /// Returns the shape of the matrices if a line has n elements.
  [[nodiscard]] std::array<std::int64_t, 3> shape(std::int64_t n) const {
    return line_axis_ == 1 ? std::array{std::int64_t{1}, outer_, n} : std::array{outer_, n, inner_};
  }
  [[nodiscard]] std::int64_t count() const { return (line_axis_ == 1 ? 1 : outer_) * per_matrix_; }
  [[nodiscard]] std::int64_t first(std::int64_t group) const { return group % per_matrix_ * width_; }
  [[nodiscard]] at::Tensor of(const at::Tensor& matrices, std::int64_t group) const {
    const auto begin = first(group);
    return matrices.select(0, group / per_matrix_).narrow(1 - line_axis_, begin, std::min(width_, lines_ - begin));
  }

 private:
  /// Rows that already exceed the cache gain nothing from a copy.
  [[nodiscard]] std::int64_t width(std::int64_t line_bytes) const {
    if (line_axis_ == 1 && line_bytes > cache_bytes) return lines_;
    return std::min(lines_, std::max(least_lines, cache_bytes / line_bytes));
  }

  std::int64_t n_, outer_, inner_;
  int line_axis_;
  std::int64_t lines_, width_, per_matrix_;
};

}  // namespace

at::Tensor transformed_by_lines(const at::Tensor& block, int axis, const LinesTransform& transform) {
  const Groups groups(block, axis);
  auto shape = block.sizes().vec();
  auto& length = shape[static_cast<std::size_t>(axis)];
  const auto matrices = block.resolve_conj().resolve_neg().contiguous().view(groups.shape(length));
  if (groups.count() == 1) {
    const auto result = transform(groups.of(matrices, 0), groups.line_axis(), 0).contiguous();
    length = result.size(groups.line_axis());
    return result.view(shape);
  }
  const auto done = [&](std::int64_t group) {
    const auto part = groups.of(matrices, group);
    auto together = at::empty(part.sizes(), part.options());
    copy_rows(part, together);
    // LibTorch only marks a conjugate, and bytes would be copied without it.
    return transform(together, groups.line_axis(), groups.first(group)).resolve_conj().contiguous();
  };
  const auto head = done(0);
  length = head.size(groups.line_axis());
  const auto all = at::empty(groups.shape(length), head.options());
  copy_rows(head, groups.of(all, 0));
  at::parallel_for(1, groups.count(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto group = begin; group < end; ++group) copy_rows(done(group), groups.of(all, group));
  });
  return all.view(shape);
}

}  // namespace heatpp::detail
