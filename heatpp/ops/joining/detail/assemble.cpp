#include <heatpp/ops/joining/detail/assemble.hpp>

#include <heatpp/core/detail/route.hpp>
#include <heatpp/ops/operands/detail/axis_order.hpp>
#include <heatpp/ops/shape/detail/along.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp::detail {
namespace {

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

std::int64_t size_of(const Stretch& stretch) { return stretch.last - stretch.first; }

}  // namespace

at::Tensor assemble(const Arrays& sources, int axis, const std::function<std::vector<Stretch>(int rank)>& wanted) {
  const auto& comm = sources.front().comm();
  const Owners owners(sources, axis);
  const auto me = comm.rank(), ranks = comm.size();
  const auto mine = wanted(me);
  const auto none = owners.own_part({0, 0, 0}, me);
  std::vector<at::Tensor> outgoing{none.reshape({0})};
  std::vector<std::int64_t> send(static_cast<std::size_t>(ranks)), receive(send), next(send);
  std::int64_t lacking = 0;
  for (int r = 0; r < ranks; ++r) {
    const auto at_rank = static_cast<std::size_t>(r);
    for (const auto& stretch : wanted(r)) {
      lacking += size_of(stretch) - size_of(owners.part(stretch, r, r));
      const auto size = r == me ? 0 : size_of(owners.part(stretch, me, r));
      if (size > 0) outgoing.push_back(owners.own_part(stretch, r).reshape({-1}));
      send[at_rank] += size;
    }
    for (const auto& stretch : mine)
      if (r != me) receive[at_rank] += size_of(owners.part(stretch, r, me));
  }
  auto shape = none.sizes().vec();  // shape of a part
  shape[static_cast<std::size_t>(axis)] = 1;
  const auto each = c10::multiply_integers(shape);
  auto arrived = none;
  if (lacking > 0) {
    const auto sent = outgoing.size() == 2 ? outgoing[1] : at::cat(outgoing);
    const auto rows = sent.cpu().reshape({std::reduce(send.begin(), send.end()), each});
    arrived = exchange_rows(rows, send, receive, comm).to(none.device());
  }

  std::exclusive_scan(receive.begin(), receive.end(), next.begin(), std::int64_t{0});
  std::vector<at::Tensor> parts{none};
  for (const auto& stretch : mine)
    for (int r = 0; r < ranks; ++r) {
      const auto size = size_of(owners.part(stretch, r, me));
      if (size == 0) continue;
      auto& first = next[static_cast<std::size_t>(r)];
      shape[static_cast<std::size_t>(axis)] = size;
      parts.push_back(r == me ? owners.own_part(stretch, me) : arrived.narrow(0, first, size).view(shape));
      if (r != me) first += size;
    }
  return concatenated(parts, axis);
}

}  // namespace heatpp::detail
