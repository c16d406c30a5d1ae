#include <heatpp/fft/detail/along_split.hpp>
#include <heatpp/fft/detail/lines.hpp>
#include <heatpp/ops/padding/pad.hpp>

#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/shape/reshape.hpp>

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <bit>
#include <cmath>
#include <numbers>

namespace heatpp::detail {
namespace {

/// Transforms lines of a block that has all of them, without a factor.
at::Tensor transformed(const at::Tensor& block, int axis, Direction direction) {
  return direction == Direction::forth ? at::fft_fft(block, std::nullopt, axis, "backward")
                                       : at::fft_ifft(block, std::nullopt, axis, "forward");
}

at::Tensor transformed_rows(const at::Tensor& block, Direction direction) {
  if (block.numel() == 0) return block;
  const auto lines = [=](const at::Tensor& part, int axis, std::int64_t) { return transformed(part, axis, direction); };
  return block.is_cpu() ? transformed_by_lines(block, 1, lines) : lines(block, 1, 0);
}

/// exp(+-2 pi i k / n) for k in 0 .. n, each as the product of an entry of two short tables.
class Roots {
 public:
  Roots(std::int64_t n, Direction direction)
      : turn_((direction == Direction::forth ? -2 : 2) * std::numbers::pi / static_cast<double>(n)),
        bits_(std::bit_width(static_cast<std::uint64_t>(n)) / 2),
        low_(table(std::int64_t{1} << bits_, 1)),
        high_(table((n >> bits_) + 1, std::int64_t{1} << bits_)) {}

  template <class Complex>
  [[nodiscard]] Complex at(std::int64_t k) const {
    const auto a = high_[static_cast<std::size_t>(k >> bits_)];
    const auto b = low_[static_cast<std::size_t>(k & ((std::int64_t{1} << bits_) - 1))];
    using Part = typename Complex::value_type;
    return {static_cast<Part>(a.real() * b.real() - a.imag() * b.imag()),
            static_cast<Part>(a.real() * b.imag() + a.imag() * b.real())};
  }

 private:
  using Number = c10::complex<double>;
  [[nodiscard]] std::vector<Number> table(std::int64_t size, std::int64_t step) const {
    std::vector<Number> entries;
    for (std::int64_t i = 0; i < size; ++i) entries.push_back(c10::polar(1.0, turn_ * static_cast<double>(i * step)));
    return entries;
  }

  double turn_;
  int bits_;
  std::vector<Number> low_, high_;
};

/// Returns the roots for k(0) .. k(count - 1).
template <class K>
at::Tensor roots(std::int64_t count, std::int64_t n, Direction direction, at::ScalarType type, K k) {
  const Roots root(n, direction);
  auto result = at::empty({count}, type);
  AT_DISPATCH_COMPLEX_TYPES(type, "roots", [&] {
    auto* const out = result.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, count, 1 << 15, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i) out[i] = root.at<scalar_t>(k(i));
    });
  });
  return result;
}

/// Multiplies element (i, j) of contiguous lines by the root for i * column(j).
template <class Column>
void turn(at::Tensor& lines, const Roots& root, Column column) {
  AT_DISPATCH_COMPLEX_TYPES(lines.scalar_type(), "turn", [&] {
    auto* element = lines.mutable_data_ptr<scalar_t>();
    for (std::int64_t i = 0; i < lines.size(0); ++i)
      for (std::int64_t j = 0; j < lines.size(1); ++j) *element++ *= root.at<scalar_t>(i * column(j));
  });
}

/// Returns `factors` for the first axes of a block, in a shape to multiply it by.
at::Tensor factors_for(const at::Tensor& block, at::Tensor factors) {
  while (factors.dim() < block.dim()) factors = factors.unsqueeze(-1);
  return factors.to(block.options());
}

/// Returns the largest divisor of n up to its root.
std::int64_t divisor(std::int64_t n) {
  auto a = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  while (a > 1 && n % a != 0) --a;
  return std::max<std::int64_t>(1, a);
}

/// Transforms the columns of a block, whose first one is number `first` of all, and multiplies them by the factors
/// between the two steps of a transform of length n.
at::Tensor turned_columns(const at::Tensor& block, std::int64_t n, std::int64_t first, Direction direction) {
  if (block.numel() == 0) return block;
  const auto a = block.size(0), count = block.size(1), together = block.numel() / (a * count);
  if (!block.is_cpu()) {
    const auto places = [=](std::int64_t i) { return i / count * (first + i % count); };
    const auto factors = roots(a * count, n, direction, block.scalar_type(), places).view({a, count});
    return transformed(block, 0, direction).mul_(factors_for(block, factors));
  }
  const Roots root(n, direction);
  return transformed_by_lines(block, 0, [&](const at::Tensor& lines, int axis, std::int64_t line) {
    auto turned = transformed(lines, axis, direction).contiguous();
    turn(turned, root, [=](std::int64_t j) { return first + (line + j) / together; });
    return turned;
  });
}

/// Transforms along axis 0 of n = a * b, as a matrix (a, b): its columns, factors, its rows. Result: transposed.
DNDarray by_factors(const DNDarray& x, Direction direction) {
  const auto n = x.shape().front(), a = divisor(n), b = n / a;
  auto shape = x.shape();
  shape.front() = b;
  shape.insert(shape.begin(), a);
  const auto columns = resplit(reshape(x, shape), 1);
  const auto first = columns.layout().offset(x.comm().rank());
  const auto turned = turned_columns(columns.larray(), n, first, direction);
  const auto rows = resplit(wrap(turned, columns.layout(), x.comm()), 0);
  const auto done = wrap(transformed_rows(rows.larray(), direction), rows.layout(), x.comm());
  return resplit(reshape(swapaxes(done, 0, 1), x.shape()), 0);  // axes of one element can be cut, too
}

