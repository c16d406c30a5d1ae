#include <heatpp/sparse/detail/halo.hpp>

#include <heatpp/comm/detail/progress/exchange.hpp>
#include <heatpp/core/detail/route.hpp>
#include <heatpp/sparse/detail/named.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp::sparse::detail {
namespace {

using heatpp::detail::RowsOfRank;

/// Short runs of rows between waiting ones wait, too.
constexpr std::int64_t short_run = 64;

std::vector<std::int64_t> waiting_rows(const CsrBlock& block, const at::Tensor& columns, std::int64_t own) {
  std::vector<std::int64_t> runs;
  const auto* const column = columns.const_data_ptr<std::int32_t>();
  for (std::int64_t row = 0; row < block.rows(); ++row) {
    const auto *from = column + block.ptr()[row], *to = column + block.ptr()[row + 1];
    if (!std::any_of(from, to, [own](auto c) { return c >= own; })) continue;
    if (runs.empty() || runs.back() + short_run < row) runs.insert(runs.end(), {row, row + 1});
    else runs.back() = row + 1;
  }
  return runs;
}

/// If most of a range of one rank's elements is needed, takes the whole range, which can be sent in place.
std::vector<std::int64_t> with_gaps_filled(const std::vector<std::int64_t>& ids, const heatpp::detail::Cut& cut) {
  std::vector<std::int64_t> all;
  for (auto first = ids.begin(), last = first; first != ids.end(); first = last) {
    last = std::ranges::lower_bound(first, ids.end(), cut.last(cut.owner(*first)));
    const auto stretch = last[-1] - *first + 1;
    if (8 * (last - first) < 7 * stretch) {
      all.insert(all.end(), first, last);
      continue;
    }
    all.resize(all.size() + static_cast<std::size_t>(stretch));
    std::iota(all.end() - stretch, all.end(), *first);
  }
  return all;
}

/// Returns the start of the elements for each rank of the list, or nothing if there are gaps.
std::vector<std::int64_t> stretches(const at::Tensor& sent, const std::vector<RowsOfRank>& send) {
  std::vector<std::int64_t> begins;
  const auto* place = sent.const_data_ptr<std::int64_t>();
  for (const auto& to : send) {
    begins.push_back(place[0]);
    if (place[to.count - 1] - place[0] != to.count - 1) return {};
    place += to.count;
  }
  return begins;
}

std::shared_ptr<const HaloPlan> made(const DCSRMatrix& a, const heatpp::detail::Cut& cut) {
  const auto& comm = a.comm();
  const auto& block = block_of(a);
  HaloPlan plan;
  plan.cut = cut;
  const auto first = cut.first(comm.rank());
  plan.own = cut.extent(comm.rank());
  const auto ids = with_gaps_filled(named_of_others(block.columns, first, plan.own), cut);
  plan.received = std::ssize(ids);
  plan.columns = columns_of(block, renumbered(block.columns, first, plan.own, ids, at::kInt), plan.own);
  plan.receive = heatpp::detail::rows_of_owners(ids, cut);
  const auto wanted = heatpp::detail::route_in_order(plan.receive, comm);
  plan.send = wanted.received;
  plan.sent = wanted.there(at::tensor(ids, at::kLong)) - first;
  plan.stretches = stretches(plan.sent, plan.send);
  plan.waiting = waiting_rows(block, plan.columns.places, plan.own);
  std::int64_t waiting = 0;
  for (std::size_t run = 0; run < plan.waiting.size(); run += 2) waiting += plan.waiting[run + 1] - plan.waiting[run];
  plan.most_wait = 2 * waiting > block.rows();
  return std::make_shared<const HaloPlan>(std::move(plan));
}

template <class Byte>
std::vector<heatpp::detail::PeerBlock<BasicBlock<Byte>>> blocks(Byte* data, const std::vector<RowsOfRank>& rows,
                                                                std::int64_t bytes,
                                                                const std::vector<std::int64_t>& begins = {}) {
  std::vector<heatpp::detail::PeerBlock<BasicBlock<Byte>>> parts;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < rows.size(); begin += rows[i++].count) {
    const auto [rank, count] = rows[i];
    parts.push_back({rank, {data + (begins.empty() ? begin : begins[i]) * bytes, 1, count * bytes, count * bytes}});
  }
  return parts;
}

}  // namespace

std::shared_ptr<const HaloPlan> halo_plan(const DCSRMatrix& a, const heatpp::detail::Cut& cut) {
  const auto& impl = Access::impl(a);
  const std::lock_guard lock(impl.mutex);
  if (!impl.plan || !(impl.plan->cut == cut)) impl.plan = made(a, cut);
  return impl.plan;
}

Halo::Halo(const HaloPlan& plan, const at::Tensor& x, const Communicator& comm, at::Tensor in) : in_(std::move(in)) {
  out_ = plan.stretches.empty() ? x.index_select(0, plan.sent) : x.contiguous();
  auto shape = x.sizes().vec();
  shape[0] = plan.received;
  if (!in_.defined()) in_ = at::empty(shape, x.options());
  const auto bytes = x.element_size() * (x.dim() > 1 ? x.size(1) : 1);
  request_ = heatpp::detail::iexchange(
      comm, blocks(static_cast<const std::byte*>(out_.const_data_ptr()), plan.send, bytes, plan.stretches),
      blocks(static_cast<std::byte*>(in_.data_ptr()), plan.receive, bytes));
}

const at::Tensor& Halo::wait() {
  request_.wait();
  return in_;
}

void add_to_owners(const HaloPlan& plan, const at::Tensor& halo, at::Tensor& own, const Communicator& comm) {
  const auto arrived = heatpp::detail::exchange_rows(halo, plan.receive, plan.send, comm);
  own.index_add_(0, plan.sent, arrived);
}

}  // namespace heatpp::sparse::detail
