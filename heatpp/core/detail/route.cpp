#include <heatpp/core/detail/route.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/progress/exchange.hpp>
#include <heatpp/comm/detail/progress/fingerprint.hpp>
#include <heatpp/core/detail/plain_type.hpp>
#include <heatpp/core/detail/peers/few_ranks.hpp>
#include <heatpp/core/detail/peers/parcels.hpp>
#include <heatpp/core/detail/peers/row_lists.hpp>
#include <heatpp/core/detail/torch.hpp>

#include <ATen/Parallel.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

namespace heatpp::detail {
namespace {

template <class Byte>
std::vector<PeerBlock<BasicBlock<Byte>>> consecutive(Byte* data, std::span<const RowsOfRank> rows,
                                                     std::int64_t row_bytes) {
  std::vector<PeerBlock<BasicBlock<Byte>>> blocks;
  for (const auto& [rank, count] : rows) {
    blocks.push_back({rank, {data, 1, count * row_bytes, count * row_bytes}});
    data += count * row_bytes;
  }
  return blocks;
}

std::int64_t bytes_of_row(const at::Tensor& rows) {
  return rows.element_size() * c10::multiply_integers(rows.sizes().slice(1));
}

/// Returns row i of `rows` at slots[i], or the inverse.
at::Tensor reordered(const at::Tensor& given, const at::Tensor& slots, bool to_slots) {
  constexpr std::int64_t worth_a_thread = 1 << 15;  // bytes
  const auto rows = given.contiguous();
  auto result = at::empty_like(rows);
  if (result.numel() == 0) return result;
  auto* const out = static_cast<std::byte*>(result.data_ptr());
  const auto* const in = static_cast<const std::byte*>(rows.const_data_ptr());
  const auto* const slot = slots.const_data_ptr<std::int64_t>();
  const auto copy_rows = [&](auto bytes) {
    const auto grain = std::max<std::int64_t>(1, worth_a_thread / std::max<std::int64_t>(1, bytes));
    at::parallel_for(0, slots.numel(), grain, [=](std::int64_t first, std::int64_t last) {
      const auto copy = [=](std::int64_t to, std::int64_t from) {
        std::memcpy(out + to * bytes, in + from * bytes, static_cast<std::size_t>(bytes));
      };
      if (to_slots)
        for (auto i = first; i < last; ++i) copy(slot[i], i);
      else
        for (auto i = first; i < last; ++i) copy(i, slot[i]);
    });
  };
  // The compiler should know small sizes of a row.
  const auto bytes = bytes_of_row(rows);
  const auto copy_as = [&]<class T>() { copy_rows(std::integral_constant<std::int64_t, sizeof(T)>()); };
  if (!with_plain_type(bytes, copy_as)) copy_rows(bytes);
  return result;
}

/// Turns the owners of rows into slots by a stable counting sort. Returns the number of rows of each owner.
std::vector<RowsOfRank> slots_by_counting(std::span<std::int64_t> slots, int ranks) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks), 0), next(counts);
  for (const auto owner : slots) ++counts[static_cast<std::size_t>(owner)];
  std::exclusive_scan(counts.begin(), counts.end(), next.begin(), std::int64_t{0});
  for (auto& slot : slots) slot = next[static_cast<std::size_t>(slot)]++;
  return rows_of_ranks(counts);
}

/// Does so by sorting the rows, which takes no memory for each rank.
std::vector<RowsOfRank> slots_by_sorting(std::span<std::int64_t> slots) {
  std::vector<std::size_t> order(slots.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t row) { return slots[row]; });
  std::vector<RowsOfRank> rows;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const auto owner = static_cast<int>(std::exchange(slots[order[place]], static_cast<std::int64_t>(place)));
    if (rows.empty() || rows.back().rank != owner) rows.push_back({owner, 0});
    ++rows.back().count;
  }
  return rows;
}

std::vector<RowsOfRank> told_at_once(const std::vector<RowsOfRank>& sent, const Communicator& comm) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(comm.size()));
  for (const auto& [rank, count] : sent) counts[static_cast<std::size_t>(rank)] = count;
  return rows_of_ranks(comm.alltoall(counts));
}

/// Calls start(what leaves, what arrives, the bytes of a row), and returns the rows that arrive.
template <class Start>
at::Tensor exchanged(const at::Tensor& tensor, std::span<const RowsOfRank> send, std::span<const RowsOfRank> receive,
                     const Communicator& comm, Start start) {
  const auto rows = tensor.contiguous();
  auto shape = rows.sizes().vec();
  shape[0] = 0;
  for (const auto& from : receive) shape[0] += from.count;
  auto arrived = at::empty(shape, rows.options());
  const auto row_bytes = bytes_of_row(rows);
  expect_alike(comm, "rows",
               [&] { return formatted("rows of {} bytes, {}", row_bytes, name(from_torch(rows.scalar_type()))); });
  start(consecutive(static_cast<const std::byte*>(rows.const_data_ptr()), send, row_bytes),
        consecutive(static_cast<std::byte*>(arrived.data_ptr()), receive, row_bytes), row_bytes);
  return arrived;
}

}  // namespace

