#include <heatpp/linalg/solvers/detail/block_cyclic.hpp>

#include <heatpp/core/detail/cuts/group_along.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace heatpp::detail {
namespace {

Communicator ranks_beside(const Layout& grid, const Communicator& comm, std::int64_t axis) {
  return group_along(grid, comm, std::array{axis});
}

/// Whether `taker` gets from `holder` what that one holds under a layout.
bool gives(const Layout& layout, int holder, int taker) {
  return layout.is_cut() ? giver_of(layout, holder, taker) == holder : holder == taker;
}

Parts listed(std::map<int, std::vector<at::Tensor>> tensors) {
  Parts parts;
  for (auto& [rank, of_rank] : tensors) parts.push_back({rank, std::move(of_rank)});
  return parts;
}

}  // namespace

BlockCyclic::BlockCyclic(const DNDarray& x, const Layout& grid, std::int64_t width)
    : grid_(grid),
      comm_(x.comm()),
      in_row_(ranks_beside(grid, comm_, 1)),
      in_column_(ranks_beside(grid, comm_, 0)),
      width_(width),
      shape_(x.shape()),
      device_(x.larray().device()) {
  const auto block = x.larray().resolve_conj().resolve_neg().cpu();
  local_ = at::empty({before(0, blocks(0)), before(1, blocks(1))}, block.options());
  exchange_parts(parts_of(block, x.layout(), true), parts_of_blocks(x.layout(), true), comm_);
  local_ = local_.to(device_);
}

DNDarray BlockCyclic::array(const Layout& target) const {
  auto on_host = *this;
  on_host.local_ = local_.cpu();
  const auto block = at::empty(target.local_shape(comm_.rank()), on_host.local_.options());
  exchange_parts(on_host.parts_of_blocks(target, false), on_host.parts_of(block, target, false), comm_);
  return wrap(block.to(device_), target, comm_);
}

std::int64_t BlockCyclic::before(int axis, std::int64_t number) const {
  const auto held = [&](std::int64_t blocks) {
    return blocks <= place(axis) ? 0 : (blocks - place(axis) - 1) / ranks(axis) + 1;
  };
  const auto last = blocks(axis) - 1;  // the only one that may be smaller
  const bool with_last = number > last && last >= 0 && owns(axis, last);
  return held(number) * width_ - (with_last ? width_ - extent_of_block(axis, last) : 0);
}

Box BlockCyclic::box(std::int64_t row, std::int64_t column) const {
  return {{row * width_, column * width_}, {extent_of_block(0, row), extent_of_block(1, column)}};
}

at::Tensor BlockCyclic::part(std::int64_t row, std::int64_t column, const Box& box) const {
  return local_.narrow(0, before(0, row) + box.first[0] - row * width_, box.count[0])
      .narrow(1, before(1, column) + box.first[1] - column * width_, box.count[1]);
}

Parts BlockCyclic::parts_of_blocks(const Layout& other, bool from_other) const {
  std::map<int, std::vector<at::Tensor>> parts;
  const auto add = [&](std::int64_t row, std::int64_t column) {
    for_each_owner(other, box(row, column), [&](int rank) {
      const auto both = common(box(row, column), box_of(other, rank));
      if (!both.empty() && (!from_other || gives(other, rank, comm_.rank())))
        parts[rank].push_back(part(row, column, both));
    });
  };
  for_each_block(0, 0, [&](std::int64_t row, std::int64_t, std::int64_t) {
    for_each_block(1, 0, [&](std::int64_t column, std::int64_t, std::int64_t) { add(row, column); });
  });
  return listed(std::move(parts));
}

Parts BlockCyclic::parts_of(const at::Tensor& block, const Layout& layout, bool from_it) const {
  std::map<int, std::vector<at::Tensor>> parts;
  const auto mine = box_of(layout, comm_.rank());
  if (mine.empty()) return {};
  for (auto row = mine.first[0] / width_; row * width_ < mine.first[0] + mine.count[0]; ++row)
    for (auto column = mine.first[1] / width_; column * width_ < mine.first[1] + mine.count[1]; ++column) {
      const std::array places{static_cast<int>(row % ranks(0)), static_cast<int>(column % ranks(1))};
      const auto peer = grid_.grid_cut().rank_at(places, 0);
      if (from_it && !gives(layout, comm_.rank(), peer)) continue;
      const auto both = common(mine, box(row, column));
      parts[peer].push_back(block.narrow(0, both.first[0] - mine.first[0], both.count[0])
                                .narrow(1, both.first[1] - mine.first[1], both.count[1]));
    }
  return listed(std::move(parts));
}

at::Tensor shared_matrix(const Communicator& group, const at::Tensor& value, at::IntArrayRef shape,
                         const at::TensorOptions& options, std::int64_t owner) {
  const auto on_host = group.rank() == owner ? value.cpu().contiguous() : at::empty(shape, options.device(at::kCPU));
  if (group.size() > 1 && on_host.numel() > 0) group.broadcast(buffer_of(on_host), static_cast<int>(owner));
  return on_host.to(options.device());
}

}  // namespace heatpp::detail
