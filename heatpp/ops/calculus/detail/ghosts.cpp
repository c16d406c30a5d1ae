#include <heatpp/ops/calculus/detail/ghosts.hpp>

#include <heatpp/core/detail/cuts/group_along.hpp>
#include <heatpp/core/detail/element.hpp>

namespace heatpp::detail {
namespace {

at::Tensor positions(const std::vector<std::int64_t>& values, at::Device device) {
  return at::tensor(at::ArrayRef<std::int64_t>(values), at::kLong).to(device);
}

/// Returns the lists of this rank. If the axis is not cut, the rank holds all of it.
GhostLists lists_of(const DNDarray& x, int axis, const Wanted& wanted, std::vector<RankRange> takers) {
  const auto cut = x.layout().cut_along(axis);
  const auto me = x.layout().place_along(axis, x.comm().rank());
  return ghost_lists(cut, me, wanted, cut.ranks() > 1 ? std::move(takers) : std::vector<RankRange>());
}

}  // namespace

Ghosts::Ghosts(const DNDarray& x, int axis, const Wanted& wanted, std::vector<RankRange> takers, const Scalar& fill) {
  const auto comm = group_along(x, axis);
  const auto me = x.layout().place_along(axis, x.comm().rank());
  const auto local = x.larray().movedim(axis, 0);
  const auto lists = lists_of(x, axis, wanted, std::move(takers));
  auto shape = local.sizes().vec();
  shape[0] = lists.count;
  rows_ = at::full(shape, element_of(fill, x.dtype()), local.options());
  for (const auto& part : lists.arriving) {
    const auto places = positions(part.places, local.device());
    if (part.rank == me) {
      rows_.index_copy_(0, places, local.index_select(0, positions(part.indices, local.device())));
      continue;
    }
    shape[0] = std::ssize(part.places);
    auto& message = arriving_.emplace_back(at::empty(shape, local.options().device(at::kCPU)), places, Request());
    message.request = comm.ireceive(buffer_of(message.rows), part.rank);
  }
  for (const auto& part : lists.leaving) {
    leaving_.push_back(local.index_select(0, positions(part.indices, local.device())).contiguous().cpu());
    sends_.push_back(comm.isend(buffer_of(leaving_.back()), part.rank));
  }
}

const at::Tensor& Ghosts::rows() {
  for (auto& message : arriving_) {
    message.request.wait();
    rows_.index_copy_(0, message.places, message.rows.to(rows_.device()));
  }
  for (auto& request : sends_) request.wait();
  arriving_.clear();
  sends_.clear();
  leaving_.clear();
  return rows_;
}

}  // namespace heatpp::detail
