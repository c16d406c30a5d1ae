#include <heatpp/core/detail/peers/parcels.hpp>

#include <heatpp/comm/detail/progress/exchange.hpp>

#include <bit>
#include <numeric>

namespace heatpp::detail {
namespace {

template <class Number>
auto block_of(std::span<Number> numbers) {
  const auto bytes = static_cast<std::int64_t>(numbers.size_bytes());
  if constexpr (std::is_const_v<Number>)
    return ConstBlock{reinterpret_cast<const std::byte*>(numbers.data()), 1, bytes, bytes};
  else return Block{reinterpret_cast<std::byte*>(numbers.data()), 1, bytes, bytes};
}

/// Sends `sent` to a rank and appends what arrives to `kept`. All ranks call both exchanges, because debug mode
/// compares them.
void exchange(const ParcelRound& round, const std::vector<std::int64_t>& sent, std::vector<std::int64_t>& kept,
              const Communicator& comm) {
  const auto size = std::ssize(sent);
  std::vector<std::int64_t> sizes(round.from.size());
  Sends send;
  Receives receive;
  if (round.to >= 0) send.push_back({round.to, block_of(std::span(&size, 1))});
  for (std::size_t i = 0; i < sizes.size(); ++i)
    receive.push_back({round.from[i], block_of(std::span(sizes).subspan(i, 1))});
  exchange_with(comm, std::move(send), std::move(receive));

  send.clear();
  receive.clear();
  auto next = kept.size();
  for (const auto each : sizes) kept.resize(kept.size() + static_cast<std::size_t>(each));
  if (round.to >= 0) send.push_back({round.to, block_of(std::span(sent))});
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto count = static_cast<std::size_t>(sizes[i]);
    receive.push_back({round.from[i], block_of(std::span(kept).subspan(next, count))});
    next += count;
  }
  exchange_with(comm, std::move(send), std::move(receive));
}

}  // namespace

std::vector<ParcelRound> parcel_rounds(int ranks, int rank) {
  std::vector<ParcelRound> rounds(static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(ranks - 1))));
  int first = 0, last = ranks;
  for (auto& round : rounds) {
    // The lower half has as many ranks as the upper one, or one more, which sends to the last rank of the upper one.
    const auto middle = first + (last - first + 1) / 2;
    const auto lower = middle - first, upper = last - middle;
    const bool is_lower = rank < middle;
    if (upper > 0 && is_lower) {
      round.to = std::min(rank + lower, last - 1);
      if (rank - first < upper) round.from.push_back(rank + lower);
    } else if (upper > 0) {
      round.to = rank - lower;
      round.from.push_back(rank - lower);
      if (rank == last - 1 && lower > upper) round.from.push_back(middle - 1);
    }
    (is_lower ? last : first) = middle;
    round.first = first;
    round.last = last;
  }
  return rounds;
}

Parcels take_others(Parcels& parcels, int first, int last) {
  Parcels others{parcels.width, {}};
  auto kept = parcels.numbers.begin();
  for (std::size_t i = 0; i < parcels.count(); ++i) {
    const auto record = parcels.record(i);
    if (record[0] >= first && record[0] < last) kept = std::copy(record.begin(), record.end(), kept);
    else others.numbers.insert(others.numbers.end(), record.begin(), record.end());
  }
  parcels.numbers.erase(kept, parcels.numbers.end());
  return others;
}

Parcels gathered(const Parcels& parcels, const Communicator& comm) {
  const auto counts = comm.allgather(std::ssize(parcels.numbers));
  std::vector<std::int64_t> all(static_cast<std::size_t>(std::reduce(counts.begin(), counts.end(), std::int64_t{0})));
  comm.allgather(parcels.numbers, all, counts);
  return {parcels.width, std::move(all)};
}

Parcels delivered_in_rounds(Parcels parcels, const Communicator& comm) {
  for (const auto& round : parcel_rounds(comm.size(), comm.rank())) {
    const auto sent = take_others(parcels, round.first, round.last);
    exchange(round, sent.numbers, parcels.numbers, comm);
  }
  return parcels;
}

Parcels delivered(Parcels parcels, const Communicator& comm) {
  constexpr int few = 8;
  if (comm.size() > few) return delivered_in_rounds(std::move(parcels), comm);
  auto all = gathered(parcels, comm);
  static_cast<void>(take_others(all, comm.rank(), comm.rank() + 1));
  return all;
}

}  // namespace heatpp::detail
