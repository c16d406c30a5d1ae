#include <heatpp/ops/statistics/detail/bins.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/allocated.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/operands/detail/bisect.hpp>
#include <heatpp/ops/operands/detail/in_rows.hpp>
#include <heatpp/ops/sorting/detail/keys.hpp>

#include <algorithm>
#include <c10/util/TypeCast.h>
#include <cmath>

namespace heatpp::detail {
namespace {

/// Finds the bin of a value; the last bin includes both its edges.
template <class T>
class Finder {
 public:
  Finder(const T* edges, const Bins& bins)
      : brackets_(edges, bins.count() + 1), last_(bins.count() - 1), low_(edges[0]), high_(edges[bins.count()]) {}

  [[nodiscard]] std::int64_t operator()(T value) const {
    if (!(value >= low_ && value <= high_)) return -1;
    return value == high_ ? last_ : brackets_(value);
  }

 private:
  Brackets<T> brackets_;
  std::int64_t last_;
  T low_, high_;
};

/// Calls f(i, find(element i)) for each element, converted to N.
template <class T, class N, class Find, class F>
void find_each(const at::Tensor& block, const Find& find, F f) {
  std::int64_t place = 0;
  in_rows<T>(block, [&](const T* data, std::int64_t rows, std::int64_t stride, std::int64_t width) {
    for (std::int64_t row = 0; row < rows; ++row, data += stride)
      for (std::int64_t i = 0; i < width; ++i) f(place++, find(static_cast<N>(data[i])));
  });
}

/// Calls f(i, the number of its bin) for each element of a block; i is its place if the block is contiguous. int64 is
/// compared with whole edges as int64.
template <class F>
void for_each_bin(const at::Tensor& block, const Bins& bins, F f) {
  if (!bins.even && block.scalar_type() == at::kLong && is_whole(bins.array.dtype())) {
    const auto edges = bins.array.larray().to(at::kCPU, at::kLong).contiguous();
    const Finder find(edges.const_data_ptr<std::int64_t>(), bins);
    return find_each<std::int64_t, std::int64_t>(block, find, f);
  }
  const Finder find(bins.edges.data(), bins);
  AT_DISPATCH_ALL_TYPES_AND3(at::kBool, at::kHalf, at::kBFloat16, block.scalar_type(), "histogram",
                             [&] { find_each<scalar_t, double>(block, find, f); });
}

/// Does NumPy's linspace, which computes in the type of its ends.
template <class T>
void write_even_edges(const Range& range, std::int64_t count, double* edges) {
  const auto first = c10::convert<T>(range.first), last = c10::convert<T>(range.second);
  const T step = (last - first) / c10::convert<T>(count);
  for (std::int64_t i = 0; i < count; ++i) {
    const T product = c10::convert<T>(i) * step;
    edges[i] = static_cast<double>(product + first);
  }
  edges[count] = static_cast<double>(last);
}

Bins even_bins(const char* op, const BinsWanted& wanted, Range range, const DNDarray& like) {
  auto [first, last] = range;
  if (!std::isfinite(first) || !std::isfinite(last) || first > last)
    raise<ValueError>(op, "got the range {} to {}; expected finite numbers that do not fall",
                      std::isnan(first) ? NAN : first, std::isnan(last) ? NAN : last);
  if (first == last) {
    first -= 0.5;
    last += 0.5;
  }
  const auto type = wanted.range ? float64 : wanted.dtype;
  const auto write_edges = type == float64   ? write_even_edges<double>
                           : type == float16 ? write_even_edges<at::Half>
                                             : write_even_edges<float>;
  const auto layout = like.layout().replicated({wanted.count + 1});
  const auto exact =
      allocated(op, layout, at::kDouble, like.comm(), [&] { return at::empty(layout.shape(), at::kDouble); });
  write_edges({first, last}, wanted.count, exact.mutable_data_ptr<double>());
  const auto array = exact.to(to_torch(wanted.dtype)), rounded = array.to(at::kDouble);
  const auto* edges = rounded.const_data_ptr<double>();
  return {{edges, edges + rounded.numel()}, true, wrap(array.to(like.larray().device()), layout, like.comm())};
}

Bins given_bins(const char* op, const DNDarray& given) {
  if (given.ndim() != 1 || given.size() < 1 || is_complex(given.dtype()))
    raise<ValueError>(op, "got edges of shape {} and dtype {}; expected one axis and at least one real number",
                      to_string(given.shape()), name(given.dtype()));
  auto array = given.layout().is_cut() ? resplit(given, std::nullopt) : given;
  const auto numbers = array.larray().to(at::kCPU, at::kDouble).contiguous();
  std::vector<double> edges(numbers.const_data_ptr<double>(), numbers.const_data_ptr<double>() + numbers.numel());
  const auto& exact = array.larray();
  if ((exact.slice(0, 0, -1) > exact.slice(0, 1)).any().item<bool>())
    raise<ValueError>(op, "got edges that fall; expected rising ones");
  return {std::move(edges), false, std::move(array)};
}

/// Returns the smallest and the largest element. at::aminmax copies a block that is not contiguous.
std::pair<at::Tensor, at::Tensor> ends_of(const at::Tensor& block) {
  if (!block.is_contiguous()) return {at::amin(block), at::amax(block)};
  auto [low, high] = at::aminmax(block);
  return {std::move(low), std::move(high)};
}

/// Finds the smallest and largest element of each column that needs them, over all ranks.
std::vector<Range> extremes(std::span<const at::Tensor> columns, std::span<const BinsWanted> wanted,
                            const DNDarray& like) {
  std::vector<double> ends;  // the smallest, and the largest with its sign reversed
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const bool needed = !wanted[c].range && !wanted[c].edges && columns[c].numel() > 0;
    const auto [low, high] = needed ? ends_of(columns[c]) : std::pair(at::Tensor(), at::Tensor());
    ends.push_back(needed ? low.item<double>() : INFINITY);
    ends.push_back(needed ? -high.item<double>() : INFINITY);
  }
  const bool any = std::ranges::any_of(wanted, [](const auto& w) { return !w.range && !w.edges; });
  if (any && like.layout().is_cut()) like.comm().allreduce(ends, ReduceOp::min);
  std::vector<Range> ranges;
  for (std::size_t c = 0; c < columns.size(); ++c)
    ranges.emplace_back(like.size() > 0 ? Range{ends[2 * c], -ends[2 * c + 1]} : Range{0, 1});
  return ranges;
}

}  // namespace

