#include <heatpp/core/detail/owner.hpp>
#include <heatpp/core/detail/route.hpp>
#include <heatpp/ops/indexing/detail/routes.hpp>
#include <heatpp/ops/shape/detail/along.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp::detail {
namespace {

std::span<const std::int64_t> elements(const at::Tensor& tensor) {
  return {tensor.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(tensor.numel())};
}

/// Positions that all ranks together would use as one number: the split axis first, then the others.
struct Rows {
  at::Tensor along_split, among_others;  ///< contiguous; the second undefined where no other axis is indexed
  std::int64_t others = 1;               ///< number of positions among the others
  const std::int64_t *first = nullptr, *second = nullptr;

  Rows(const DNDarray& x, std::span<const int> axes, std::span<const at::Tensor> positions) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const auto flat = positions[i].reshape({-1});
      if (axes[i] == x.split()) {
        along_split = flat.contiguous();
        continue;
      }
      const auto extent = extent_of(x, axes[i]);
      among_others = among_others.defined() ? among_others * extent + flat : flat;
      others *= extent;
    }
    first = along_split.const_data_ptr<std::int64_t>();
    if (!among_others.defined()) return;
    among_others = among_others.contiguous();
    second = among_others.const_data_ptr<std::int64_t>();
  }

  [[nodiscard]] std::int64_t size() const { return along_split.numel(); }
  [[nodiscard]] std::int64_t key(std::int64_t i, std::int64_t offset) const {
    const auto row = first[i] - offset;
    return second ? row * others + second[i] : row;
  }
};

/// Puts this rank's requests in order by owner, and their keys with them: a stable counting sort.
at::Tensor group_by_owner(const DNDarray& x, const Rows& rows, Routes& routes) {
  const auto ranks = static_cast<std::size_t>(x.comm().size());
  const auto positions = elements(rows.along_split);
  std::vector<int> owners(positions.size());
  routes.mine.assign(ranks, 0);
  const auto offsets = x.layout().offsets();
  for (std::size_t i = 0; i < positions.size(); ++i) {
    owners[i] = owner_of(positions[i], offsets);
    ++routes.mine[static_cast<std::size_t>(owners[i])];
  }
  std::vector<std::int64_t> next(ranks, 0);
  std::exclusive_scan(routes.mine.begin(), routes.mine.end(), next.begin(), std::int64_t{0});
  auto keys = at::empty({rows.size()}, at::kLong);
  routes.order = at::empty({rows.size()}, at::kLong);
  auto *key = keys.mutable_data_ptr<std::int64_t>(), *order = routes.order.mutable_data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const auto place = next[static_cast<std::size_t>(owners[i])]++;
    order[place] = static_cast<std::int64_t>(i);
    key[place] = rows.key(static_cast<std::int64_t>(i), offsets[static_cast<std::size_t>(owners[i])]);
  }
  return keys;
}

/// What others ask of this rank, read off positions that it knows all of. The cut leaves them in C order.
void find_asked(const DNDarray& x, const Rows& all, const Layout& cut, Routes& routes) {
  const auto me = x.comm().rank();
  const auto first = x.layout().offset(me), last = x.layout().offset(me + 1);
  const auto positions = elements(all.along_split);
  const auto each = cut.size() / std::max<std::int64_t>(1, cut.offset(cut.ranks()));
  std::vector<std::int64_t> keys;
  for (int rank = 0; rank < cut.ranks(); ++rank) {
    const auto before = std::ssize(keys);
    for (auto i = cut.offset(rank) * each; i < cut.offset(rank + 1) * each; ++i)
      if (const auto p = positions[static_cast<std::size_t>(i)]; p >= first && p < last)
        keys.push_back(all.key(i, first));
    routes.theirs.push_back(std::ssize(keys) - before);
  }
  routes.keys = at::tensor(keys, at::kLong);
}

}  // namespace

Routes route(const DNDarray& x, std::span<const int> axes, std::span<const at::Tensor> positions, const Layout& cut,
             std::span<const at::Tensor> everywhere) {
  Routes routes;
  const auto keys = group_by_owner(x, Rows(x, axes, positions), routes);
  if (!everywhere.empty()) {
    find_asked(x, Rows(x, axes, everywhere), cut, routes);
  } else {
    routes.theirs = x.comm().alltoall(routes.mine);
    routes.keys = exchange_rows(keys, routes.mine, routes.theirs, x.comm());
  }
  return routes;
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
