#include <heatpp/fft/fft.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/fft/detail/along_split.hpp>
#include <heatpp/fft/detail/lines.hpp>
#include <heatpp/fft/detail/pencils.hpp>
#include <heatpp/fft/detail/pieces.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/padding/pad.hpp>
#include <heatpp/ops/shape/detail/along.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace heatpp::fft {
namespace {

using detail::Direction;
using detail::extent_of;
using detail::raise;

enum class Kind { complex, real };

/// A transform along one axis: a real one gives half of the numbers, or starts from them.
struct Transform {
  const char* op;
  Kind kind;
  Direction direction;
};

const char* text_of(Norm norm) {
  return norm == Norm::backward ? "backward" : norm == Norm::ortho ? "ortho" : "forward";
}

Norm swapped(Norm norm) {
  return norm == Norm::backward ? Norm::forward : norm == Norm::forward ? Norm::backward : norm;
}

double factor(Direction direction, Norm norm, std::int64_t n) {
  if (norm == Norm::ortho) return 1 / std::sqrt(static_cast<double>(n));
  return (norm == Norm::backward) == (direction == Direction::back) ? 1 / static_cast<double>(n) : 1;
}

Shape with_extent(Shape shape, int axis, std::int64_t extent) {
  shape[static_cast<std::size_t>(axis)] = extent;
  return shape;
}

/// Returns `x` with `length` indices along `axis`: cut, or with zeros behind.
DNDarray sized(const DNDarray& x, int axis, std::int64_t length) {
  const auto extent = extent_of(x, axis);
  if (length == extent) return x;
  if (length < extent) return detail::along(x, axis, slice(0, length));
  PadWidths widths(x.shape().size(), {0, 0});
  widths[static_cast<std::size_t>(axis)].second = length - extent;
  return pad(x, widths);
}

/// Transforms a block that has all of an axis, whose real length is n.
at::Tensor local(const Transform& transform, const at::Tensor& block, int axis, std::int64_t n, Norm norm) {
  const auto how = text_of(norm);
  const bool forth = transform.direction == Direction::forth;
  if (block.numel() == 0) {
    const bool real = transform.kind == Kind::real;
    const auto type =
        real && !forth ? at::toRealValueType(block.scalar_type()) : at::toComplexType(block.scalar_type());
    const auto shape = with_extent(block.sizes().vec(), axis, real && forth ? n / 2 + 1 : n);
    return at::empty(shape, block.options().dtype(type));
  }
  const auto along = [&](const at::Tensor& lines, int line_axis, std::int64_t) {
    if (transform.kind == Kind::complex)
      return forth ? at::fft_fft(lines, n, line_axis, how) : at::fft_ifft(lines, n, line_axis, how);
    return forth ? at::fft_rfft(lines, n, line_axis, how) : at::fft_irfft(lines, n, line_axis, how);
  };
  return block.is_cpu() ? detail::transformed_by_lines(block, axis, along) : along(block, axis, 0);
}

/// Returns the longest axis other than the split, if it has an index for each rank.
std::optional<int> other_axis(const DNDarray& x) {
  int longest = *x.split();
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (axis != *x.split() && (longest == *x.split() || extent_of(x, axis) > extent_of(x, longest))) longest = axis;
  if (longest == *x.split() || extent_of(x, longest) < x.comm().size()) return std::nullopt;
  return longest;
}

/// Returns all n numbers along `axis`; the first n / 2 + 1 are given.
DNDarray whole_spectrum(const DNDarray& half, int axis, std::int64_t n) {
  const auto mirrored = detail::along(half, axis, slice(1, n - extent_of(half, axis) + 1));
  return concatenate({half, conj(flip(mirrored, axis))}, axis);
}

/// Transforms along the split axis, with only its share on each rank, and without a factor.
DNDarray in_pieces(const Transform& transform, const DNDarray& x, std::int64_t n) {
  const bool real = transform.kind == Kind::real, back = transform.direction == Direction::back;
  if (real && !back && n % 2 == 0) return detail::real_along_split(x);
  const auto given = x.astype(detail::from_torch(at::toComplexType(x.larray().scalar_type())));
  if (real && back && n % 2 == 0) return detail::real_back_along_split(given);
  const auto axis = *x.split();
  const auto all =
      detail::transformed_along_split(real && back ? whole_spectrum(given, axis, n) : given, transform.direction);
  if (!real) return all;
  return back ? heatpp::real(all) : sized(all, axis, n / 2 + 1);
}

/// Returns the layout of an array of this shape, transformed from one cut as `cut`: cut in the same way, or evenly if
/// the axis has another length.
Layout layout_like(const Shape& shape, const Layout& cut) {
  const auto axis = *cut.split();
  const bool same = shape[static_cast<std::size_t>(axis)] == cut.shape()[static_cast<std::size_t>(axis)];
  return same ? cut.with(shape, axis) : Layout(shape, axis, cut.ranks());
}
DNDarray cut_like(const DNDarray& y, const Layout& cut) { return detail::brought_to(y, layout_like(y.shape(), cut)); }

/// An array in the dtype of the transform along `axis`, whose real length is n.
struct Job {
  DNDarray x;
  int axis;
  std::int64_t n;
  Shape shape;  ///< of the result
};

Job checked(const Transform& transform, const DNDarray& array, const FftOptions& options) {
  const auto axis = sanitize_axis(options.axis, array.ndim(), transform.op);
  const bool real = transform.kind == Kind::real, forth = transform.direction == Direction::forth;
  if (real && forth && is_complex(array.dtype()))
    raise<TypeError>(transform.op, "got an array of {}; expected a real one", name(array.dtype()));
  const auto extent = extent_of(array, axis), n = options.n.value_or(real && !forth ? 2 * (extent - 1) : extent);
  if (n < 1)
    raise<ValueError>(transform.op,
                      "got a transform of length {} along axis {} of an array of shape {}; expected at "
                      "least 1",
                      n, axis, to_string(array.shape()));
  const auto floating = inexact_type(array.dtype());
  const auto dtype = floating == float16 || floating == bfloat16 ? float32 : floating;
  return {array.astype(dtype), axis, n, with_extent(array.shape(), axis, real && forth ? n / 2 + 1 : n)};
}

/// Returns how many numbers along the axis a transform starts from.
std::int64_t length_before(const Transform& transform, std::int64_t n) {
  return transform.kind == Kind::real && transform.direction == Direction::back ? n / 2 + 1 : n;
}

/// Transforms an array on a grid, and leaves the result where an exchange has brought the lines.
DNDarray in_pencils(const Transform& transform, const Job& job, Norm norm) {
  const auto x = detail::with_whole_lines(job.x, job.axis);
  const auto length = length_before(transform, job.n), missing = length - extent_of(x, job.axis);
  std::vector<std::int64_t> widths(2 * static_cast<std::size_t>(x.ndim() - job.axis), 0);
  widths.back() = missing;  // behind the lines, or cut off
  const auto block = missing == 0 ? x.larray() : at::constant_pad_nd(x.larray(), widths);
  std::vector<detail::Cut> cuts;
  for (int axis = 0; axis < x.ndim(); ++axis) cuts.push_back(x.layout().cut_along(axis));
  cuts[static_cast<std::size_t>(job.axis)] = detail::Cut::even(job.shape[static_cast<std::size_t>(job.axis)], 1);
  return detail::wrap(local(transform, block, job.axis, job.n, norm), x.layout().recut(job.shape, cuts), x.comm());
}

/// Brings a transform along `axis` back to the grid on which the array was.
DNDarray brought_back(const DNDarray& y, const Layout& grid, int axis) {
  std::vector<detail::Cut> cuts;
  for (int i = 0; i < y.ndim(); ++i) cuts.push_back(grid.cut_along(i));
  auto& cut = cuts[static_cast<std::size_t>(axis)];
  if (cut.extent() != extent_of(y, axis)) cut = detail::Cut::even(extent_of(y, axis), cut.ranks());
  return detail::brought_to(y, grid.recut(y.shape(), std::move(cuts)));
}

DNDarray along_axis(const Transform& transform, const DNDarray& array, const FftOptions& options) {
  const auto one_axis = array.ndim() == 1 ? detail::one_cut(transform.op, array) : array;
  const auto job = checked(transform, one_axis, options);
  const auto& [given, axis, n, shape] = job;
  if (given.layout().is_grid()) return brought_back(in_pencils(transform, job, options.norm), given.layout(), axis);
  const auto x = sized(given, axis, length_before(transform, n));
  const auto whole = [&, axis = axis, n = n, &shape = shape](const at::Tensor& block, const Layout& layout) {
    auto result = local(transform, block, axis, n, options.norm);
    return detail::wrap(std::move(result), layout.with(shape, layout.split()), x.comm());
  };
  if (x.split() != axis) return whole(x.larray(), x.layout());
  if (x.comm().size() > 1 && x.size() > 0 && !other_axis(x)) {
    const auto y = cut_like(in_pieces(transform, x, n), x.layout());
    if (const auto by = factor(transform.direction, options.norm, n); by != 1) y.larray().mul_(by);
    return y;
  }
  const auto other = x.comm().size() > 1 ? other_axis(x) : std::nullopt;
  if (const auto pieces = other ? detail::pieces_of(x, *other) : 1; pieces > 1 && x.larray().is_cpu()) {
    const auto lines = [&, axis = axis, n = n](const at::Tensor& block) {
      return local(transform, block, axis, n, options.norm);
    };
    return detail::transformed_in_pieces(x, *other, pieces, layout_like(shape, x.layout()), lines);
  }
  const Layout across(x.shape(), other, x.comm().size());
  auto recut = detail::relayout(x, across);
  const auto y = whole(recut, across);
  recut.reset();  // the way back needs its memory
  return cut_like(y, x.layout());
}

std::vector<int> axes_of(const char* op, const DNDarray& x, const FftnOptions& options) {
  std::vector<int> axes = options.axes.values();
  const auto count = options.s ? static_cast<int>(options.s->size()) : x.ndim();
  if (options.axes.all() && count > x.ndim())
    raise<ValueError>(op, "got {} lengths for an array of shape {}; expected one for each axis at most", count,
                      to_string(x.shape()));
  if (options.axes.all())
    for (int axis = x.ndim() - count; axis < x.ndim(); ++axis) axes.push_back(axis);
  if (static_cast<int>(axes.size()) != count && options.s)
    raise<ValueError>(op, "got {} lengths for {} axes; expected one for each", count, axes.size());
  for (auto& axis : axes) axis = sanitize_axis(axis, x.ndim(), op);
  return axes;
}

/// Transforms one axis after another; the last one by a real transform, first if that gives complex numbers. An axis
/// that is named twice then has its first length. An array on a grid, of different axes, stays where exchanges bring
/// it.
DNDarray along_axes(const Transform& transform, const DNDarray& x, const FftnOptions& options) {
  const auto axes = axes_of(transform.op, x, options);
  if (transform.kind == Kind::real && axes.empty())
    raise<ValueError>(transform.op, "got no axes; expected at least one");
  const bool real = transform.kind == Kind::real, forth = transform.direction == Direction::forth;
  const bool pencils = x.layout().is_grid() && x.ndim() > 1 && std::set(axes.begin(), axes.end()).size() == axes.size();
  auto result = x;
  const auto apply = [&](Kind kind, std::size_t i) {
    std::optional n = options.s && (*options.s)[i] != -1 ? (*options.s)[i] : extent_of(x, axes[i]);
    if (!options.s && kind == Kind::real && !forth) n = std::nullopt;
    const Transform one{transform.op, kind, transform.direction};
    const FftOptions along{n, axes[i], options.norm};
    result = pencils ? in_pencils(one, checked(one, result, along), along.norm) : along_axis(one, result, along);
  };
  const auto others = axes.size() - (real ? 1 : 0);
  if (real && forth) apply(Kind::real, others);
  // The order is NumPy's, which matters if an axis is named twice.
  std::vector<std::size_t> left(others);
  std::iota(left.begin(), left.end(), 0);
  if (!real || forth) std::ranges::reverse(left);
  while (!left.empty()) {
    std::vector<int> to_do;
    for (const auto i : left) to_do.push_back(axes[i]);
    const auto next =
        left.begin() + static_cast<std::ptrdiff_t>(pencils ? detail::next_axis(result.layout(), to_do) : 0);
    const auto i = *next;
    left.erase(next);
    apply(Kind::complex, i);
  }
  if (real && !forth) apply(Kind::real, others);
  return result;
}

template <class Options>
Options in_reverse(Options options) {
  options.norm = swapped(options.norm);
  return options;
}

FftnOptions of_matrices(FftnOptions options) {
  if (options.axes.all()) options.axes = {-2, -1};
  return options;
}

}  // namespace

