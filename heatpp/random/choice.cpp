#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/detail/with_dtype.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/calculus/scan.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/selection/selection.hpp>
#include <heatpp/ops/shape/reshape.hpp>
#include <heatpp/ops/sorting/search.hpp>
#include <heatpp/ops/sorting/sort.hpp>
#include <heatpp/random/detail/bijection.hpp>
#include <heatpp/random/detail/sample.hpp>
#include <heatpp/random/generator.hpp>

namespace heatpp::random {
namespace {

using namespace detail;
using heatpp::detail::raise;
using heatpp::detail::wrap;

/// Returns `p` as float64, which must have at least `least` elements that are not 0.
DNDarray probabilities(std::int64_t n, std::int64_t least, const DNDarray& given) {
  const auto p = heatpp::detail::one_cut("choice", given);
  if (p.shape() != Shape{n})
    raise<ValueError>("choice", "got p of shape {} for {} elements; expected one each", to_string(p.shape()), n);
  heatpp::detail::check_real("choice", p.dtype(), "p");
  auto block = p.larray().to(at::kDouble);
  std::array<double, 3> sums{};  // the sum, the number of non-zeros, the number of wrong ones
  if (block.numel() > 0)
    sums = {block.sum().item<double>(), (block > 0).sum().item<double>(),
            (block >= 0).logical_not().sum().item<double>()};
  if (p.split()) p.comm().allreduce(sums);
  // The rounding error of the sum in the dtype of p.
  const double tolerance = std::sqrt(finfo(is_floating(p.dtype()) ? p.dtype() : float64).eps);
  if (sums[2] > 0 || !(std::abs(sums[0] - 1) <= tolerance))
    raise<ValueError>("choice", "got p with {} negative or NaN and sum {}; expected numbers >= 0 with sum 1", sums[2],
                      sums[0]);
  if (sums[1] < static_cast<double>(least))
    raise<ValueError>("choice", "got p with {} elements other than 0; expected at least {} to choose", sums[1], least);
  return wrap(std::move(block), p.layout(), p.comm());
}

/// Returns the first elements of a permutation, in the shape and layout of the target.
DNDarray start_of(const Target& target, const Bijection& permutation) {
  auto block = at::empty(target.local_shape(), at::kLong);
  auto* out = block.data_ptr<std::int64_t>();
  for_each_run(target.layout, target.comm.rank(), [&](std::int64_t global, std::int64_t local, std::int64_t run) {
    permutation.at(global, run, out + local);
  });
  return target.wrap(std::move(block));
}

/// Finds random numbers among the running sums of the weights, which are whole numbers here. Their sums do not depend
/// on the order, so all layouts choose the same elements.
DNDarray weighted(Generator& generator, const DNDarray& p, const Target& target, const ArrayOptions& stored) {
  const auto weights = wrap((p.larray() * 0x1p60).to(at::kLong), p.layout(), p.comm());
  const auto total = sum(weights).item<std::int64_t>();
  const auto u = generator.random(target.layout.shape(), heatpp::detail::with_dtype(stored, float64));
  const auto drawn = (u.larray() * static_cast<double>(total)).to(at::kLong).clamp_max_(total - 1);
  const auto found = searchsorted(cumsum(weights), wrap(drawn, u.layout(), u.comm()), {.side = Side::right});
  return target.wrap(heatpp::detail::relayout(found, target.layout));
}

/// Takes the first of exponential waiting times with the weights as rates: Efraimidis, Spirakis (2006).
DNDarray weighted_without_replacement(Generator& generator, const DNDarray& p, const Target& target) {
  const auto means = wrap(p.larray().reciprocal(), p.layout(), p.comm());
  const auto times = generator.exponential(means, {}, {.dtype = float64});
  const auto first = topk(times, target.layout.size(), {.largest = false}).indices;
  return target.wrap(heatpp::detail::relayout(reshape(first, target.layout.shape()), target.layout).contiguous());
}

}  // namespace

DNDarray Generator::choice(std::int64_t n, const Shape& shape, const ChoiceOptions& options) {
  const auto count = size_of(shape);
  if ((n <= 0 && count > 0) || (!options.replace && count > n))
    raise<ValueError>("choice", "got {} elements to choose from for shape {}, replace {}; expected enough", n,
                      to_string(shape), options.replace);
  if (options.p && options.comm) heatpp::detail::check_same_comm("choice", *options.comm, options.p->comm());
  const auto comm = options.p ? options.p->comm() : options.comm;
  const ArrayOptions stored{.dtype = int64, .split = options.split, .grid = options.grid, .comm = comm};
  const auto target = target_of("choice", {}, shape, stored, int64);
  const auto p = options.p ? std::optional(probabilities(n, options.replace ? 1 : count, *options.p)) : std::nullopt;
  if (count == 0) return empty(shape, stored);
  if (p) return options.replace ? weighted(*this, *p, target, stored) : weighted_without_replacement(*this, *p, target);
  if (options.replace) return integers(0, n, shape, stored);
  const auto [key, counter] = reserve(target.comm, 1);
  return start_of(target, Bijection(Key(key), counter, n));
}

DNDarray Generator::choice(const DNDarray& x, const Shape& shape, const ChoiceOptions& options) {
  if (x.ndim() == 0) raise<ValueError>("choice", "got an array without axes; expected at least one");
  const auto axis = sanitize_axis(options.axis, x.ndim(), "choice");
  auto from_x = options;
  if (options.comm) heatpp::detail::check_same_comm("choice", x.comm(), *options.comm);
  from_x.comm = x.comm();
  return take(x, choice(x.shape()[static_cast<std::size_t>(axis)], shape, from_x), axis);
}

}  // namespace heatpp::random
