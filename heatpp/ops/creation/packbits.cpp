#include <heatpp/ops/creation/packbits.hpp>

#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/detail/simd.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/creation/creation.hpp>
#include <heatpp/ops/elementwise/detail/run_loop.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/joining/detail/padded.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/operands/detail/lines.hpp>
#include <heatpp/ops/shape/detail/along.hpp>

#include <bit>
#include <cstring>

namespace heatpp {
namespace {

// Eight bytes with one bit each: byte k has bit k, counted from the low end or from the high one.
constexpr std::uint64_t rising = 0x8040201008040201, falling = 0x0102040810204080, ones = 0x0101010101010101;

/// Returns `little`, or `big` if bytes lie in memory in the other order.
constexpr std::uint64_t for_order(BitOrder order, std::uint64_t little, std::uint64_t big) {
  return (order == BitOrder::little) == (std::endian::native == std::endian::little) ? little : big;
}

/// A product moves each of eight bytes, 0 or 1, to its bit of the highest byte.
HEATPP_SIMD void pack(const std::uint8_t* __restrict in, std::uint8_t* __restrict out, std::int64_t n,
                      std::uint64_t factor) {
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint64_t word;
    std::memcpy(&word, in + 8 * i, sizeof word);
    out[i] = static_cast<std::uint8_t>((word * factor) >> 56);
  }
}
HEATPP_SIMD void unpack(const std::uint8_t* __restrict in, std::uint8_t* __restrict out, std::int64_t n,
                        std::uint64_t mask) {
  for (std::int64_t i = 0; i < n; ++i) {
    const auto bits = in[i] * ones & mask;
    const auto word = ((bits + 127 * ones) >> 7) & ones;  // a sum sets the highest bit of each byte with a bit
    std::memcpy(out + 8 * i, &word, sizeof word);
  }
}

/// Makes an array with this layout; f(in, out, count) turns bytes of the block along `axis` into its bytes: to_each for
/// from_each.
template <class F>
DNDarray map_bytes(const at::Tensor& block, int axis, std::int64_t from_each, std::int64_t to_each,
                   const Layout& layout, const DNDarray& like, F f) {
  const auto lines = detail::lines_along(block, axis);
  const auto out = at::empty({lines.size(0), lines.size(1) / from_each * to_each}, lines.options());
  const auto* in = lines.const_data_ptr<std::uint8_t>();
  auto* result = out.data_ptr<std::uint8_t>();
  detail::runs::in_runs(lines.numel() / from_each, [&](std::int64_t first, std::int64_t count) {
    f(in + first * from_each, result + first * to_each, count);
  });
  return detail::from_lines(out, axis, layout, like);
}

}  // namespace

DNDarray packbits(const DNDarray& array, std::optional<int> along_axis, BitOrder order) {
  if (!is_whole(array.dtype()))
    detail::raise<TypeError>("packbits", "got an array of {}; expected bool or whole numbers", name(array.dtype()));
  const auto x = detail::flat_without_axis(array.dtype() == bool_ ? array : not_equal(array, 0), along_axis);
  const auto axis = sanitize_axis(along_axis.value_or(0), x.ndim(), "packbits");
  const auto extent = detail::extent_of(x, axis), bytes = (extent + 7) / 8;
  const auto layout = detail::with_extent(x.layout(), axis, bytes);
  const auto bits = detail::recut(layout, axis, extent, [&](std::int64_t byte) { return std::min(8 * byte, extent); });
  auto block = detail::relayout(x, bits).view(at::kByte);
  if (const auto rest = block.size(axis) % 8; rest > 0) {
    auto missing = block.sizes().vec();
    missing[static_cast<std::size_t>(axis)] = 8 - rest;
    block = at::cat({block, at::zeros(missing, block.options())}, axis);
  }
  const auto factor = for_order(order, falling, rising);
  return map_bytes(block, axis, 8, 1, layout, x,
                   [=](const auto* in, auto* out, std::int64_t n) { pack(in, out, n, factor); });
}

DNDarray unpackbits(const DNDarray& array, std::optional<int> along_axis, BitOrder order) {
  const auto x = detail::flat_without_axis(array, along_axis);
  const auto axis = sanitize_axis(along_axis.value_or(0), x.ndim(), "unpackbits");
  if (x.dtype() != uint8) detail::raise<TypeError>("unpackbits", "got an array of {}; expected uint8", name(x.dtype()));
  const auto mask = for_order(order, rising, falling);
  const auto layout =
      detail::recut(x.layout(), axis, 8 * detail::extent_of(x, axis), [](std::int64_t byte) { return 8 * byte; });
  return map_bytes(x.larray(), axis, 1, 8, layout, x,
                   [=](const auto* in, auto* out, std::int64_t n) { unpack(in, out, n, mask); });
}

DNDarray unpackbits(const DNDarray& x, const UnpackbitsOptions& options) {
  const auto bits = unpackbits(x, options.axis, options.order);
  if (!options.count) return bits;
  const auto axis = sanitize_axis(options.axis.value_or(0), bits.ndim(), "unpackbits");
  const auto extent = detail::extent_of(bits, axis);
  if (*options.count < -extent)
    detail::raise<ValueError>("unpackbits", "got count {} for {} bits; expected count >= {}", *options.count, extent,
                              -extent);
  std::vector<detail::PadWidth> widths(bits.shape().size(), {0, 0});
  widths[static_cast<std::size_t>(axis)].second = std::max<std::int64_t>(0, *options.count - extent);
  return detail::along(detail::padded_with(bits, widths, 0), axis, slice(0, *options.count));
}

}  // namespace heatpp
