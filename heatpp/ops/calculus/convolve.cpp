#include <heatpp/ops/calculus/convolve.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/calculus/detail/convolve_kernel.hpp>
#include <heatpp/ops/calculus/detail/ghosts.hpp>
#include <heatpp/ops/calculus/detail/window.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>

#include <ATen/Parallel.h>
#include <algorithm>

namespace heatpp {
namespace {

using detail::ConvolutionWindow;
using detail::OutputRange;
using detail::raise;

OutputRange part_of(ConvolveMode mode, std::int64_t n, std::int64_t m, std::int64_t stride) {
  const auto every = [&](std::int64_t count) { return (count + stride - 1) / stride; };
  if (mode == ConvolveMode::full) return {0, every(n + m - 1), stride};
  if (mode == ConvolveMode::same) return {(m - 1) / 2, every(n), stride};
  return {m - 1, every(n - m + 1), stride};
}

/// Returns the dtype of the sums: the operands' own, or a wider one that is exact or more accurate.
Dtype working_type(Dtype dtype) {
  if (dtype == float16 || dtype == bfloat16) return float32;
  return is_floating(dtype) || is_complex(dtype) ? dtype : int64;
}

/// Whether `a` slides over the other operand.
bool is_shorter(const DNDarray& a, const DNDarray& v) { return a.ndim() == 1 && v.ndim() == 1 && a.size() < v.size(); }

/// A piece of the rows that a rank holds and needs, from an index on. Pieces are in order.
struct Piece {
  at::Tensor rows;
  std::int64_t start;

