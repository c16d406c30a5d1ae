#include <heatpp/core/detail/route.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/progress/exchange.hpp>
#include <heatpp/comm/detail/progress/fingerprint.hpp>
#include <heatpp/core/detail/plain_type.hpp>
#include <heatpp/core/detail/peers/row_lists.hpp>
#include <heatpp/core/detail/torch.hpp>

#include <ATen/Parallel.h>
#include <algorithm>
#include <cstring>
#include <numeric>

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

/// Returns the ranks with rows.
std::vector<RowsOfRank> listed(std::span<const std::int64_t> counts) {
  std::vector<RowsOfRank> rows;
  for (std::size_t rank = 0; rank < counts.size(); ++rank)
    if (counts[rank] > 0) rows.push_back({static_cast<int>(rank), counts[rank]});
  return rows;
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

/// Turns owners into slots: a stable counting sort. Returns the number of rows of each owner.
std::vector<std::int64_t> owners_to_slots(const at::Tensor& owners, int ranks) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks), 0), next(counts);
  const std::span slots(owners.mutable_data_ptr<std::int64_t>(), static_cast<std::size_t>(owners.numel()));
  for (const auto owner : slots) ++counts[static_cast<std::size_t>(owner)];
  std::exclusive_scan(counts.begin(), counts.end(), next.begin(), std::int64_t{0});
  for (auto& slot : slots) slot = next[static_cast<std::size_t>(slot)]++;
  return counts;
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

at::Tensor exchange_rows(const at::Tensor& tensor, std::span<const RowsOfRank> send,
                         std::span<const RowsOfRank> receive, const Communicator& comm) {
  return exchanged(tensor, send, receive, comm,
                   [&](Sends out, Receives in, std::int64_t) { exchange_with(comm, std::move(out), std::move(in)); });
}

at::Tensor exchange_rows_among_all(const at::Tensor& rows, std::span<const std::int64_t> send,
                                   std::span<const std::int64_t> receive, std::int64_t most_rows,
                                   const Communicator& comm) {
  return exchanged(rows, listed(send), listed(receive), comm, [&](Sends out, Receives in, std::int64_t row_bytes) {
    exchange_among_all(comm, std::move(out), std::move(in), most_rows * row_bytes);
  });
}

at::Tensor exchange_rows(const at::Tensor& rows, std::span<const std::int64_t> send,
                         std::span<const std::int64_t> receive, const Communicator& comm) {
  return exchange_rows(rows, listed(send), listed(receive), comm);
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

Route route_in_order(std::vector<std::int64_t> sent, const Communicator& comm) {
  auto received = comm.alltoall(sent);
  return {comm, std::move(sent), std::move(received)};
}

Route route_to(const at::Tensor& owners, const Communicator& comm, std::optional<std::vector<std::int64_t>> received) {
  auto sent = owners_to_slots(owners, comm.size());
  if (!received) received = comm.alltoall(sent);
  return {comm, std::move(sent), *std::move(received), owners};
}

at::Tensor owners_of(const at::Tensor& positions, const Cut& cut) {
  auto owners = at::empty({positions.numel()}, at::kLong);
  const std::span from(positions.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(positions.numel()));
  cut.owners(from, owners.mutable_data_ptr<std::int64_t>());
  return owners;
}

}  // namespace heatpp::detail
