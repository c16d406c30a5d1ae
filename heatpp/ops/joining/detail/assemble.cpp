#include <heatpp/ops/joining/detail/assemble.hpp>

#include <heatpp/core/detail/peers/row_lists.hpp>
#include <heatpp/ops/operands/detail/axis_order.hpp>
#include <heatpp/ops/shape/detail/along.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace heatpp::detail {
namespace {

std::int64_t size_of(const Stretch& stretch) { return stretch.last - stretch.first; }

/// The stretches that ranks want, and their owners. Every rank uses its own copy of replicated arrays.
class Owners {
 public:
  Owners(const Arrays& sources, int axis) : sources_(sources), axis_(axis), me_(sources.front().comm().rank()) {}

  /// Returns the part of a stretch that `owner` sends to `user`, or that it has itself.
  [[nodiscard]] Stretch part(const Stretch& stretch, int owner, int user) const {
    const auto& layout = sources_[stretch.source].layout();
    if (!layout.split()) return owner == user ? stretch : Stretch{stretch.source, 0, 0};
    const auto first = std::max(stretch.first, layout.offset(owner));
    const auto last = std::min(stretch.last, layout.offset(owner) + layout.count(owner));
    return {stretch.source, first, std::max(first, last)};
  }
  /// Returns the ranks that hold a stretch, as far as `user` may take it from them.
  [[nodiscard]] RankRange holders(const Stretch& stretch, int user) const {
    const auto& layout = sources_[stretch.source].layout();
    return layout.split() ? ranks_over(layout.cut(), stretch.first, stretch.last) : RankRange{user, user + 1};
  }
  /// Whether `user` holds all of a stretch.
  [[nodiscard]] bool has(const Stretch& stretch, int user) const {
    return size_of(part(stretch, user, user)) == size_of(stretch);
  }
  /// Returns what this rank holds of a source and others do not.
  [[nodiscard]] Stretch own(std::size_t source) const {
    const auto& layout = sources_[source].layout();
    return layout.split() ? Stretch{source, layout.offset(me_), layout.offset(me_ + 1)} : Stretch{source, 0, 0};
  }
  /// Returns this rank's part of a stretch.
  [[nodiscard]] at::Tensor own_part(const Stretch& stretch, int user) const {
    const auto own = part(stretch, me_, user);
    const auto& source = sources_[own.source];
    if (own.first == own.last) return source.larray().narrow(axis_, 0, 0);
    const auto start = source.split() ? source.layout().offset(me_) : 0;
    return source.larray().narrow(axis_, own.first - start, own.last - own.first);
  }

 private:
  const Arrays& sources_;
  int axis_, me_;
};

/// Whether any rank lacks some of what it wants; equal on all ranks. The first ranks usually tell.
bool any_lacks(const Owners& owners, const Assembly& assembly, int ranks) {
  for (int rank = 0; rank < ranks; ++rank)
    for (const auto& stretch : assembly.wanted(rank))
      if (!owners.has(stretch, rank)) return true;
  return false;
}

/// What this rank sends: its parts for one rank after another.
struct Outgoing {
  std::vector<at::Tensor> parts;
  std::vector<RowsOfRank> rows;
};
Outgoing outgoing(const Owners& owners, const Assembly& assembly, std::size_t sources, int me) {
  std::vector<RankRange> takers;
  for (std::size_t source = 0; source < sources; ++source)
    if (const auto own = owners.own(source); size_of(own) > 0)
      for (const auto& range : assembly.takers(own)) takers.push_back(range);
  Outgoing out;
  for_each_rank(std::move(takers), [&](int peer) {
    std::int64_t count = 0;
    for (const auto& stretch : assembly.wanted(peer)) {
      const auto size = peer == me ? 0 : size_of(owners.part(stretch, me, peer));
      if (size > 0) out.parts.push_back(owners.own_part(stretch, peer).reshape({-1}));
      count += size;
    }
    if (count > 0) out.rows.push_back({peer, count});
  });
  return out;
}

/// Returns how many indices of these stretches come from each other rank.
std::vector<RowsOfRank> incoming(const Owners& owners, const std::vector<Stretch>& mine, int me) {
  std::map<int, std::int64_t> counts;
  for (const auto& stretch : mine) {
    const auto holders = owners.holders(stretch, me);
    for (auto peer = holders.first; peer < holders.last; ++peer)
      if (const auto size = size_of(owners.part(stretch, peer, me)); peer != me && size > 0) counts[peer] += size;
  }
  std::vector<RowsOfRank> rows;
  for (const auto& [rank, count] : counts) rows.push_back({rank, count});
  return rows;
}

}  // namespace

at::Tensor assemble(const Arrays& sources, int axis, const Assembly& assembly) {
  const auto& comm = sources.front().comm();
  const Owners owners(sources, axis);
  const auto me = comm.rank();
  const auto mine = assembly.wanted(me);
  const auto none = owners.own_part({0, 0, 0}, me);
  auto shape = none.sizes().vec();  // shape of a part
  shape[static_cast<std::size_t>(axis)] = 1;
  const auto each = c10::multiply_integers(shape);
  const auto receive = incoming(owners, mine, me);
  auto arrived = none;
  if (any_lacks(owners, assembly, comm.size())) {
    auto send = outgoing(owners, assembly, sources.size(), me);
    if (send.parts.empty()) send.parts.push_back(none.reshape({0}));
    const auto sent = send.parts.size() == 1 ? send.parts.front() : at::cat(send.parts);
    std::int64_t rows = 0;
    for (const auto& to : send.rows) rows += to.count;
    arrived = exchange_rows(sent.cpu().reshape({rows, each}), send.rows, receive, comm).to(none.device());
  }

  std::map<int, std::int64_t> next;  // first index of those that arrived from a rank
  std::int64_t first = 0;
  for (const auto& from : receive) next[from.rank] = std::exchange(first, first + from.count);
  std::vector<at::Tensor> parts{none};
  for (const auto& stretch : mine) {
    const auto holders = owners.holders(stretch, me);
    for (auto rank = holders.first; rank < holders.last; ++rank) {
      const auto size = size_of(owners.part(stretch, rank, me));
      if (size == 0) continue;
      shape[static_cast<std::size_t>(axis)] = size;
      if (rank == me) parts.push_back(owners.own_part(stretch, me));
      else parts.push_back(arrived.narrow(0, std::exchange(next[rank], next[rank] + size), size).view(shape));
    }
  }
  return concatenated(parts, axis);
}

}  // namespace heatpp::detail
