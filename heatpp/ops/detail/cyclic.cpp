#include <heatpp/core/detail/route.hpp>
#include <heatpp/ops/detail/along.hpp>
#include <heatpp/ops/detail/cyclic.hpp>

#include <algorithm>
#include <array>
#include <numeric>

namespace heatpp::detail {
namespace {

struct Range {
  std::int64_t first = 0, last = 0;
  [[nodiscard]] std::int64_t size() const { return std::max<std::int64_t>(0, last - first); }
};

Range common(const Range& a, const Range& b) { return {std::max(a.first, b.first), std::min(a.last, b.last)}; }

/// The indices that `count` ones from `start` on mean, each once.
std::array<Range, 2> wanted(std::int64_t start, std::int64_t count, std::int64_t extent) {
  const auto first = start % extent, last = first + std::min(count, extent);
  return {Range{first, std::min(last, extent)}, Range{0, last - extent}};
}

/// The indices of `block` along an axis from `first` on, and over and over, until there are `count`.
at::Tensor repeated(const at::Tensor& block, int axis, std::int64_t first, std::int64_t count) {
  std::vector<at::Tensor> parts{block.narrow(axis, 0, 0)};
  while (count > 0) {
    parts.push_back(block.narrow(axis, first, std::min(block.size(axis) - first, count)));
    count -= parts.back().size(axis);
    first = 0;
  }
  return at::cat(parts, axis);
}

/// This rank's rows of the result, its own ones from where they are.
at::Tensor exchanged(const at::Tensor& rows, const Layout& from, std::int64_t start, const Layout& target,
                     const Communicator& comm) {
  const auto extent = from.shape()[static_cast<std::size_t>(*from.split())];
  const auto me = comm.rank();
  const auto rows_of = [&](int rank) { return Range{from.offset(rank), from.offset(rank) + from.count(rank)}; };
  const auto wanted_by = [&](int rank) { return wanted(start + target.offset(rank), target.count(rank), extent); };
  const auto own = [&](const Range& range) {
    const auto part = common(rows_of(me), range);
    return rows.narrow(0, part.size() > 0 ? part.first - from.offset(me) : 0, part.size());
  };
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<at::Tensor> outgoing{rows.narrow(0, 0, 0)};
  std::vector<std::int64_t> send(ranks), receive(ranks), next(ranks);
  for (int r = 0; r < comm.size(); ++r) {
    if (r == me) continue;
    const auto at_rank = static_cast<std::size_t>(r);
    for (const auto& range : wanted_by(r)) {
      outgoing.push_back(own(range));
      send[at_rank] += outgoing.back().size(0);
    }
    for (const auto& range : wanted_by(me)) receive[at_rank] += common(rows_of(r), range).size();
  }
  const auto arrived = exchange_rows(at::cat(outgoing), send, receive, comm);
  std::exclusive_scan(receive.begin(), receive.end(), next.begin(), std::int64_t{0});
  std::vector<at::Tensor> parts{arrived.narrow(0, 0, 0)};
  for (const auto& range : wanted_by(me))
    for (int r = 0; r < comm.size(); ++r) {
      auto& first = next[static_cast<std::size_t>(r)];
      const auto size = common(rows_of(r), range).size();
      parts.push_back(r == me ? own(range) : arrived.narrow(0, first, size));
      if (r != me) first += size;
    }
  const auto once = at::cat(parts);
  const auto count = target.count(me);
  return once.size(0) == count ? once : repeated(once, 0, 0, count);
}

}  // namespace

DNDarray cyclic(const DNDarray& x, int axis, std::int64_t start, const Layout& target) {
  const auto extent = extent_of(x, axis);
  if (extent == 0) return wrap(x.larray().new_empty(target.local_shape(x.comm().rank())), target, x.comm());
  if (x.split() != axis) {
    const auto count = target.shape()[static_cast<std::size_t>(axis)];
    return wrap(repeated(x.larray(), axis, start % extent, count), target, x.comm());
  }
  const auto rows = x.larray().movedim(axis, 0).cpu().contiguous();
  const auto result = exchanged(rows, x.layout(), start, target, x.comm());
  return wrap(result.movedim(0, axis).contiguous().to(x.larray().device()), target, x.comm());
}

}  // namespace heatpp::detail
