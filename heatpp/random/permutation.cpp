#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/ownership.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/detail/route.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/operands/detail/align.hpp>
#include <heatpp/ops/operands/detail/origin.hpp>
#include <heatpp/ops/selection/selection.hpp>
#include <heatpp/ops/shape/reshape.hpp>
#include <heatpp/ops/sorting/detail/runs.hpp>
#include <heatpp/ops/sorting/sort.hpp>
#include <heatpp/random/detail/bijection.hpp>
#include <heatpp/random/detail/sample.hpp>
#include <heatpp/random/generator.hpp>

namespace heatpp::random {
namespace {

using namespace detail;
using heatpp::detail::raise;
using heatpp::detail::wrap;

Bijection next_bijection(Generator& generator, const Communicator& comm, std::int64_t n) {
  const auto [key, counter] = generator.reserve(comm, 1);
  return {Key(key), counter, n};
}

/// Returns permutation(first), permutation(first + 1), ..., or their inverses.
at::Tensor values(std::int64_t first, std::int64_t count, const Bijection& permutation, bool inverse = false) {
  auto result = at::empty({count}, at::kLong);
  auto* out = result.data_ptr<std::int64_t>();
  constexpr std::int64_t worthwhile = 4096;
  at::parallel_for(0, count, worthwhile, [&](std::int64_t begin, std::int64_t end) {
    if (inverse) permutation.inverse_at(first + begin, end - begin, out + begin);
    else permutation.at(first + begin, end - begin, out + begin);
  });
  return result;
}

/// Writes the places of `targets` in their order to their memory. Returns how many of them each rank holds.
template <class Word>
std::vector<heatpp::detail::RowsOfRank> put_in_order(const at::Tensor& targets, const Layout& layout) {
  using Indexed = heatpp::detail::Indexed<Word>;
  auto* const target = targets.mutable_data_ptr<std::int64_t>();
  heatpp::detail::Rows<Word> words(targets.numel());
  for (std::int64_t i = 0; i < words.size(); ++i) words[i] = Indexed::of(target[i], i);
  heatpp::detail::sort_keys(words.data(), words.size());
  std::ranges::transform(words, target, Indexed::position);
  std::vector<heatpp::detail::RowsOfRank> counts;
  const auto* first = words.data();
  for (int r = 0; r < layout.ranks(); ++r) {
    const auto* last = std::lower_bound(first, std::as_const(words).end(), Indexed::of(layout.offset(r + 1), 0));
    if (last > first) counts.push_back({r, last - first});
    first = last;
  }
  return counts;
}

/// Returns rows of this rank's new block; row i is row permutation(i) of the array. `rows` is the old block. They are
/// sorted by destination, so that the receiver knows their order without a message.
at::Tensor exchanged(const at::Tensor& rows, const Layout& layout, const Communicator& comm,
                     const Bijection& permutation) {
  const auto first = layout.offset(comm.rank()), count = layout.count(comm.rank());
  auto order = values(first, count, permutation, true);
  const bool narrow = layout.offset(layout.ranks()) >> 32 == 0;
  auto asked =
      narrow ? put_in_order<std::uint64_t>(order, layout) : put_in_order<heatpp::detail::Key128>(order, layout);
  const auto outgoing = rows.index_select(0, order);
  order.reset();  // the places need its memory
  const auto owners = heatpp::detail::owners_of(values(first, count, permutation), layout.cut());
  return heatpp::detail::route_to(owners, comm, std::move(asked)).back(outgoing);
}

at::Tensor permuted_block(const DNDarray& x, int axis, const Bijection& permutation) {
  const auto device = x.larray().device();
  if (x.split() != axis || x.comm().size() == 1) {
    const auto n = x.shape()[static_cast<std::size_t>(axis)];
    return x.larray().index_select(axis, values(0, n, permutation).to(device));
  }
  const auto rows = x.larray().cpu().movedim(axis, 0).contiguous();
  return exchanged(rows, x.layout(), x.comm(), permutation).movedim(0, axis).contiguous().to(device);
}

}  // namespace

DNDarray Generator::permutation(std::int64_t n, const ArrayOptions& options) {
  if (n < 0) raise<ValueError>("permutation", "got n {}; expected n >= 0", n);
  const auto target = target_of("permutation", {}, {n}, options, int64);
  if (is_integral(target.dtype) && n - 1 > iinfo(target.dtype).max)
    raise<ValueError>("permutation", "got n {} for {}; expected a dtype that holds n - 1", n, name(target.dtype));
  const auto bijection = next_bijection(*this, target.comm, n);
  const auto first = target.layout.split() ? target.layout.offset(target.comm.rank()) : 0;
  return target.wrap(values(first, target.local_shape()[0], bijection));
}

DNDarray Generator::permutation(const DNDarray& array, int axis) {
  axis = sanitize_axis(axis, array.ndim(), "permutation");
  const auto x = heatpp::detail::one_cut("permutation", array);
  const auto bijection = next_bijection(*this, x.comm(), x.shape()[static_cast<std::size_t>(axis)]);
  return wrap(permuted_block(x, axis, bijection), x.layout(), x.comm());
}

DNDarray Generator::permuted(const DNDarray& array, std::optional<int> axis) {
  if (!axis) return reshape(permutation(flatten(array)), array.shape());
  const auto x = heatpp::detail::one_cut("permuted", array);
  const auto along = sanitize_axis(*axis, x.ndim(), "permuted");
  const auto keys = random(x.shape(), {.dtype = float64, .split = x.split(), .device = x.device(), .comm = x.comm()});
  return take_along_axis(x, argsort(keys, along), along);
}

void Generator::shuffle(DNDarray& x, int axis) {
  axis = sanitize_axis(axis, x.ndim(), "shuffle");
  heatpp::detail::own("shuffle", x);
  if (x.layout().is_grid()) {
    const auto shuffled = permutation(x, axis);
    x.larray().copy_(heatpp::detail::relayout(shuffled, x.layout()));
    return;
  }
  x.larray().copy_(permuted_block(x, axis, next_bijection(*this, x.comm(), x.shape()[static_cast<std::size_t>(axis)])));
}

void Generator::shuffle(Selection&& x, int axis) {
  heatpp::detail::changed(std::move(x), [&](DNDarray& part) { shuffle(part, axis); });
}

}  // namespace heatpp::random