std::vector<Bins> make_bins(const char* op, std::span<const at::Tensor> columns, std::span<const BinsWanted> wanted,
                            const DNDarray& like) {
  for (const auto& w : wanted) {
    if (w.edges) check_same_comm(op, like.comm(), w.edges->comm());
    if (w.count < 1 || w.count >= std::numeric_limits<std::int64_t>::max() / 16)
      raise<ValueError>(op, "got {} bins; expected at least one, and as many as there is memory for", w.count);
  }
  const auto found = extremes(columns, wanted, like);
  std::vector<Bins> bins;
  for (std::size_t c = 0; c < columns.size(); ++c)
    bins.push_back(wanted[c].edges ? given_bins(op, *wanted[c].edges)
                                   : even_bins(op, wanted[c], wanted[c].range.value_or(found[c]), like));
  return bins;
}

at::Tensor bin_numbers(const at::Tensor& block, const Bins& bins) {
  auto numbers = at::empty({block.numel()}, at::kLong);
  auto* out = numbers.data_ptr<std::int64_t>();
  for_each_bin(block, bins, [&](std::int64_t i, std::int64_t number) { out[i] = number; });
  return numbers;
}

at::Tensor bin_counts(const at::Tensor& block, const Bins& bins) {
  auto counts = at::zeros({bins.count() + 1}, at::kLong);
  auto* out = counts.data_ptr<std::int64_t>() + 1;
  for_each_bin(block, bins, [&](std::int64_t, std::int64_t number) { ++out[number]; });
  return counts.narrow(0, 1, bins.count());
}

}  // namespace heatpp::detail
