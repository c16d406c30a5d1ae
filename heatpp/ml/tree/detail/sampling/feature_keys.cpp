#include <heatpp/ml/tree/detail/sampling/feature_keys.hpp>

#include <heatpp/core/detail/peers/parcels.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp::ml::detail {

template <class K>
FeatureKeys<K> brought_by_ranks(const FeatureKeys<K>& mine, const FeatureShares& shares, const Communicator& comm) {
  constexpr std::int64_t size = sizeof(K);
  const auto counts = comm.allgather(mine.rows);
  const auto features = shares.count(comm.rank());
  FeatureKeys<K> result{std::reduce(counts.begin(), counts.end()), {}};
  std::vector<K> received(static_cast<std::size_t>(result.rows * features));
  std::vector<ConstBlock> send;
  std::vector<Block> receive;
  std::int64_t begin = 0;  // keys of the ranks before
  for (int r = 0; r < shares.ranks; ++r) {
    const auto go = shares.count(r) * mine.rows, come = counts[static_cast<std::size_t>(r)] * features;
    send.push_back(
        {reinterpret_cast<const std::byte*>(mine.keys.data() + shares.first(r) * mine.rows), 1, go * size, go * size});
    receive.push_back({reinterpret_cast<std::byte*>(received.data() + begin), 1, come * size, come * size});
    begin += come;
  }
  comm.exchange(send, receive);
  result.keys.resize(received.size());
  for (std::int64_t j = 0; j < features; ++j) {
    auto from = received.begin();
    auto to = result.keys.begin() + j * result.rows;
    for (const auto count : counts) {
      to = std::copy_n(from + j * count, count, to);
      from += features * count;
    }
  }
  return result;
}

template <class K>
FeatureKeys<K> brought_by_parcels(const FeatureKeys<K>& mine, const FeatureShares& shares, const Communicator& comm) {
  heatpp::detail::Parcels parcels{3, {}};
  for (std::int64_t j = 0; j < shares.features; ++j)
    for (std::int64_t i = 0; i < mine.rows; ++i) {
      const auto key = mine.keys[static_cast<std::size_t>(j * mine.rows + i)];
      parcels.numbers.insert(parcels.numbers.end(), {shares.owner(j), j, static_cast<std::int64_t>(key)});
    }
  parcels = heatpp::detail::delivered_in_rounds(std::move(parcels), comm);
  const auto first = shares.first(comm.rank()), features = shares.count(comm.rank());
  const auto rows = features > 0 ? static_cast<std::int64_t>(parcels.count()) / features : 0;
  FeatureKeys<K> result{rows, std::vector<K>(parcels.count())};
  std::vector<std::int64_t> next(static_cast<std::size_t>(features), 0);
  for (std::size_t i = 0; i < parcels.count(); ++i) {
    const auto record = parcels.record(i);
    const auto j = record[1] - first;
    result.keys[static_cast<std::size_t>(j * rows + next[static_cast<std::size_t>(j)]++)] = static_cast<K>(record[2]);
  }
  return result;
}

#define HEATPP_INSTANTIATE(K)                                                                                 \
  template FeatureKeys<K> brought_by_ranks(const FeatureKeys<K>&, const FeatureShares&, const Communicator&); \
  template FeatureKeys<K> brought_by_parcels(const FeatureKeys<K>&, const FeatureShares&, const Communicator&);
HEATPP_INSTANTIATE(std::uint32_t)
HEATPP_INSTANTIATE(std::uint64_t)
#undef HEATPP_INSTANTIATE

}  // namespace heatpp::ml::detail
