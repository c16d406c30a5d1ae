#include <heatpp/ops/indexing/detail/routes.hpp>
#include <heatpp/ops/shape/detail/along.hpp>

#include <algorithm>

namespace heatpp::detail {
namespace {

/// Returns how many rows there are for one position along the split axis.
std::int64_t rows_of_position(const DNDarray& x, std::span<const int> axes) {
  std::int64_t rows = 1;
  for (const auto axis : axes) rows *= axis == x.split() ? 1 : extent_of(x, axis);
  return rows;
}

/// Returns row numbers in C order with the split axis first, so that each rank's rows are contiguous.
at::Tensor rows_at(const DNDarray& x, std::span<const int> axes, std::span<const at::Tensor> positions) {
  at::Tensor along_split, others;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto flat = positions[i].reshape({-1});
    if (axes[i] == x.split()) along_split = flat;
    else others = others.defined() ? others * extent_of(x, axes[i]) + flat : flat;
  }
  return others.defined() ? at::add(others, along_split, rows_of_position(x, axes)) : along_split.contiguous();
}

/// Returns what others request of this rank, which has rows first .. last, from all requests. The cut leaves them in C
/// order.
at::Tensor asked_of(std::int64_t first, std::int64_t last, const at::Tensor& all, const Layout& cut,
                    std::vector<RowsOfRank>& counts) {
  const auto* row = all.const_data_ptr<std::int64_t>();
  const auto each = cut.size() / std::max<std::int64_t>(1, cut.offset(cut.ranks()));
  std::vector<std::int64_t> keys;
  for (int rank = 0; rank < cut.ranks(); ++rank) {
    const auto before = std::ssize(keys);
    for (auto i = cut.offset(rank) * each; i < cut.offset(rank + 1) * each; ++i)
      if (row[i] >= first && row[i] < last) keys.push_back(row[i] - first);
    if (std::ssize(keys) > before) counts.push_back({rank, std::ssize(keys) - before});
  }
  return at::tensor(keys, at::kLong);
}

}  // namespace

Requests requests(const DNDarray& x, std::span<const int> axes, std::span<const at::Tensor> positions,
                  const Layout& cut, std::span<const at::Tensor> everywhere) {
  const auto cut_of_rows = x.layout().cut().scaled(rows_of_position(x, axes));
  const auto first = cut_of_rows.first(x.comm().rank()), last = cut_of_rows.last(x.comm().rank());
  const auto rows = rows_at(x, axes, positions);
  const auto owners = owners_of(rows, cut_of_rows);
  if (everywhere.empty()) {
    auto route = route_to(owners, x.comm());
    auto keys = route.there(rows);
    if (first > 0) keys.sub_(first);  // on a single rank they begin at 0
    return {std::move(route), std::move(keys)};
  }
  std::vector<RowsOfRank> counts;
  auto keys = asked_of(first, last, rows_at(x, axes, everywhere), cut, counts);
  return {route_to(owners, x.comm(), std::move(counts)), std::move(keys)};
}

std::vector<at::Tensor> positions_of_keys(const DNDarray& x, std::span<const int> axes, at::Tensor keys) {
  std::vector<at::Tensor> positions(axes.size());
  for (auto i = std::ssize(axes) - 1; i >= 0; --i) {
    const auto at_axis = static_cast<std::size_t>(i);
    if (axes[at_axis] == x.split()) continue;
    positions[at_axis] = at::remainder(keys, extent_of(x, axes[at_axis]));
    keys = at::floor_divide(keys, extent_of(x, axes[at_axis]));
  }
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i] == x.split()) positions[i] = keys;
  return positions;
}

}  // namespace heatpp::detail
