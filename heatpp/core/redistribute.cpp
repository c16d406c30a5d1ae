#include <heatpp/core/redistribute.hpp>

#include <heatpp/comm/detail/failure.hpp>
#include <heatpp/comm/detail/hash.hpp>
#include <heatpp/comm/detail/progress/exchange.hpp>
#include <heatpp/comm/detail/progress/fingerprint.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/alike.hpp>
#include <heatpp/core/detail/allocated.hpp>
#include <heatpp/core/detail/cuts/boxes.hpp>
#include <heatpp/core/detail/cuts/count_runs.hpp>
#include <heatpp/core/detail/cuts/node_cells.hpp>
#include <heatpp/core/detail/cuts/ranks_over.hpp>
#include <heatpp/core/detail/cuts/relayout_boxes.hpp>
#include <heatpp/core/detail/peers/axis_block.hpp>
#include <heatpp/core/detail/peers/whole_by_sum.hpp>
#include <heatpp/core/detail/relayout.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <numeric>

namespace heatpp {
namespace {

std::atomic<Redistribution> policy{Redistribution::allow};
std::atomic<std::int64_t> moved_operands{0}, moved_bytes{0};

struct Range {
  std::int64_t first = 0, last = 0;
  [[nodiscard]] std::int64_t count() const { return std::max<std::int64_t>(0, last - first); }
};

Range range_of(const Layout& layout, int rank) { return {layout.offset(rank), layout.offset(rank + 1)}; }
Range overlap(Range a, Range b) { return {std::max(a.first, b.first), std::min(a.last, b.last)}; }

/// Returns what `me` sends to `peer`, and along which axis of its block.
std::pair<int, Range> outgoing(const Layout& from, const Layout& to, int me, int peer) {
  const auto mine = range_of(from, me);
  if (!to.split()) return {*from.split(), {0, mine.count()}};
  if (to.split() != from.split()) return {*to.split(), range_of(to, peer)};
  const auto both = overlap(mine, range_of(to, peer));
  return {*from.split(), {both.first - mine.first, both.last - mine.first}};
}

/// Returns what `me` receives from `peer`, and along which axis of its new block.
std::pair<int, Range> incoming(const Layout& from, const Layout& to, int me, int peer) {
  const auto theirs = range_of(from, peer);
  if (to.split() != from.split()) return {*from.split(), theirs};
  const auto mine = range_of(to, me);
  const auto both = overlap(theirs, mine);
  return {*from.split(), {both.first - mine.first, both.last - mine.first}};
}

/// Returns the ranks that hold a part of `range` if both cuts are along one axis, else all.
detail::RankRange peers_over(const Layout& layout, bool along, Range range) {
  if (!along) return {0, layout.ranks()};
  return detail::ranks_over(layout.cut(), range.first, range.last);
}

/// Returns the bytes that the busiest rank holds before or afterwards.
std::int64_t most_bytes(const Layout& from, const Layout& to, std::int64_t each) {
  std::int64_t most = 0;
  for (const auto* layout : {&from, &to}) {
    if (!layout->split()) return from.size() * each;
    const auto& cut = layout->cut();
    most =
        std::max(most, detail::most_indices(cut) * (layout->size() / std::max<std::int64_t>(1, cut.extent())) * each);
  }
  return most;
}

at::Tensor exchange_blocks(const at::Tensor& source, const Layout& from, const Layout& to, const Communicator& comm) {
  const auto local = source.contiguous();
  auto result = detail::allocated("resplit", to, local.options(), comm,
                                  [&] { return at::empty(to.local_shape(comm.rank()), local.options()); });
  const auto me = comm.rank();
  const bool along = from.split() == to.split();
  detail::Sends send;
  const auto takers = peers_over(to, along, range_of(from, me));
  for (auto peer = takers.first; peer < takers.last; ++peer) {
    const auto [axis, range] = outgoing(from, to, me, peer);
    send.push_back({peer, detail::axis_block<const std::byte>(local, axis, range.first, range.count())});
  }
  detail::Receives receive;
  const auto givers = peers_over(from, along, along ? range_of(to, me) : Range{});
  for (auto peer = givers.first; peer < givers.last; ++peer) {
    const auto [axis, range] = incoming(from, to, me, peer);
    receive.push_back({peer, detail::axis_block<std::byte>(result, axis, range.first, range.count())});
  }
  detail::expect_alike(comm, "resplit", [&] {
    return detail::formatted("{} {} to {}", name(detail::from_torch(local.scalar_type())), detail::layout_text(from),
                             detail::layout_text(to));
  });
  if (along) detail::exchange_with(comm, std::move(send), std::move(receive));
  else
    detail::exchange_among_all(comm, std::move(send), std::move(receive), most_bytes(from, to, local.element_size()));
  return result;
}

void check_may_be_cut(const char* op, const DNDarray& x) {
  if (x.is_adopted())
    detail::raise<ValueError>(op,
                              "got an array of shape {} in adopted memory, which stays as it is cut; expected an "
                              "array of its own, such as y = resplit(x, split)",
                              to_string(x.shape()));
}

}  // namespace

at::Tensor detail::relayout(const DNDarray& x, const Layout& target) {
  if (same_cut(x.layout(), target) || x.comm().size() == 1) return x.larray();
  if (x.layout().is_grid() || target.is_grid()) return relayout_boxes(x, target);
  if (!x.split()) {
    const auto [first, last] = range_of(target, x.comm().rank());
    return x.larray().narrow(*target.split(), first, last - first);
  }
  if (!target.is_cut() && is_less_than_lists(nbytes(x), x.comm().size()))
    return whole_by_sum(x.larray(), x.layout(), x.comm());
  if (x.device() == cpu) return exchange_blocks(x.larray(), x.layout(), target, x.comm());
  return exchange_blocks(x.larray().cpu(), x.layout(), target, x.comm()).to(x.larray().device());
}

DNDarray detail::brought_to(const DNDarray& x, const Layout& target) {
  return wrap(relayout(x, target), target, x.comm());
}

namespace {

/// Returns the product, or a huge number if it does not fit: a copy for each of many ranks has many bytes. Several such
/// costs can be added.
std::int64_t times(std::int64_t a, std::int64_t b) {
  constexpr auto huge = std::numeric_limits<std::int64_t>::max() / 64;
  return b > 0 && a > huge / b ? huge : a * b;
}

}  // namespace

std::int64_t detail::relayout_cost(const Layout& from, const Layout& to, std::int64_t bytes_each) {
  if (!from.is_cut() || same_cut(from, to)) return 0;
  if (from.is_grid() || to.is_grid()) return times(elements_moved(from, to), bytes_each);
  const auto size = from.size(), ranks = std::int64_t{from.ranks()};
  if (!to.split()) return times(size, (ranks - 1) * bytes_each);
  const auto extent = std::max<std::int64_t>(1, from.offset(from.ranks()));
  std::int64_t staying = 0;  // elements that do not move
  for (int r = 0; r < from.ranks(); ++r) {
    if (from.split() == to.split()) staying += overlap(range_of(from, r), range_of(to, r)).count() * (size / extent);
    else staying += from.count(r) * to.count(r) * (size / extent / std::max<std::int64_t>(1, to.offset(to.ranks())));
  }
  return times(size - staying, bytes_each);
}

void detail::check_same_comm(const char* op, const Communicator& a, const Communicator& b) {
  if (!a.same_ranks(b))
    raise<CommError>(op,
                     "got arrays on different communicators, of {} and {} ranks; expected the same ranks in the same "
                     "order",
                     a.size(), b.size());
}

void detail::check_same_device(const char* op, const DNDarray& a, const DNDarray& b) {
  if (a.device() != b.device())
    raise<ValueError>(op, "got arrays on {} and {}; expected one device", to_string(a.device()), to_string(b.device()));
}

bool detail::operands_may_move() { return policy == Redistribution::allow; }

at::Tensor detail::relayout_operand(const char* op, const DNDarray& x, const Layout& target, const Communicator& comm) {
  check_same_comm(op, comm, x.comm());
  const auto cost = relayout_cost(x.layout(), target, x.larray().element_size());
  if (cost > 0) {
    if (!operands_may_move())
      raise<ValueError>(op,
                        "got an operand of shape {}, {}, that would have to move to {} at a cost of {} bytes; expected "
                        "equal layouts (Redistribution::forbid)",
                        to_string(x.shape()), cut_text(x.layout()), cut_text(target), cost);
    moved_operands += 1;
    moved_bytes += cost;
  }
  return relayout(x, target);
}

DNDarray detail::one_cut(const char* op, const DNDarray& x) {
  if (!x.layout().is_grid()) return x;
  const auto longest = std::ranges::max_element(x.shape()) - x.shape().begin();
  const Layout target(x.shape(), static_cast<int>(longest), x.comm().size());
  return wrap(relayout_operand(op, x, target, x.comm()), target, x.comm());
}

DNDarray resplit(const DNDarray& x, std::optional<int> split) {
  if (split) split = sanitize_axis(*split, x.ndim(), "resplit");
  if (!x.layout().is_grid() && split == x.split()) return x;
  return detail::brought_to(x, Layout(x.shape(), split, x.comm().size()));
}

DNDarray regrid(const DNDarray& x, const Grid& grid) {
  return detail::brought_to(x, detail::layout_on_grid(x.shape(), grid, x.comm()));
}

DNDarray balance(const DNDarray& x) { return detail::brought_to(x, x.layout().balanced()); }

Layout detail::agreed_layout(const char* op, const Layout& from, const std::vector<std::int64_t>& counts,
                             const Communicator& comm) {
  const auto failure = failure_of([&] {
    const bool fits =
        from.split() && std::ssize(counts) == comm.size() &&
        std::reduce(counts.begin(), counts.end()) == from.shape()[static_cast<std::size_t>(*from.split())];
    if (!fits || std::ranges::any_of(counts, [](auto n) { return n < 0; }))
      raise<ValueError>(op,
                        "got counts {} for shape {}, {}; expected one for each of {} ranks, that add up to the extent "
                        "of the split axis",
                        tuple_text(counts), to_string(from.shape()), to_string(from.split()), comm.size());
  });
  if (!from.split()) throw_error(failure->kind, failure->message);
  // The least and, negated, the greatest hash of the ranks.
  const auto hash = static_cast<std::int64_t>(hash_of(counts) >> 2U);
  std::array<std::int64_t, 2> seen{failure ? -1 : hash, -hash};
  comm.allreduce(seen, ReduceOp::min);
  if (seen[0] < 0) comm.agree(failure);
  if (seen[0] != -seen[1])
    raise<ValueError>(op, "got counts that differ by rank, here {}; expected the same on all", tuple_text(counts));
  return Layout::from_counts(from.shape(), *from.split(), counts);
}

DNDarray redistribute(const DNDarray& x, const std::vector<std::int64_t>& counts) {
  return detail::brought_to(x, detail::agreed_layout("redistribute", x.layout(), counts, x.comm()));
}

DNDarray collect(const DNDarray& x, int rank) {
  if (x.ndim() == 0 || rank < 0 || rank >= x.comm().size())
    detail::raise<ValueError>("collect", "got an array of shape {} and rank {}; expected an axis and 0 <= rank < {}",
                              to_string(x.shape()), rank, x.comm().size());
  const int axis = x.layout().is_grid() ? 0 : x.split().value_or(0);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(x.comm().size()), 0);
  counts[static_cast<std::size_t>(rank)] = x.shape()[static_cast<std::size_t>(axis)];
  return detail::brought_to(x, Layout::from_counts(x.shape(), axis, counts));
}

void resplit_(DNDarray& x, std::optional<int> split) {
  check_may_be_cut("resplit_", x);
  x = resplit(x, split);
}
void regrid_(DNDarray& x, const Grid& grid) {
  check_may_be_cut("regrid_", x);
  x = regrid(x, grid);
}
void balance_(DNDarray& x) {
  check_may_be_cut("balance_", x);
  x = balance(x);
}
void redistribute_(DNDarray& x, const std::vector<std::int64_t>& counts) {
  check_may_be_cut("redistribute_", x);
  x = redistribute(x, counts);
}
void collect_(DNDarray& x, int rank) {
  check_may_be_cut("collect_", x);
  x = collect(x, rank);
}

void set_redistribution(Redistribution wanted) { policy = wanted; }

CommReport comm_report() {
  const auto total = total_counters();
  return {total.calls, total.bytes, moved_operands, moved_bytes};
}

}  // namespace heatpp
