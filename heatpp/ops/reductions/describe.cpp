#include <heatpp/ops/reductions/describe.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/operands/detail/align_pending.hpp>
#include <heatpp/ops/reductions/detail/central_sums.hpp>
#include <heatpp/ops/reductions/detail/extremes.hpp>
#include <heatpp/ops/reductions/detail/first_extremum.hpp>
#include <heatpp/ops/reductions/detail/cached/pieces.hpp>
#include <heatpp/ops/reductions/detail/reduced.hpp>
#include <heatpp/ops/reductions/moments.hpp>
#include <heatpp/ops/reductions/reduce.hpp>

#include <ATen/Dispatch.h>
#include <cmath>

namespace heatpp {
namespace {

using detail::Around;
using detail::CentralSums;
using detail::Extremes;

/// What ranks tell each other of one result; W holds all values of the elements' type.
template <class W>
struct Seen {
  double n, mean, low, m2;
  Extremes<W> ends;
};

template <class W>
void merge_seen(const void* in, void* inout, std::int64_t n) {
  const auto* a = static_cast<const Seen<W>*>(in);
  auto* b = static_cast<Seen<W>*>(inout);
  for (std::int64_t i = 0; i < n; ++i) {
    CentralSums sums{b[i].n, b[i].mean, b[i].low, b[i].m2};
    detail::merge_central_sums({a[i].n, a[i].mean, a[i].low, a[i].m2}, sums);
    b[i].ends.add(a[i].ends);
    b[i] = {sums.n, sums.mean, sums.low, sums.m2, b[i].ends};
  }
}

template <class T, class W = detail::Wide<T>>
std::vector<Seen<W>> seen_in(const detail::CachedPieces& pieces) {
  const auto& view = pieces.view();
  const auto results = static_cast<std::size_t>(view.extents.others());
  std::vector<CentralSums> sums(results);
  std::vector<Extremes<T>> ends(results);
  pieces.each<T>([&](const T* data, const Around& extents, std::int64_t result) {
    detail::central_sums(data, extents, 2, sums.data() + result);
    detail::add_extremes(data, extents, ends.data() + result);
  });
  std::vector<Seen<W>> seen;
  for (std::size_t i = 0; i < results; ++i)
    seen.push_back({sums[i].n, sums[i].mean, sums[i].low, sums[i].m2,
                    sums[i].n > 0 ? Extremes<W>{ends[i].least, ends[i].most} : Extremes<W>{}});
  return view.order.restored(std::move(seen), view.kept);
}

/// Makes the four results of this rank's part of the layout.
class Results {
 public:
  Results(const DNDarray& x, const Layout& layout) : x_(&x), layout_(&layout) {}

  template <class W, class F>
  [[nodiscard]] DNDarray map(const std::vector<Seen<W>>& seen, Dtype dtype, F f) const {
    using R = std::invoke_result_t<F, const Seen<W>&>;
    auto block = at::empty(layout_->local_shape(x_->comm().rank()), c10::CppTypeToScalarType<R>::value);
    std::ranges::transform(seen, block.template data_ptr<R>(), f);
    return detail::wrap(block.to(detail::to_torch(dtype)), *layout_, x_->comm());
  }

 private:
  const DNDarray* x_;
  const Layout* layout_;
};

template <class T, class W = detail::Wide<T>>
Description described(const DNDarray& x, const detail::ReducedAxes& reduced, double ddof) {
  auto seen = seen_in<T>(detail::cached_pieces(x, reduced));
  if (reduced.across) reduced.across->allreduce_records(seen.data(), std::ssize(seen), sizeof(Seen<W>), &merge_seen<W>);
  const auto layout = reduced.result_layout(x.layout());
  const Results results(x, layout);
  const auto inexact = inexact_type(x.dtype());
  // The sum of whole numbers is whole, so rounding errors are removed; -0 becomes 0.
  const auto mean_of = [](const Seen<W>& s) {
    return std::is_integral_v<T> ? std::nearbyint(s.mean * s.n) / s.n + 0.0 : s.mean;
  };
  return {reduced.count, results.map(seen, inexact, mean_of),
          results.map(seen, inexact, [=](const Seen<W>& s) { return std::sqrt(s.m2 / (s.n > ddof ? s.n - ddof : 0)); }),
          results.map(seen, x.dtype(), [](const Seen<W>& s) { return s.ends.least; }),
          results.map(seen, x.dtype(), [](const Seen<W>& s) { return s.ends.most; })};
}

}  // namespace

Description describe(const DNDarray& x, const DescribeOptions& options) {
  const auto reduced = detail::reduced_axes("describe", x, {.axis = options.axis, .keepdims = options.keepdims});
  detail::check_real("describe", x.dtype());
  if (reduced.count == 0)
    detail::raise<ValueError>("describe",
                              "got an array of shape {} with nothing to reduce; expected at least one element",
                              to_string(x.shape()));
  if (detail::pending_block(x).is_cuda()) {
    const ReduceOptions along{.axis = options.axis, .keepdims = options.keepdims};
    return {reduced.count, mean(x, along),
            std(x, {.axis = options.axis, .ddof = options.ddof, .keepdims = options.keepdims}), min(x, along),
            max(x, along)};
  }
  const auto read = detail::readable(at::empty({0}, detail::pending_block(x).options())).scalar_type();
  return AT_DISPATCH_ALL_TYPES(read, "describe", [&] { return described<scalar_t>(x, reduced, options.ddof); });
}

}  // namespace heatpp