/// Transforms along axis 0 as a convolution with a chirp, of a length that is a power of 2.
DNDarray by_convolution(const DNDarray& x, Direction direction) {
  const auto n = x.shape().front();
  const auto length = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * n)));
  const auto type = x.larray().scalar_type();
  const auto chirp = [&](std::int64_t first, std::int64_t count, std::int64_t beyond) {
    return roots(count, 2 * n, direction, type, [=](std::int64_t i) {
      const auto distance = (first + i < n ? first + i : beyond - first - i) % (2 * n);
      return distance * distance % (2 * n);
    });
  };
  const auto mine =
      factors_for(x.larray(), chirp(x.layout().offset(x.comm().rank()), x.layout().count(x.comm().rank()), 0));
  PadWidths widths(x.shape().size(), {0, 0});
  widths.front().second = length - n;
  const auto signal = balance(pad(wrap(x.larray() * mine, x.layout(), x.comm()), widths));
  const auto first = signal.layout().offset(x.comm().rank()), count = signal.layout().count(x.comm().rank());
  const auto i = at::arange(first, first + count);
  const auto used = at::logical_or(i<n, i> length - n);
  // The factor of both transforms is removed here, before sums grow by it.
  const auto kernel =
      (chirp(first, count, length).conj() * (used / static_cast<double>(length))).to(x.larray().options());
  const auto spectrum = by_factors(wrap(kernel, Layout({length}, 0, x.comm().size()), x.comm()), Direction::forth);
  auto transform = by_factors(signal, Direction::forth);
  const auto factors = relayout(spectrum, transform.layout().with({length}, 0));
  transform.larray().mul_(factors_for(transform.larray(), factors));
  const auto sums = by_factors(transform, Direction::back).index({slice(0, n)});
  const auto block = relayout(sums, x.layout());
  return wrap(block * mine, x.layout(), x.comm());
}

/// Transforms along axis 0.
DNDarray along_first(const DNDarray& x, Direction direction) {
  return divisor(x.shape().front()) >= x.comm().size() ? by_factors(x, direction) : by_convolution(x, direction);
}

/// Turns n elements along axis 0 into n / 2 pairs, and back: real numbers as complex ones.
DNDarray paired(const DNDarray& x) {
  auto shape = x.shape();
  shape.front() /= 2;
  shape.insert(shape.begin() + 1, 2);
  const auto pairs = reshape(x, shape);
  shape.erase(shape.begin() + 1);
  const auto block = at::complex(pairs.larray().select(1, 0), pairs.larray().select(1, 1));
  return wrap(block, pairs.layout().with(shape, 0), x.comm());
}
DNDarray unpaired(const DNDarray& x) {
  auto pairs = x.shape(), shape = x.shape();
  pairs.insert(pairs.begin() + 1, 2);
  shape.front() *= 2;
  const auto block = at::view_as_real(x.larray()).movedim(-1, 1);
  return reshape(wrap(block, x.layout().with(pairs, 0), x.comm()), shape);
}

/// Computes twice the first n / 2 + 1 numbers of the transform of n real ones from the transform y of their pairs, with
/// y[0] repeated at the end; or the inverse, with a last number that does not belong to it. Number k of either follows
/// from numbers k and n / 2 - k of the other (Cooley, Lewis and Welch, 1970).
DNDarray untangled(const DNDarray& y, Direction direction) {
  const auto& layout = y.layout();
  const auto first = layout.offset(y.comm().rank()), count = layout.count(y.comm().rank());
  const auto mine = y.larray(), mirrored = at::conj_physical(relayout(flip(y, 0), layout));
  const auto turns = roots(count, 2 * (y.shape().front() - 1), direction, mine.scalar_type(),
                           [=](std::int64_t i) { return first + i; });
  const c10::complex<double> quarter(0, direction == Direction::forth ? -1 : 1);
  const auto result = at::sub(mine, mirrored).mul_(factors_for(mine, turns)).mul_(quarter).add_(mirrored).add_(mine);
  if (direction == Direction::back && first == 0 && count > 0) {  // the ends are real numbers
    const auto low = at::real(mine[0]), high = at::real(mirrored[0]);
    result[0].copy_(at::complex(low + high, low - high));
  }
  return wrap(result, layout, y.comm());
}

}  // namespace

DNDarray transformed_along_split(const DNDarray& x, Direction direction) {
  const auto axis = *x.split();
  return moveaxis(along_first(moveaxis(x, axis, 0), direction), 0, axis);
}

DNDarray real_along_split(const DNDarray& x) {
  const auto axis = *x.split();
  const auto y = along_first(paired(moveaxis(x, axis, 0)), Direction::forth);
  auto numbers = untangled(balance(concatenate({y, y.index({slice(0, 1)})})), Direction::forth);
  numbers.larray().mul_(0.5);
  return moveaxis(numbers, 0, axis);
}

DNDarray real_back_along_split(const DNDarray& x) {
  const auto axis = *x.split();
  const auto ends = moveaxis(x, axis, 0);
  const auto y = untangled(ends, Direction::back).index({slice(0, -1)});
  return moveaxis(unpaired(along_first(y, Direction::back)), 0, axis);
}

}  // namespace heatpp::detail
