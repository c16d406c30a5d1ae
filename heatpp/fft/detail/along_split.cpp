#include <heatpp/fft/detail/along_split.hpp>

#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/axes_moves.hpp>
#include <heatpp/ops/elementwise.hpp>
#include <heatpp/ops/index.hpp>
#include <heatpp/ops/join.hpp>
#include <heatpp/ops/reshape.hpp>

#include <bit>
#include <cmath>
#include <numbers>

namespace heatpp::detail {
namespace {

/// A block transformed along an axis of which it has all, without a factor.
at::Tensor transformed(const at::Tensor& block, int axis, Direction direction) {
  if (block.numel() == 0) return block;
  return direction == Direction::forth ? at::fft_fft(block, std::nullopt, axis, "backward")
                                       : at::fft_ifft(block, std::nullopt, axis, "forward");
}

/// exp(+-2 pi i numerator / denominator), for whole numerators below the denominator.
at::Tensor roots(const at::Tensor& numerators, std::int64_t denominator, Direction direction) {
  const auto sign = direction == Direction::forth ? -1 : 1;
  const auto angle = numerators.to(at::kDouble) * (sign * 2 * std::numbers::pi / static_cast<double>(denominator));
  return at::polar(at::ones_like(angle), angle);
}

/// `factors` of the first axes of a block with other ones behind them.
at::Tensor times(const at::Tensor& block, at::Tensor factors) {
  while (factors.dim() < block.dim()) factors = factors.unsqueeze(-1);
  return block * factors.to(block.options());
}

/// The largest divisor of n up to its root.
std::int64_t divisor(std::int64_t n) {
  auto a = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  while (a > 1 && n % a != 0) --a;
  return std::max<std::int64_t>(1, a);
}

/// Along axis 0 of n = a * b, seen as a matrix (a, b): its columns, factors, its rows. The result comes transposed.
DNDarray by_factors(const DNDarray& x, Direction direction) {
  const auto n = x.shape().front(), a = divisor(n), b = n / a;
  auto shape = x.shape();
  shape.front() = b;
  shape.insert(shape.begin(), a);
  const auto columns = resplit(reshape(x, shape), 1);
  const auto first = columns.layout().offset(x.comm().rank()), count = columns.layout().count(x.comm().rank());
  const auto places = at::arange(a).unsqueeze(1) * at::arange(first, first + count).unsqueeze(0);
  const auto turned = times(transformed(columns.larray(), 0, direction), roots(places, n, direction));
  const auto rows = resplit(wrap(turned, columns.layout(), x.comm()), 0);
  const auto done = wrap(transformed(rows.larray(), 1, direction), rows.layout(), x.comm());
  return resplit(reshape(swapaxes(done, 0, 1), x.shape()), 0);  // axes of one element can be cut, too
}

/// Along axis 0 as a convolution with a chirp, of a length that is a power of 2.
DNDarray by_convolution(const DNDarray& x, Direction direction) {
  const auto n = x.shape().front();
  const auto length = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * n)));
  const auto chirp = [&](std::int64_t first, std::int64_t count, std::int64_t beyond) {
    const auto i = at::arange(first, first + count);
    const auto distance = at::where(i < n, i, beyond - i);
    return roots(at::remainder(distance * distance, 2 * n), 2 * n, direction);
  };
  const auto mine = chirp(x.layout().offset(x.comm().rank()), x.layout().count(x.comm().rank()), 0);
  PadWidths widths(x.shape().size(), {0, 0});
  widths.front().second = length - n;
  const auto signal = balance(pad(wrap(times(x.larray(), mine), x.layout(), x.comm()), widths));
  const auto first = signal.layout().offset(x.comm().rank()), count = signal.layout().count(x.comm().rank());
  const auto i = at::arange(first, first + count);
  const auto used = at::logical_or(i<n, i> length - n);
  const auto kernel = (chirp(first, count, length).conj() * used).to(x.larray().options());
  const auto spectrum = by_factors(wrap(kernel, Layout({length}, 0, x.comm().size()), x.comm()), Direction::forth);
  auto transform = by_factors(signal, Direction::forth);
  const auto factors = relayout(spectrum, transform.layout().with({length}, 0));
  transform = wrap(times(transform.larray(), factors), transform.layout(), x.comm());
  const auto sums = by_factors(transform, Direction::back).index({slice(0, n)});
  const auto block = relayout(sums, x.layout());
  return wrap(times(block, mine / static_cast<double>(length)), x.layout(), x.comm());
}

}  // namespace

DNDarray transformed_along_split(const DNDarray& x, Direction direction) {
  const auto axis = *x.split();
  const auto moved = moveaxis(x, axis, 0);
  const auto ranks = x.comm().size();
  const auto direct = divisor(moved.shape().front()) >= ranks;
  const auto result = direct ? by_factors(moved, direction) : by_convolution(moved, direction);
  return moveaxis(wrap(relayout(result, moved.layout()), moved.layout(), x.comm()), 0, axis);
}

}  // namespace heatpp::detail
