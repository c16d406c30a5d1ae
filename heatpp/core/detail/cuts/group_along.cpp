#include <heatpp/core/detail/cuts/group_along.hpp>

#include <heatpp/comm/detail/kept/attached.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>

namespace heatpp::detail {
namespace {

using Along = std::vector<bool>;

/// The group of each rank, and its place there.
using GroupPlaces = std::vector<std::pair<int, int>>;

/// Returns a number that ranks of the same group have in common, and one that gives their order in it.
std::pair<int, int> place_of(const GridCut& grid, const Along& along, Copies copies, int rank) {
  int color = copies == Copies::apart ? grid.copy_of(rank) : 0, key = 0;
  for (std::size_t axis = 0; axis < along.size(); ++axis) {
    auto& number = along[axis] ? key : color;
    number = number * grid.cuts()[axis].ranks() + grid.coordinate(rank, axis);
  }
  return {color, copies == Copies::apart ? key : key * grid.copies() + grid.copy_of(rank)};
}

/// The groups of a communicator's ranks that were made.
class RankGroups {
 public:
  Communicator group(const GridCut& grid, const Communicator& comm, const Along& along, Copies copies) {
    const std::lock_guard lock(mutex_);
    const auto known = std::ranges::find_if(
        recent_, [&](const Recent& one) { return one.along == along && one.copies == copies && one.grid == grid; });
    if (known != recent_.end()) return known->group.value_or(comm);
    constexpr std::size_t most = 64;
    if (recent_.size() == most) recent_.pop_back();
    return recent_.emplace_front(Recent{along, copies, grid, made(grid, comm, along, copies)}).group.value_or(comm);
  }

 private:
  /// What a call asked for, and its result: none if it is the communicator itself, which must not hold itself. Equal
  /// grids need no list of all ranks to be found.
  struct Recent {
    Along along;
    Copies copies;
    GridCut grid;
    std::optional<Communicator> group;
  };

  std::optional<Communicator> made(const GridCut& grid, const Communicator& comm, const Along& along, Copies copies) {
    GroupPlaces places;
    for (int rank = 0; rank < grid.ranks(); ++rank) places.push_back(place_of(grid, along, copies, rank));
    const auto is_all = [&](const auto& place) {
      return place == std::pair(0, static_cast<int>(&place - places.data()));
    };
    if (std::ranges::all_of(places, is_all)) return std::nullopt;
    const auto found = groups_.find(places);
    if (found != groups_.end()) return found->second;
    const auto [color, place] = places[static_cast<std::size_t>(comm.rank())];
    return groups_.emplace(std::move(places), *comm.split(color, place)).first->second;
  }

  std::mutex mutex_;  // a call for another communicator does not wait for this one's `split`
  std::deque<Recent> recent_;
  std::map<GroupPlaces, Communicator> groups_;
};

}  // namespace

Communicator group_along(const Layout& layout, const Communicator& comm, std::span<const std::int64_t> axes,
                         Copies copies) {
  if (!layout.is_grid()) return comm;
  Along along(layout.shape().size(), false);
  for (const auto axis : axes) along[static_cast<std::size_t>(axis)] = true;
  return attached<RankGroups>(comm)->group(layout.grid_cut(), comm, along, copies);
}

Communicator group_of_blocks(const Layout& layout, const Communicator& comm) {
  std::vector<std::int64_t> axes;
  for (int axis = 0; axis < layout.ndim(); ++axis) axes.push_back(axis);
  return group_along(layout, comm, axes);
}

}  // namespace heatpp::detail
