#include <heatpp/core/detail/cuts/boxes.hpp>

#include <heatpp/core/detail/cuts/ranks_over.hpp>

namespace heatpp::detail {

Box box_of(const Layout& layout, int rank) { return {layout.local_offset(rank), layout.local_shape(rank)}; }

Box common(const Box& a, const Box& b) {
  auto both = a;
  for (std::size_t axis = 0; axis < a.first.size(); ++axis) {
    both.first[axis] = std::max(a.first[axis], b.first[axis]);
    const auto last = std::min(a.first[axis] + a.count[axis], b.first[axis] + b.count[axis]);
    both.count[axis] = std::max<std::int64_t>(0, last - both.first[axis]);
  }
  return both;
}

void for_each_owner(const Layout& layout, const Box& box, const std::function<void(int)>& f) {
  if (box.empty()) return;
  if (!layout.is_cut()) {
    for (int rank = 0; rank < layout.ranks(); ++rank) f(rank);
    return;
  }
  std::vector<RankRange> ranges;
  for (int axis = 0; axis < layout.ndim(); ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    ranges.push_back(ranks_over(layout.cut_along(axis), box.first[i], box.first[i] + box.count[i]));
  }
  std::vector<int> places;
  const std::function<void()> visit = [&] {
    if (places.size() == ranges.size()) {
      if (!layout.is_grid()) return f(places[static_cast<std::size_t>(*layout.split())]);
      for (int copy = 0; copy < layout.grid_cut().copies(); ++copy) f(layout.grid_cut().rank_at(places, copy));
      return;
    }
    const auto range = ranges[places.size()];
    for (auto place = range.first; place < range.last; ++place) {
      places.push_back(place);
      visit();
      places.pop_back();
    }
  };
  visit();
}

int giver_of(const Layout& layout, int holder, int taker) {
  if (!layout.is_grid()) return holder;
  const auto& grid = layout.grid_cut();
  if (grid.alike(holder, taker)) return taker;
  std::vector<int> places;
  for (int axis = 0; axis < layout.ndim(); ++axis) places.push_back(layout.place_along(axis, holder));
  return grid.rank_at(places, taker % grid.copies());
}

int owner_at(const Layout& layout, const Shape& index) {
  int owner = layout.ranks();
  for_each_owner(layout, {index, Shape(index.size(), 1)}, [&](int rank) { owner = std::min(owner, rank); });
  return owner;
}

std::int64_t elements_moved(const Layout& from, const Layout& to) {
  std::int64_t moved = 0;
  for (int rank = 0; rank < to.ranks(); ++rank)
    moved += size_of(to.local_shape(rank)) - size_of(common(box_of(from, rank), box_of(to, rank)).count);
  return moved;
}

}  // namespace heatpp::detail
