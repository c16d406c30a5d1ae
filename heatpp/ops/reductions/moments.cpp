#include <heatpp/ops/reductions/moments.hpp>

#include <ATen/Dispatch.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/detail/align_pending.hpp>
#include <heatpp/ops/operands/detail/checked_axes.hpp>
#include <heatpp/ops/operands/detail/in_rows.hpp>
#include <heatpp/ops/reductions/detail/central_sums.hpp>
#include <heatpp/ops/reductions/detail/exact_reduction.hpp>
#include <heatpp/ops/reductions/detail/cached/pieces.hpp>
#include <heatpp/ops/reductions/detail/reduced.hpp>
#include <heatpp/ops/reductions/detail/weights.hpp>
#include <heatpp/ops/reductions/detail/without_nan.hpp>
#include <heatpp/ops/reductions/nan.hpp>
#include <heatpp/ops/reductions/reduce.hpp>

#include <array>

namespace heatpp {
namespace {

using detail::AroundAxes;
using detail::CentralSums;

template <std::size_t Count>
std::array<double, Count> record_of(const CentralSums& sums) {
  const std::array all = {sums.n, sums.mean, sums.low, sums.m2, sums.m3, sums.m4};
  std::array<double, Count> record;
  std::copy_n(all.begin(), Count, record.begin());
  return record;
}
template <std::size_t Count>
CentralSums sums_in(const std::array<double, Count>& record) {
  std::array<double, 6> all = {};
  std::ranges::copy(record, all.begin());
  return {all[0], all[1], all[2], all[3], all[4], all[5]};
}

/// Merges the first `Count` of the sums.
template <std::size_t Count>
void merge_records(const void* in, void* inout, std::int64_t n) {
  using Record = std::array<double, Count>;
  const auto* a = static_cast<const Record*>(in);
  auto* b = static_cast<Record*>(inout);
  for (std::int64_t i = 0; i < n; ++i) {
    auto merged = sums_in(b[i]);
    detail::merge_central_sums(sums_in(a[i]), merged);
    b[i] = record_of<Count>(merged);
  }
}

/// Sums over all ranks, which exchange only the needed sums.
template <std::size_t Count>
void sum_across(const Communicator& comm, std::vector<CentralSums>& sums) {
  std::vector<std::array<double, Count>> records(sums.size());
  std::ranges::transform(sums, records.begin(), record_of<Count>);
  comm.allreduce_records(records.data(), std::ssize(records), Count * sizeof(double), &merge_records<Count>);
  std::ranges::transform(records, sums.begin(), sums_in<Count>);
}

/// The sums over all ranks for each element of this rank's block of the result.
struct Sums {
  std::vector<CentralSums> values;
  Layout layout;
  Dtype dtype;
  Communicator comm;
  at::Device device;

