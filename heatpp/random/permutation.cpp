#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/route.hpp>
#include <heatpp/ops/detail/align.hpp>
#include <heatpp/ops/reshape.hpp>
#include <heatpp/ops/selection.hpp>
#include <heatpp/ops/sort.hpp>
#include <heatpp/random/detail/bijection.hpp>
#include <heatpp/random/detail/sample.hpp>
#include <heatpp/random/generator.hpp>

namespace heatpp::random {
namespace {

using namespace detail;
using heatpp::detail::raise;
using heatpp::detail::wrap;

Bijection next_bijection(Generator& generator, std::int64_t n) {
  return {Key(generator.get_state().key), generator.reserve(1), n};
}

/// f(first), f(first + 1), ... as int64.
template <class F>
at::Tensor values(std::int64_t first, std::int64_t count, F f) {
  auto result = at::empty({count}, at::kLong);
  auto* out = result.data_ptr<std::int64_t>();
  constexpr std::int64_t worthwhile = 4096;
  at::parallel_for(0, count, worthwhile, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) out[i] = f(first + i);
  });
  return result;
}

/// Rows of this rank's new block, the i-th of which is row permutation(i) of the array; `rows` is the old block. Sorted
/// by where they go, so that the receiver knows their order without being told.
at::Tensor exchanged(const at::Tensor& rows, const Layout& layout, const Communicator& comm,
                     const Bijection& permutation) {
  const auto first = layout.offset(comm.rank()), count = layout.count(comm.rank());
  const auto [target, order] = at::sort(values(first, count, [&](auto i) { return permutation.inverse(i); }));
  std::vector<std::int64_t> send(static_cast<std::size_t>(comm.size())), receive(send), next(send);
  for (const auto* i = target.const_data_ptr<std::int64_t>(); i != target.const_data_ptr<std::int64_t>() + count; ++i)
    ++send[static_cast<std::size_t>(layout.owner(*i))];
  auto place = values(first, count, [&](auto i) { return std::int64_t{layout.owner(permutation(i))}; });
  const std::span source(place.data_ptr<std::int64_t>(), static_cast<std::size_t>(count));
  for (const auto rank : source) ++receive[static_cast<std::size_t>(rank)];
  std::exclusive_scan(receive.begin(), receive.end(), next.begin(), std::int64_t{0});
  for (auto& rank : source) rank = next[static_cast<std::size_t>(rank)]++;
  const auto arrived = heatpp::detail::exchange_rows(rows.index_select(0, order), send, receive, comm);
  return arrived.index_select(0, place);
}

at::Tensor permuted_block(const DNDarray& x, int axis, const Bijection& permutation) {
  if (x.split() != axis || x.comm().size() == 1) {
    const auto n = x.shape()[static_cast<std::size_t>(axis)];
    return x.larray().index_select(axis, values(0, n, permutation));
  }
  const auto rows = x.larray().movedim(axis, 0).contiguous();
  return exchanged(rows, x.layout(), x.comm(), permutation).movedim(0, axis).contiguous();
}

}  // namespace

DNDarray Generator::permutation(std::int64_t n, const ArrayOptions& options) {
  if (n < 0) raise<ValueError>("permutation", "got n {}; expected n >= 0", n);
  const auto target = target_of("permutation", {}, {n}, options, int64);
  const auto bijection = next_bijection(*this, n);
  const auto first = target.layout.split() ? target.layout.offset(target.comm.rank()) : 0;
  return target.wrap(values(first, target.local_shape()[0], bijection));
}

DNDarray Generator::permutation(const DNDarray& x, int axis) {
  axis = sanitize_axis(axis, x.ndim(), "permutation");
  const auto bijection = next_bijection(*this, x.shape()[static_cast<std::size_t>(axis)]);
  return wrap(permuted_block(x, axis, bijection), x.layout(), x.comm());
}

DNDarray Generator::permuted(const DNDarray& x, std::optional<int> axis) {
  if (!axis) return reshape(permutation(flatten(x)), x.shape());
  const auto along = sanitize_axis(*axis, x.ndim(), "permuted");
  const auto keys = random(x.shape(), {.dtype = float64, .split = x.split(), .device = x.device(), .comm = x.comm()});
  return take_along_axis(x, argsort(keys, along), along);
}

void Generator::shuffle(const DNDarray& x, int axis) {
  heatpp::detail::check_writable("shuffle", x);
  axis = sanitize_axis(axis, x.ndim(), "shuffle");
  x.larray().copy_(permuted_block(x, axis, next_bijection(*this, x.shape()[static_cast<std::size_t>(axis)])));
}

}  // namespace heatpp::random
