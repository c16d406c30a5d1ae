#include <heatpp/ops/sorting/detail/first_keys.hpp>

#include <heatpp/comm/detail/progress/exchange.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/detail/route.hpp>
#include <heatpp/ops/operands/detail/bisect.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heatpp::detail {
namespace {

constexpr int none = -1;

/// Rising first keys, and the rank that each stands for.
template <class K>
struct FirstKeys {
  std::vector<K> keys = {};
  std::vector<int> ranks = {};

  [[nodiscard]] int rank_of(K key, Side side) const {
    const auto before = count_before(keys.data(), std::ssize(keys),
                                     [&](K other) { return side == Side::left ? other < key : other <= key; });
    return ranks[static_cast<std::size_t>(std::max<std::int64_t>(1, before) - 1)];
  }
};

/// Sends each key to the rank for which its first key stands, and the answers of `answer` back.
template <class K, class Answer>
Rows<std::int64_t> asked(const FirstKeys<K>& firsts, const Rows<K>& wanted, Side side, const Communicator& comm,
                         Answer answer) {
  const at::Tensor owners = at::empty({wanted.size()}, at::kLong);
  std::ranges::transform(wanted, owners.data_ptr<std::int64_t>(), [&](K key) { return firsts.rank_of(key, side); });
  const auto route = route_to(owners, comm);
  const Rows<std::int64_t> answers = answer(Rows<K>(route.there(wanted.bytes())));
  return Rows<std::int64_t>(route.back(answers.bytes()));
}

template <class K>
FirstKeys<K> of_all(const FirstKey<K>& mine, const Communicator& comm) {
  std::vector<std::int64_t> counts;
  FirstKeys<K> firsts;
  for (int rank = 0; rank < comm.size(); ++rank) {
    counts.push_back(mine.cut.extent(rank) > 0 ? std::int64_t{sizeof(K)} : 0);
    if (counts.back() > 0) firsts.ranks.push_back(rank);
  }
  firsts.keys.resize(firsts.ranks.size());
  comm.allgather({mine.key.data(), counts[static_cast<std::size_t>(comm.rank())], uint8},
                 {firsts.keys.data(), std::reduce(counts.begin(), counts.end()), uint8}, counts);
  return firsts;
}

/// Consecutive ranks, about as many groups as ranks in each.
struct GroupsOfRanks {
  explicit GroupsOfRanks(int all) : ranks(all), each(static_cast<int>(std::ceil(std::sqrt(all)))) {}
  int ranks, each;
  [[nodiscard]] int size() const { return (ranks + each - 1) / each; }
  [[nodiscard]] int first(int group) const { return group * each; }
  [[nodiscard]] int last(int group) const { return std::min(ranks, first(group + 1)); }
};

/// Returns the first rank of a group that holds anything.
int leader(const GroupsOfRanks& groups, int group, const Cut& cut) {
  const auto begin = cut.first(groups.first(group));
  return begin < cut.first(groups.last(group)) ? cut.owner(begin) : none;
}

/// Returns the first keys of groups. Each stands for a rank of its group, another one for each rank that asks.
template <class K>
FirstKeys<K> of_groups(const FirstKey<K>& mine, const GroupsOfRanks& groups, const Communicator& comm) {
  FirstKeys<K> firsts;
  for (int group = 0; group < groups.size(); ++group) {
    const auto from = leader(groups, group, mine.cut);
    if (from == none) continue;
    const int first = groups.first(group);
    firsts.ranks.push_back(first + comm.rank() % (groups.last(group) - first));
    firsts.keys.push_back(from == comm.rank() ? *mine.key.begin() : K{0});
  }
  comm.allreduce({firsts.keys.data(), std::ssize(firsts.keys) * std::int64_t{sizeof(K)}, uint8});
  return firsts;
}

template <class K>
FirstKeys<K> in_group(const FirstKey<K>& mine, const GroupsOfRanks& groups, const Communicator& comm) {
  const int group = comm.rank() / groups.each;
  FirstKeys<K> firsts;
  for (int rank = groups.first(group); rank < groups.last(group); ++rank)
    if (mine.cut.extent(rank) > 0) firsts.ranks.push_back(rank);
  firsts.keys.resize(firsts.ranks.size());
  constexpr std::int64_t bytes = sizeof(K);
  Sends send;
  Receives receive;
  for (std::size_t i = 0; i < firsts.ranks.size(); ++i)
    receive.push_back({firsts.ranks[i], {reinterpret_cast<std::byte*>(&firsts.keys[i]), 1, bytes, bytes}});
  if (mine.key.size() > 0)
    for (int rank = groups.first(group); rank < groups.last(group); ++rank)
      send.push_back({rank, {reinterpret_cast<const std::byte*>(mine.key.data()), 1, bytes, bytes}});
  exchange_with(comm, std::move(send), std::move(receive));
  return firsts;
}

}  // namespace

template <class K>
Rows<std::int64_t> found_by_owners(const FirstKey<K>& mine, const Rows<K>& wanted, Side side, const Communicator& comm,
                                   const FindHere<K>& find) {
  return asked(of_all(mine, comm), wanted, side, comm, find);
}

template <class K>
Rows<std::int64_t> found_by_groups(const FirstKey<K>& mine, const Rows<K>& wanted, Side side, const Communicator& comm,
                                   const FindHere<K>& find) {
  const GroupsOfRanks groups(comm.size());
  const auto own = in_group(mine, groups, comm);
  return asked(of_groups(mine, groups, comm), wanted, side, comm,
               [&](const Rows<K>& keys) { return asked(own, keys, side, comm, find); });
}

#define HEATPP_INSTANTIATE(K)                                                                                \
  template Rows<std::int64_t> found_by_owners(const FirstKey<K>&, const Rows<K>&, Side, const Communicator&, \
                                              const FindHere<K>&);                                           \
  template Rows<std::int64_t> found_by_groups(const FirstKey<K>&, const Rows<K>&, Side, const Communicator&, \
                                              const FindHere<K>&);
HEATPP_FORALL_KEYS(HEATPP_INSTANTIATE)
#undef HEATPP_INSTANTIATE

}  // namespace heatpp::detail