DNDarray fft(const DNDarray& x, const FftOptions& options) {
  return along_axis({"fft", Kind::complex, Direction::forth}, x, options);
}
DNDarray ifft(const DNDarray& x, const FftOptions& options) {
  return along_axis({"ifft", Kind::complex, Direction::back}, x, options);
}
DNDarray rfft(const DNDarray& x, const FftOptions& options) {
  return along_axis({"rfft", Kind::real, Direction::forth}, x, options);
}
DNDarray irfft(const DNDarray& x, const FftOptions& options) {
  return along_axis({"irfft", Kind::real, Direction::back}, x, options);
}
DNDarray hfft(const DNDarray& x, const FftOptions& options) {
  return along_axis({"hfft", Kind::real, Direction::back}, conj(x), in_reverse(options));
}
DNDarray ihfft(const DNDarray& x, const FftOptions& options) {
  return conj(along_axis({"ihfft", Kind::real, Direction::forth}, x, in_reverse(options)));
}

DNDarray fftn(const DNDarray& x, const FftnOptions& options) {
  return along_axes({"fftn", Kind::complex, Direction::forth}, x, options);
}
DNDarray ifftn(const DNDarray& x, const FftnOptions& options) {
  return along_axes({"ifftn", Kind::complex, Direction::back}, x, options);
}
DNDarray rfftn(const DNDarray& x, const FftnOptions& options) {
  return along_axes({"rfftn", Kind::real, Direction::forth}, x, options);
}
DNDarray irfftn(const DNDarray& x, const FftnOptions& options) {
  return along_axes({"irfftn", Kind::real, Direction::back}, x, options);
}
DNDarray hfftn(const DNDarray& x, const FftnOptions& options) {
  return along_axes({"hfftn", Kind::real, Direction::back}, conj(x), in_reverse(options));
}
DNDarray ihfftn(const DNDarray& x, const FftnOptions& options) {
  return conj(along_axes({"ihfftn", Kind::real, Direction::forth}, x, in_reverse(options)));
}

DNDarray fft2(const DNDarray& x, const FftnOptions& options) { return fftn(x, of_matrices(options)); }
DNDarray ifft2(const DNDarray& x, const FftnOptions& options) { return ifftn(x, of_matrices(options)); }
DNDarray rfft2(const DNDarray& x, const FftnOptions& options) { return rfftn(x, of_matrices(options)); }
DNDarray irfft2(const DNDarray& x, const FftnOptions& options) { return irfftn(x, of_matrices(options)); }
DNDarray hfft2(const DNDarray& x, const FftnOptions& options) { return hfftn(x, of_matrices(options)); }
DNDarray ihfft2(const DNDarray& x, const FftnOptions& options) { return ihfftn(x, of_matrices(options)); }

}  // namespace heatpp::fft