  template <class F>
  [[nodiscard]] DNDarray map(F f) const {
    auto block = at::empty(layout.local_shape(comm.rank()), at::kDouble);
    std::ranges::transform(values, block.data_ptr<double>(), f);
    return detail::wrap(block.to(device, detail::to_torch(dtype)), layout, comm);
  }
};

/// Returns the sums in C order of the result's elements, computed on the block's device; nothing if sums are not
/// finite, because elements are not or are too large.
std::vector<CentralSums> sums_on_device(const at::Tensor& block, const at::Tensor& mask, at::IntArrayRef axes,
                                        int order) {
  const auto over = [axes](const at::Tensor& x) { return at::sum(x, axes, /*keepdim=*/true, at::kDouble); };
  const auto used = [&](const at::Tensor& x) { return mask.defined() ? x.masked_fill(~mask, 0) : x; };
  const auto sum = over(used(block));
  const auto n = mask.defined() ? over(mask.expand(block.sizes())) : at::full_like(sum, block.numel() / sum.numel());
  const auto at_least_one = n.clamp_min(1), mean = sum / at_least_one;
  std::vector columns{n, mean};
  if (order > 1) {
    auto d = used(block.to(at::kDouble) - mean);
    const auto low = over(d) / at_least_one;
    columns.push_back(low);
    d = used(d - low);
    auto power = d;
    for (int i = 2; i <= order; ++i) columns.push_back(over(power = power * d));
  }
  for (auto& column : columns) column = column.flatten();
  const auto host = at::stack(columns, 1).cpu();
  if (!at::isfinite(host).all().item<bool>()) return {};
  std::vector<CentralSums> sums;
  const auto* record = host.const_data_ptr<double>();
  for (std::int64_t i = 0; i < host.size(0); ++i, record += host.size(1)) {
    std::array<double, 6> all = {};
    std::copy_n(record, host.size(1), all.begin());
    sums.push_back(sums_in(all));
  }
  return sums;
}

std::vector<CentralSums> restored_sums(const AroundAxes& view, std::vector<CentralSums> sums) {
  return view.order.restored(std::move(sums), view.kept);
}

/// Returns the sums of the elements where `truths` is true.
std::vector<CentralSums> sums_where(const at::Tensor& elements, const at::Tensor& truths, at::IntArrayRef axes,
                                    int order) {
  const auto mask = detail::before_axes(truths.cpu(), axes),
             view = detail::before_axes(detail::readable(elements), axes);
  const auto& extents = view.extents;
  std::vector<CentralSums> sums(static_cast<std::size_t>(extents.others()));
  AT_DISPATCH_ALL_TYPES(view.data.scalar_type(), "moments", [&] {
    detail::central_sums_where(view.data.const_data_ptr<scalar_t>(), mask.data.const_data_ptr<bool>(), extents.outer,
                               extents.n, order, sums.data());
  });
  return restored_sums(view, std::move(sums));
}

/// Returns the sums of all elements of a block that does not lie in one run.
CentralSums sums_of_rows(const at::Tensor& block, int order) {
  const auto run = detail::with_long_runs(block);
  std::vector<CentralSums> sums(run.is_contiguous() ? 1 : static_cast<std::size_t>(detail::parts_for(run)));
  AT_DISPATCH_ALL_TYPES(run.scalar_type(), "moments", [&] {
    if (run.is_contiguous())
      return detail::central_sums(run.const_data_ptr<scalar_t>(), {.n = run.numel()}, order, sums.data());
    detail::in_rows_of_parts<scalar_t>(
        run, std::ssize(sums), [&](std::int64_t part, const scalar_t* data, auto rows, auto stride, auto width) {
          auto& out = sums[static_cast<std::size_t>(part)];
          if (rows == 1) detail::central_sums(data, {.n = width}, order, &out);
          else detail::central_sums_of_rows(data, {rows, stride, width}, order, &out);
        });
  });
  for (std::size_t part = 1; part < sums.size(); ++part) detail::merge_central_sums(sums[part], sums[0]);
  return sums[0];
}

/// Whether all elements of a block that does not lie in one run are reduced, e.g. a host's brick between ghost cells.
bool is_reduced_in_rows(const DNDarray& x, const detail::ReducedAxes& reduced) {
  const auto& block = detail::pending_block(x);
  return !detail::fused::is_pending(block) && block.dim() > 0 && std::ssize(reduced.axes) == block.dim() &&
         !block.is_non_overlapping_and_dense();
}

std::vector<CentralSums> sums_of_pieces(const detail::CachedPieces& pieces, int order) {
  const auto& view = pieces.view();
  std::vector<CentralSums> sums(static_cast<std::size_t>(view.extents.others()));
  AT_DISPATCH_ALL_TYPES(pieces.type(), "moments", [&] {
    pieces.each<scalar_t>([&](const scalar_t* data, const auto& extents, std::int64_t result) {
      detail::central_sums(data, extents, order, sums.data() + result);
    });
  });
  return restored_sums(view, std::move(sums));
}

/// Returns the sums of this rank's block.
std::vector<CentralSums> local_sums(const DNDarray& x, const at::Tensor& mask, const detail::ReducedAxes& reduced,
                                    int order) {
  const auto truths = mask.defined() ? reduced.counted(mask) : mask;
  if (detail::pending_block(x).is_cuda() && !reduced.axes.empty())
    if (const auto block = reduced.counted(x.larray()); block.numel() > 0)
      if (auto sums = sums_on_device(block, truths, reduced.axes, order); !sums.empty()) return sums;
  if (mask.defined()) return sums_where(reduced.counted(x.larray()), truths, reduced.axes, order);
  if (is_reduced_in_rows(x, reduced)) return {sums_of_rows(detail::readable(reduced.counted(x.larray())), order)};
  return sums_of_pieces(detail::cached_pieces(x, reduced), order);
}

Sums sums_of(const char* op, const DNDarray& array, const ReduceOptions& options, int order) {
  const auto reduced = detail::reduced_axes(op, array, options);
  const auto converted = options.dtype ? std::optional(array.astype(*options.dtype)) : std::nullopt;
  const auto& x = converted ? *converted : array;
  detail::check_real(op, x.dtype());
  if (options.initial) detail::raise<ValueError>(op, "got an initial value; expected none");
  if (options.reproducible && order > 1)
    detail::raise<ValueError>(op, "got reproducible = true; expected it of a sum or mean");
  Sums sums{.values = {},
            .layout = reduced.result_layout(x.layout()),
            .dtype = options.dtype.value_or(inexact_type(x.dtype())),
            .comm = x.comm(),
            .device = detail::pending_block(x).device()};
  const auto mask = options.where ? detail::mask_block(op, x, *options.where) : at::Tensor();
  sums.values = local_sums(x, mask, reduced, order);
  if (reduced.across)
    (order == 1 ? sum_across<2> : order == 2 ? sum_across<4> : sum_across<6>)(*reduced.across, sums.values);
  return sums;
}

double mean_of(const CentralSums& s) { return s.n > 0 ? s.mean : NAN; }
/// Returns the mean of whole numbers; their sum is whole, so rounding errors are removed.
double whole_mean_of(const CentralSums& s) { return std::nearbyint(s.mean * s.n) / s.n + 0.0; }  // -0 becomes 0
double var_of(const CentralSums& s) { return s.n > 0 ? s.m2 / s.n : NAN; }
double skew_of(const CentralSums& s) { return std::sqrt(s.n) * s.m3 / std::pow(s.m2, 1.5); }
double kurtosis_of(const CentralSums& s) { return s.n * s.m4 / (s.m2 * s.m2) - 3; }

/// Whether `x` is converted to the dtype that its mean is to have, because one of both is complex.
bool is_asked_as_complex(const DNDarray& x, const std::optional<Dtype>& dtype) {
  return dtype && *dtype != x.dtype() && (is_complex(x.dtype()) || is_complex(*dtype));
}

/// Complex numbers have a mean but no order, so the means of their parts are computed.
DNDarray mean_named(const char* op, const DNDarray& x, ReduceOptions options) {
  if (is_asked_as_complex(x, options.dtype)) return mean_named(op, x.astype(*options.dtype), options);
  const auto type = options.dtype.value_or(inexact_type(x.dtype()));
  if (detail::sums_exactly(x.comm(), type, options.reproducible))
    return detail::exact_mean(op, x.astype(type), options);
  if (!is_complex(x.dtype())) {
    const auto sums = sums_of(op, x, options, 1);
    if (is_integral(sums.dtype)) return sums.map([](const auto& s) { return std::trunc(whole_mean_of(s)); });
    return is_whole(x.dtype()) ? sums.map(whole_mean_of) : sums.map(mean_of);
  }
  if (options.dtype) options.dtype = real_type(*options.dtype);
  const auto re = mean_named(op, real(x), options), im = mean_named(op, imag(x), options);
  return detail::wrap(at::complex(re.larray(), im.larray()), re.layout(), x.comm());
}

/// Returns the sums of squares; those of complex numbers include both parts.
Sums squares_of(const char* op, const DNDarray& x, ReduceOptions options) {
  if (!is_complex(x.dtype())) return sums_of(op, x, options, 2);
  options.dtype = real_type(x.dtype());
  auto sums = sums_of(op, real(x), options, 2);
  const auto of_imag = sums_of(op, imag(x), options, 2);
  for (std::size_t i = 0; i < sums.values.size(); ++i) sums.values[i].m2 += of_imag.values[i].m2;
  return sums;
}

/// `of_few` divides the sum of squares if there are no more elements than ddof.
template <class F>
DNDarray spread(const char* op, const DNDarray& x, const VarOptions& options, double of_few, F f) {
  if (options.correction && options.ddof != 0)
    detail::raise<ValueError>(op, "got ddof {} and correction {}; expected one of both", options.ddof,
                              *options.correction);
  if (options.dtype && is_whole(*options.dtype))
    detail::raise<TypeError>(op, "got the dtype {} for the result; expected a floating-point or complex one",
                             name(*options.dtype));
  if (is_asked_as_complex(x, options.dtype)) return spread(op, x.astype(*options.dtype), options, of_few, f);
  const auto ddof = options.correction.value_or(options.ddof);
  const auto squares = squares_of(
      op, x, {.axis = options.axis, .dtype = options.dtype, .keepdims = options.keepdims, .where = options.where});
  const auto result = squares.map([=](const CentralSums& s) { return f(s.m2 / (s.n > ddof ? s.n - ddof : of_few)); });
  return options.dtype ? result.astype(*options.dtype) : result;
}

DNDarray variance(const char* op, const DNDarray& x, const VarOptions& options, double of_few) {
  return spread(op, x, options, of_few, [](double v) { return v; });
}

/// With no more elements than ddof, NumPy's var may be infinite, and its nanvar is NaN.
DNDarray variance_of_numbers(const char* op, const DNDarray& x, const VarOptions& options) {
  return variance(op, x, detail::beside_nan(op, x, options), detail::may_be_nan(x) ? NAN : 0);
}

}  // namespace

Moments moments(const DNDarray& x, const ReduceOptions& options) {
  const auto sums = sums_of("moments", x, options, 4);
  return {sums.map(mean_of), sums.map(var_of), sums.map(skew_of), sums.map(kurtosis_of)};
}

DNDarray mean(const DNDarray& x, const ReduceOptions& options) {
  if (!options.where) detail::check_axes("mean", x, options.axis);
  return mean_named("mean", x, options);
}
DNDarray nanmean(const DNDarray& x, const ReduceOptions& options) {
  return mean_named("nanmean", x, detail::beside_nan("nanmean", x, options));
}

DNDarray var(const DNDarray& x, const VarOptions& options) {
  if (!options.where) detail::check_axes("var", x, options.axis);
  return variance("var", x, options, 0);
}
DNDarray nanvar(const DNDarray& x, const VarOptions& options) { return variance_of_numbers("nanvar", x, options); }
DNDarray nanstd(const DNDarray& x, const VarOptions& options) {
  return sqrt(variance_of_numbers("nanstd", x, options));
}

DNDarray std(const DNDarray& x, const VarOptions& options) {
  if (!options.where) detail::check_axes("std", x, options.axis);
  return spread("std", x, options, 0, [](double v) { return std::sqrt(v); });
}

Average average_returned(const DNDarray& x, const AverageOptions& options) {
  detail::check_axes("average", x, options.axis);
  const ReduceOptions along{.axis = options.axis, .keepdims = options.keepdims};
  if (!options.weights) {
    const auto count = detail::reduced_axes("average", x, along).count;
    auto result = mean(x, along);
    auto counts = full_like(result, static_cast<double>(count));
    return {std::move(result), std::move(counts)};
  }
  const auto type = promote_types(inexact_type(x.dtype()), options.weights->dtype());
  const auto values = x.astype(type);
  const auto weights = detail::weights_along("average", values, options.weights->astype(type), options.axis);
  const bool whole = weights.shape() == x.shape();
  const auto total = whole ? sum(weights, along) : sum(weights);
  if (any(eq(total, 0)).item<bool>())
    detail::raise<ValueError>("average", "got weights that sum to 0; expected another sum");
  auto result = sum(values * weights, along) / total;
  auto totals = whole ? total : total * ones_like(result);
  return {std::move(result), std::move(totals)};
}

DNDarray average(const DNDarray& x, const AverageOptions& options) {
  return options.weights ? average_returned(x, options).average
                         : mean(x, {.axis = options.axis, .keepdims = options.keepdims});
}

DNDarray skew(const DNDarray& x, const ReduceOptions& options) { return sums_of("skew", x, options, 4).map(skew_of); }
DNDarray kurtosis(const DNDarray& x, const ReduceOptions& options) {
  return sums_of("kurtosis", x, options, 4).map(kurtosis_of);
}

}  // namespace heatpp
