#include <heatpp/ops/statistics/histogram.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/detail/allocated.hpp>
#include <heatpp/core/detail/cuts/without_copies.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/statistics/detail/bin_rules.hpp>
#include <heatpp/ops/statistics/detail/bins.hpp>

#include <algorithm>

namespace heatpp {
namespace {

using detail::Bins;
using detail::BinsWanted;

/// Edges have the dtype of floating elements.
Dtype edge_dtype(const DNDarray& x) { return is_floating(x.dtype()) ? x.dtype() : float64; }

at::Tensor flat_block(const at::Tensor& block) { return block.cpu().contiguous().view({-1}); }

/// Returns the block of the weights for this rank's block of `x`, flattened; nothing if there are none.
std::optional<at::Tensor> weights_block(const char* op, const DNDarray& x, const std::optional<DNDarray>& weights) {
  if (!weights) return std::nullopt;
  if (weights->shape() != x.shape())
    detail::raise<ValueError>(op, "got weights of shape {} for an array of shape {}; expected the same shape",
                              to_string(weights->shape()), to_string(x.shape()));
  return flat_block(detail::relayout_operand(op, *weights, x.layout(), x.comm()));
}

/// Makes counters for each rank of an array as `like`.
at::Tensor counters(const char* op, std::int64_t count, at::ScalarType type, const DNDarray& like) {
  return detail::allocated(op, like.layout().replicated({count}), type, like.comm(),
                           [&] { return at::zeros({count}, type); });
}

/// Sums the real weights of each of `count` numbers; -1 does not count.
at::Tensor weighted(const char* op, const at::Tensor& numbers, const at::Tensor& weights, std::int64_t count,
                    const DNDarray& like) {
  const auto values = weights.to(at::kDouble).contiguous();
  const auto sums = counters(op, count + 1, at::kDouble, like);
  auto* out = sums.data_ptr<double>() + 1;
  const auto* number = numbers.const_data_ptr<std::int64_t>();
  const auto* value = values.const_data_ptr<double>();
  for (std::int64_t i = 0; i < numbers.numel(); ++i) out[number[i]] += value[i];
  return sums.narrow(0, 1, count).contiguous();
}

/// Sums over all ranks; every rank gets the array.
DNDarray summed(at::Tensor counts, const Shape& shape, const DNDarray& like) {
  counts = counts.contiguous();
  if (like.layout().is_cut()) like.comm().allreduce(detail::buffer_of(counts));
  return detail::wrap(counts.view(shape).to(like.larray().device()), like.layout().replicated(shape), like.comm());
}

DNDarray weighted_counts(const at::Tensor& numbers, const at::Tensor& weights, std::int64_t count,
                         const DNDarray& like) {
  const auto of = [&](const at::Tensor& part) { return weighted("histogram", numbers, part, count, like); };
  if (!weights.is_complex())
    return summed(of(weights), {count}, like).astype(detail::from_torch(weights.scalar_type()));
  const auto sums = at::complex(of(at::real(weights)), of(at::imag(weights)));
  return summed(sums, {count}, like).astype(detail::from_torch(weights.scalar_type()));
}

std::vector<Bins> bins_of(const char* op, const DNDarray& x, const HistogramOptions& options) {
  detail::check_real(op, x.dtype());
  const auto count = options.rule.empty() ? options.bins : detail::bins_by_rule(op, x, options);
  const at::Tensor columns[] = {x.larray().cpu()};
  const BinsWanted wanted[] = {{count, options.range, options.edges, edge_dtype(x)}};
  auto bins = detail::make_bins(op, columns, wanted, x);
  const auto& edges = bins.front().edges;
  const auto do_not_rise = [](double a, double b) { return !(a < b); };
  if (bins.front().even && std::ranges::adjacent_find(edges, do_not_rise) != edges.end())
    detail::raise<ValueError>(op, "got {} bins from {} to {}; expected fewer, which have edges that differ", count,
                              edges.front(), edges.back());
  return bins;
}

at::Tensor widths(const Bins& bins) { return bins.array.larray().cpu().diff().to(at::kDouble); }

/// Divides by the volume of the bins and the sum of all.
DNDarray as_density(const DNDarray& counts, const std::vector<Bins>& bins) {
  const auto type = is_complex(counts.dtype()) ? at::kComplexDouble : at::kDouble;
  auto result = counts.larray().to(type);
  const auto total = result.sum();
  for (std::size_t axis = 0; axis < bins.size(); ++axis) {
    std::vector<std::int64_t> shape(bins.size(), 1);
    shape[axis] = -1;
    result = result / widths(bins[axis]).to(result.device()).view(shape);
  }
  return detail::wrap(result / total, counts.layout(), counts.comm());
}

/// Computes the histogram of the rows that the columns form, which are blocks of the arrays.
Histogramdd histogram_of(const char* op, std::span<const at::Tensor> columns, const std::vector<BinsWanted>& wanted,
                         const DNDarray& like, const std::optional<at::Tensor>& weights, bool density) {
  const auto bins = detail::make_bins(op, columns, wanted, like);
  Shape shape;
  auto cells = at::zeros({columns.front().numel()}, at::kLong);
  auto outside = at::zeros({columns.front().numel()}, at::kBool);
  for (std::size_t axis = 0; axis < bins.size(); ++axis) {
    const auto numbers = detail::bin_numbers(columns[axis], bins[axis]);
    outside.logical_or_(numbers < 0);
    cells.mul_(bins[axis].count()).add_(numbers);
    shape.push_back(bins[axis].count());
  }
  cells.masked_fill_(outside, -1);
  const auto ones = weights ? *weights : at::ones({1}, at::kDouble).expand({cells.numel()});
  detail::check_real(op, detail::from_torch(ones.scalar_type()), "weights");
  auto counts = summed(weighted(op, cells, ones, size_of(shape), like), shape, like);
  Histogramdd result{density ? as_density(counts, bins) : counts, {}};
  for (const auto& b : bins) result.edges.push_back(b.array);
  return result;
}

std::vector<BinsWanted> wanted_bins(const char* op, std::size_t columns, const HistogramddOptions& options,
                                    Dtype dtype) {
  const auto fits = [&](std::size_t n) { return n == columns; };
  if ((!fits(options.bins.size()) && options.bins.size() != 1) ||
      (!options.range.empty() && !fits(options.range.size())) ||
      (!options.edges.empty() && !fits(options.edges.size())))
    detail::raise<ValueError>(op, "got {} numbers of bins, {} ranges and {} edges; expected one for each of {} columns",
                              options.bins.size(), options.range.size(), options.edges.size(), columns);
  std::vector<BinsWanted> wanted;
  for (std::size_t c = 0; c < columns; ++c) {
    wanted.push_back({options.bins[options.bins.size() == 1 ? 0 : c], std::nullopt, std::nullopt, dtype});
    if (!options.range.empty()) {
      wanted.back().range = options.range[c];
      wanted.back().dtype = float64;
    }
    if (!options.edges.empty()) wanted.back().edges = options.edges[c];
  }
  return wanted;
}

}  // namespace

std::pair<DNDarray, DNDarray> histogram(const DNDarray& given, const HistogramOptions& options) {
  const auto x = detail::without_copies(given);
  const auto weights = weights_block("histogram", x, options.weights);
  const auto bins = bins_of("histogram", x, options);
  const auto& axis = bins.front();
  const auto block = x.larray().cpu();
  const auto counts = weights ? weighted_counts(detail::bin_numbers(flat_block(block), axis), *weights, axis.count(), x)
                              : summed(detail::bin_counts(block, axis), {axis.count()}, x);
  return {options.density ? as_density(counts, bins) : counts, axis.array};
}

DNDarray histogram_bin_edges(const DNDarray& x, const HistogramOptions& options) {
  return bins_of("histogram_bin_edges", x, options).front().array;
}

DNDarray histc(const DNDarray& x, const HistcOptions& options) {
  const auto range = options.min == options.max ? HistogramRange() : HistogramRange(options.min, options.max);
  return histogram(x, {.bins = options.bins, .range = range}).first.astype(x.dtype());
}

Histogramdd histogramdd(const DNDarray& given, const HistogramddOptions& options) {
  constexpr const char* op = "histogramdd";
  if (given.ndim() == 1) return histogramdd(expand_dims(given, 1), options);
  const auto sample = detail::one_cut(op, given);
  detail::check_real(op, sample.dtype());
  if (sample.ndim() != 2 || sample.shape()[1] == 0)
    detail::raise<ValueError>(op, "got a sample of shape {}; expected rows of at least one column",
                              to_string(sample.shape()));
  const auto wanted = wanted_bins(op, static_cast<std::size_t>(sample.shape()[1]), options, edge_dtype(sample));
  const auto x = sample.split() == 1 ? resplit(sample, 0) : sample;
  const auto rows = x.layout().with({x.shape()[0]}, x.split());
  const auto of_rows = detail::wrap(x.larray().select(1, 0), rows, x.comm());
  const auto weights = weights_block(op, of_rows, options.weights);
  std::vector<at::Tensor> columns;
  for (std::int64_t c = 0; c < x.shape()[1]; ++c) columns.push_back(flat_block(x.larray().select(1, c)));
  return histogram_of(op, columns, wanted, of_rows, weights, options.density);
}

Histogram2d histogram2d(const DNDarray& given_x, const DNDarray& given_y, const HistogramddOptions& options) {
  constexpr const char* op = "histogram2d";
  const auto x = detail::one_cut(op, given_x), y = detail::one_cut(op, given_y);
  detail::check_real(op, x.dtype());
  detail::check_real(op, y.dtype());
  if (x.ndim() != 1 || x.shape() != y.shape())
    detail::raise<ValueError>(op, "got arrays of shapes {} and {}; expected one axis and equal lengths",
                              to_string(x.shape()), to_string(y.shape()));
  const auto dtype = promote_types(edge_dtype(x), edge_dtype(y));
  auto of_both = options;
  if (of_both.edges.size() == 1) of_both.edges.push_back(of_both.edges.front());
  const auto wanted = wanted_bins(op, 2, of_both, dtype);
  const auto cut = x.split() ? x.layout() : y.layout();
  const auto from = detail::wrap(detail::relayout_operand(op, x, cut, y.comm()), cut, x.comm());
  const auto weights = weights_block(op, from, options.weights);
  const at::Tensor columns[] = {flat_block(from.larray()), flat_block(detail::relayout_operand(op, y, cut, x.comm()))};
  auto [counts, edges] = histogram_of(op, columns, wanted, from, weights, options.density);
  return {std::move(counts), std::move(edges[0]), std::move(edges[1])};
}

DNDarray bincount(const DNDarray& given, const BincountOptions& options) {
  constexpr const char* op = "bincount";
  const auto x = detail::one_cut(op, given);
  if (!is_whole(x.dtype())) detail::raise<TypeError>(op, "got an array of {}; expected whole numbers", name(x.dtype()));
  if (x.ndim() != 1 || options.minlength < 0)
    detail::raise<ValueError>(op, "got an array of shape {} and minlength {}; expected one axis and no negative number",
                              to_string(x.shape()), options.minlength);
  // NumPy returns counts for an empty array, also if there are weights.
  const auto weights = x.size() > 0 ? weights_block(op, x, options.weights) : std::nullopt;
  const auto numbers = flat_block(x.larray());
  std::vector<std::int64_t> ends{0, 1};  // the smallest, and the largest with its sign reversed
  if (numbers.numel() > 0) {
    const auto [low, high] = at::aminmax(numbers);
    ends = {low.item<std::int64_t>(), -high.item<std::int64_t>()};
  }
  if (x.split()) x.comm().allreduce(ends, ReduceOp::min);
  if (ends[0] < 0) detail::raise<ValueError>(op, "got the element {}; expected none below 0", ends[0]);
  constexpr auto most = std::numeric_limits<std::int64_t>::max() / 16;  // so that the bytes can be counted
  if (std::max(options.minlength, -ends[1]) >= most)
    detail::raise<ValueError>(op, "got the element {} and minlength {}; expected smaller ones than {}", -ends[1],
                              options.minlength, most);
  const auto count = std::max(options.minlength, 1 - ends[1]);
  if (weights) {
    detail::check_real(op, detail::from_torch(weights->scalar_type()), "weights");
    return summed(weighted(op, numbers.to(at::kLong), *weights, count, x), {count}, x);
  }
  const auto counts = counters(op, count, at::kLong, x);
  auto* out = counts.data_ptr<std::int64_t>();
  AT_DISPATCH_INTEGRAL_TYPES_AND(at::kBool, numbers.scalar_type(), op, [&] {
    for (const auto number : std::span(numbers.const_data_ptr<scalar_t>(), static_cast<std::size_t>(numbers.numel())))
      ++out[number];
  });
  return summed(counts, {count}, x);
}

}  // namespace heatpp