  [[nodiscard]] at::Tensor between(std::int64_t low, std::int64_t high) const {
    const auto first = std::clamp<std::int64_t>(low - start, 0, rows.size(1));
    const auto last = std::clamp<std::int64_t>(high - start, first, rows.size(1));
    return rows.narrow(1, first, last - first);
  }
};

/// Computes results from .. to of `out` from rows that hold all elements; `skipped` taps precede those given.
template <class T>
void correlate_rows(const Piece& in, const at::Tensor& taps, const ConvolutionWindow& window, std::int64_t from,
                    std::int64_t to, const Piece& out, std::int64_t skipped = 0) {
  const auto n = taps.size(1), next_taps = taps.size(0) == 1 ? 0 : taps.stride(0), stride = window.stride();
  const auto begin = window.below(from) + skipped - in.start;
  for (std::int64_t row = 0; row < in.rows.size(0); ++row) {
    const auto* data = in.rows.const_data_ptr<T>() + row * in.rows.stride(0) + begin;
    const auto* weights = taps.const_data_ptr<T>() + row * next_taps;
    auto* result = out.rows.data_ptr<T>() + row * out.rows.stride(0) + (from - out.start);
    constexpr std::int64_t worthwhile = 1 << 14;  // results for one thread
    at::parallel_for(0, to - from, worthwhile, [&](std::int64_t first, std::int64_t last) {
      detail::correlate_row(data + first * stride, weights, n, stride, result + first, last - first);
    });
  }
}

/// Computes results one by one, only from taps that meet one of the row's `extent` elements.
template <class T>
void correlate_overlap(const Piece& in, const at::Tensor& taps, const ConvolutionWindow& window, std::int64_t from,
                       std::int64_t to, const Piece& out, std::int64_t extent) {
  for (auto i = from; i < to; ++i) {
    const auto skipped = std::max<std::int64_t>(0, -window.below(i));
    const auto met = std::min(extent - window.below(i), taps.size(1)) - skipped;
    correlate_rows<T>(in, taps.narrow(1, skipped, met), window, i, i + 1, out, skipped);
  }
}

/// Returns this rank's block of results. `taps` are the reversed kernels, one or one for each row.
template <class T>
at::Tensor correlate_block(const DNDarray& x, const at::Tensor& taps, const ConvolutionWindow& window) {
  const auto me = x.comm().rank();
  const auto first = window.first(me), last = window.last(me);
  const auto block = x.larray().contiguous();
  auto leading = x.lshape();
  leading.pop_back();
  const Piece own{block.reshape({size_of(leading), block.size(-1)}), window.begin(me)};
  const Piece out{at::empty({own.rows.size(0), last - first}, block.options()), first};
  detail::Ghosts ghosts(
      x, x.ndim() - 1, [&](int rank) { return window.missing(rank); }, window.takers(me), 0);

  // While the ghosts travel, the inner results are computed, which need only this rank's elements.
  auto inside = first, outside = last;
  while (inside < last && window.below(inside) < window.begin(me)) ++inside;
  while (outside > inside && window.above(outside) > window.end(me)) --outside;
  if (inside < outside) correlate_rows<T>(own, taps, window, inside, outside, out);

  const auto around = ghosts.rows().movedim(0, -1).reshape({own.rows.size(0), ghosts.rows().size(0)});
  const auto low = window.below(first);
  const auto before = std::clamp<std::int64_t>(window.begin(me) - low, 0, around.size(1));
  const Piece pieces[] = {{around.narrow(1, 0, before), low},
                          own,
                          {around.narrow(1, before, around.size(1) - before), std::max(window.end(me), low)}};
  const bool finite = at::isfinite(taps).all().item<bool>();  // infinite or NaN taps must not meet the zeros outside
  const auto border = [&](std::int64_t from, std::int64_t to) {
    if (from >= to) return;
    std::vector<at::Tensor> parts;
    for (const auto& piece : pieces) parts.push_back(piece.between(window.below(from), window.above(to)));
    const Piece all{at::cat(parts, 1), window.below(from)};
    if (finite) correlate_rows<T>(all, taps, window, from, to, out);
    else correlate_overlap<T>(all, taps, window, from, to, out, x.shape().back());
  };
  border(first, inside);
  border(outside, last);
  return out.rows;
}

at::Tensor correlate_block(const DNDarray& x, const at::Tensor& taps, const ConvolutionWindow& window) {
  switch (x.larray().scalar_type()) {
    case at::kFloat: return correlate_block<float>(x, taps, window);
    case at::kDouble: return correlate_block<double>(x, taps, window);
    case at::kComplexFloat: return correlate_block<c10::complex<float>>(x, taps, window);
    case at::kComplexDouble: return correlate_block<c10::complex<double>>(x, taps, window);
    default: return correlate_block<std::int64_t>(x, taps, window);
  }
}

void check(const char* op, const DNDarray& a, const DNDarray& v, std::int64_t stride) {
  const auto leading = [](const DNDarray& x) { return Shape(x.shape().begin(), std::prev(x.shape().end())); };
  if (a.ndim() == 0 || v.ndim() == 0 || a.shape().back() == 0 || v.shape().back() == 0)
    raise<ValueError>(op, "got arrays of shapes {} and {}; expected at least one element along the last axis",
                      to_string(a.shape()), to_string(v.shape()));
  if (v.ndim() > 1 && leading(a) != leading(v))
    raise<ValueError>(op, "got arrays of shapes {} and {}; expected equal leading axes", to_string(a.shape()),
                      to_string(v.shape()));
  if (a.ndim() > 1 && a.shape().back() < v.shape().back())
    raise<ValueError>(op, "got rows of {} elements and a kernel of {}; expected no shorter rows", a.shape().back(),
                      v.shape().back());
  detail::check_same_device(op, a, v);
  if (stride < 1) raise<ValueError>(op, "got stride {}; expected at least 1", stride);
  detail::check_same_comm(op, a.comm(), v.comm());
}

/// Returns the kernels of this rank's rows of `x`: one if `v` has one axis.
at::Tensor kernels_of(const DNDarray& x, const DNDarray& v) {
  auto all = resplit(v, std::nullopt).larray();
  if (v.ndim() > 1 && x.split() && *x.split() < x.ndim() - 1)
    all = all.narrow(*x.split(), x.layout().offset(x.comm().rank()), x.layout().count(x.comm().rank()));
  return all.reshape({-1, v.shape().back()});
}

/// Computes a part of the correlation of x's rows with v's on the CPU; elements beyond the ends of x are 0.
DNDarray correlate_part(const DNDarray& x, const at::Tensor& taps, Dtype dtype, const OutputRange& part) {
  if (x.device() != cpu) return correlate_part(x.to_device(cpu), taps.cpu(), dtype, part).to_device(x.device());
  const ConvolutionWindow window(x.layout(), part, taps.size(1));
  auto layout = window.layout(x.shape());
  const auto rows = correlate_block(x, taps.contiguous(), window);
  return detail::wrap(rows.reshape(layout.local_shape(x.comm().rank())).to(detail::to_torch(dtype)), layout, x.comm());
}

}  // namespace

DNDarray convolve(const DNDarray& a, const DNDarray& v, const ConvolveOptions& options) {
  if (a.ndim() == 0 || v.ndim() == 0) return convolve(atleast_1d(a), atleast_1d(v), options);
  const bool swapped = is_shorter(a, v);
  check("convolve", a, v, options.stride);
  const auto dtype = promote_types(a.dtype(), v.dtype());
  const auto longer = detail::one_cut("convolve", swapped ? v : a).astype(working_type(dtype)),
             kernel = (swapped ? a : v).astype(working_type(dtype));
  const auto part = part_of(options.mode, longer.shape().back(), kernel.shape().back(), options.stride);
  return correlate_part(longer, kernels_of(longer, kernel).flip(1), dtype, part);
}

DNDarray correlate(const DNDarray& a, const DNDarray& v, const ConvolveOptions& options) {
  check("correlate", a, v, options.stride);
  const auto dtype = promote_types(a.dtype(), v.dtype());
  const auto x = detail::one_cut("correlate", a).astype(working_type(dtype)),
             y = detail::one_cut("correlate", v).astype(working_type(dtype));
  if (!is_shorter(a, v)) {
    const auto part = part_of(options.mode, x.shape().back(), y.shape().back(), options.stride);
    return correlate_part(x, kernels_of(x, conj(y)), dtype, part);
  }
  auto part = part_of(options.mode, y.size(), x.size(), options.stride);
  if (options.mode == ConvolveMode::same) part.start = x.size() / 2;
  const auto reversed = conj(y).index({slice(std::nullopt, std::nullopt, -1)});
  return correlate_part(reversed, kernels_of(reversed, x).flip(1), dtype, part);
}

}  // namespace heatpp