std::vector<RowsOfRank> rows_of_ranks(std::span<const std::int64_t> counts) {
  std::vector<RowsOfRank> rows;
  for (std::size_t rank = 0; rank < counts.size(); ++rank)
    if (counts[rank] > 0) rows.push_back({static_cast<int>(rank), counts[rank]});
  return rows;
}

std::vector<RowsOfRank> rows_of_owners(std::span<const std::int64_t> indices, const Cut& cut) {
  std::vector<RowsOfRank> rows;
  for (auto first = indices.begin(), last = first; first != indices.end(); first = last) {
    const auto owner = cut.owner(*first);
    last = std::lower_bound(first, indices.end(), cut.last(owner));
    rows.push_back({owner, last - first});
  }
  return rows;
}

std::vector<RowsOfRank> told_in_rounds(const std::vector<RowsOfRank>& sent, const Communicator& comm) {
  Parcels parcels{3, {}};
  for (const auto& [rank, count] : sent) parcels.numbers.insert(parcels.numbers.end(), {rank, comm.rank(), count});
  parcels = delivered_in_rounds(std::move(parcels), comm);
  std::vector<RowsOfRank> received;
  for (std::size_t i = 0; i < parcels.count(); ++i)
    received.push_back({static_cast<int>(parcels.record(i)[1]), parcels.record(i)[2]});
  std::ranges::sort(received, {}, &RowsOfRank::rank);
  return received;
}

std::vector<RowsOfRank> told(const std::vector<RowsOfRank>& sent, const Communicator& comm) {
  const auto ranks = comm.size();
  if (ranks <= few_ranks) return told_at_once(sent, comm);
  std::array<std::int64_t, 1> most{std::ssize(sent)};
  comm.allreduce(most, ReduceOp::max);
  // A parcel of three numbers travels once in each round at most.
  const bool by_parcels = 3 * most[0] * std::bit_width(static_cast<unsigned>(ranks - 1)) <= ranks;
  return by_parcels ? told_in_rounds(sent, comm) : told_at_once(sent, comm);
}

at::Tensor exchange_rows(const at::Tensor& tensor, std::span<const RowsOfRank> send,
                         std::span<const RowsOfRank> receive, const Communicator& comm) {
  return exchanged(tensor, send, receive, comm,
                   [&](Sends out, Receives in, std::int64_t) { exchange_with(comm, std::move(out), std::move(in)); });
}

at::Tensor exchange_rows_among_all(const at::Tensor& rows, std::span<const std::int64_t> send,
                                   std::span<const std::int64_t> receive, std::int64_t most_rows,
                                   const Communicator& comm) {
  return exchanged(rows, rows_of_ranks(send), rows_of_ranks(receive), comm,
                   [&](Sends out, Receives in, std::int64_t row_bytes) {
                     exchange_among_all(comm, std::move(out), std::move(in), most_rows * row_bytes);
                   });
}

at::Tensor Route::there(const at::Tensor& rows) const {
  if (comm.size() == 1) return rows;
  return exchange_rows(slots.defined() ? reordered(rows, slots, true) : rows, sent, received, comm);
}

at::Tensor Route::back(const at::Tensor& answers) const {
  if (comm.size() == 1) return answers;
  const auto arrived = exchange_rows(answers, received, sent, comm);
  return slots.defined() ? reordered(arrived, slots, false) : arrived;
}

std::vector<RowsOfRank> owners_to_slots(const at::Tensor& owners, int ranks) {
  const std::span slots(owners.mutable_data_ptr<std::int64_t>(), static_cast<std::size_t>(owners.numel()));
  return std::ssize(slots) < ranks ? slots_by_sorting(slots) : slots_by_counting(slots, ranks);
}

Route route_in_order(std::vector<RowsOfRank> sent, const Communicator& comm) {
  auto received = told(sent, comm);
  return {comm, std::move(sent), std::move(received)};
}

Route route_to(const at::Tensor& owners, const Communicator& comm, std::optional<std::vector<RowsOfRank>> received) {
  auto sent = owners_to_slots(owners, comm.size());
  if (!received) received = told(sent, comm);
  return {comm, std::move(sent), *std::move(received), owners};
}

at::Tensor owners_of(const at::Tensor& positions, const Cut& cut) {
  auto owners = at::empty({positions.numel()}, at::kLong);
  const std::span from(positions.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(positions.numel()));
  cut.owners(from, owners.mutable_data_ptr<std::int64_t>());
  return owners;
}

}  // namespace heatpp::detail
