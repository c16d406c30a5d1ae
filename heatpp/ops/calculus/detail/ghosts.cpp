#include <heatpp/ops/calculus/detail/ghosts.hpp>

#include <heatpp/core/detail/element.hpp>

namespace heatpp::detail {
namespace {

at::Tensor positions(const std::vector<std::int64_t>& values, at::Device device) {
  return at::tensor(at::ArrayRef<std::int64_t>(values), at::kLong).to(device);
}

/// The wanted indices in first .. last: their places in the list, and the indices less `first`.
struct Part {
  std::vector<std::int64_t> places, indices;
};
Part part_of(const std::vector<std::int64_t>& wanted, std::int64_t first, std::int64_t last) {
  Part part;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] >= first && wanted[i] < last) {
      part.places.push_back(static_cast<std::int64_t>(i));
      part.indices.push_back(wanted[i] - first);
    }
  return part;
}

}  // namespace

Ghosts::Ghosts(const DNDarray& x, int axis, const Wanted& wanted, const Scalar& fill) {
  const auto& comm = x.comm();
  const auto local = x.larray().movedim(axis, 0);
  const bool split = x.split() == axis;
  const auto first = [&](int rank) { return split ? x.layout().offset(rank) : 0; };
  const auto last = [&](int rank) { return split ? x.layout().offset(rank + 1) : local.size(0); };
  const auto mine = wanted(comm.rank());
  auto shape = local.sizes().vec();
  shape[0] = std::ssize(mine);
  rows_ = at::full(shape, element_of(fill, x.dtype()), local.options());
  const auto own = part_of(mine, first(comm.rank()), last(comm.rank()));
  rows_.index_copy_(0, positions(own.places, local.device()),
                    local.index_select(0, positions(own.indices, local.device())));
  if (!split) return;
  for (int peer = 0; peer < comm.size(); ++peer) {
    if (peer == comm.rank() || first(peer) == last(peer)) continue;
    const auto part = part_of(mine, first(peer), last(peer));
    if (part.places.empty()) continue;
    shape[0] = std::ssize(part.places);
    auto& message = arriving_.emplace_back(at::empty(shape, local.options().device(at::kCPU)),
                                           positions(part.places, local.device()), Request());
    message.request = comm.ireceive(buffer_of(message.rows), peer);
  }
  if (first(comm.rank()) == last(comm.rank())) return;
  for (int peer = 0; peer < comm.size(); ++peer) {
    if (peer == comm.rank()) continue;
    const auto part = part_of(wanted(peer), first(comm.rank()), last(comm.rank()));
    if (part.indices.empty()) continue;
    leaving_.push_back(local.index_select(0, positions(part.indices, local.device())).contiguous().cpu());
    sends_.push_back(comm.isend(buffer_of(leaving_.back()), peer));
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
