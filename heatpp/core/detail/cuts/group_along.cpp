#include <heatpp/core/detail/cuts/group_along.hpp>

#include <algorithm>
#include <map>
#include <mutex>

namespace heatpp::detail {
namespace {

/// The group of each rank, and its place there.
using Places = std::vector<std::pair<int, int>>;
/// A communicator and its group of this rank.
using Groups = std::map<std::pair<const void*, Places>, std::pair<Communicator, Communicator>>;

/// Returns a number that ranks of the same group have in common, and one that gives their order in it.
std::pair<int, int> place_of(const Layout& layout, const std::vector<bool>& along, int rank) {
  const auto& grid = layout.grid_cut();
  int color = grid.copy_of(rank), key = 0;
  for (std::size_t axis = 0; axis < along.size(); ++axis) {
    auto& number = along[axis] ? key : color;
    number = number * grid.cuts()[axis].ranks() + grid.coordinate(rank, axis);
  }
  return {color, key};
}

}  // namespace

Communicator group_along(const Layout& layout, const Communicator& comm, std::span<const std::int64_t> axes) {
  if (!layout.is_grid()) return comm;
  std::vector<bool> along(layout.shape().size(), false);
  for (const auto axis : axes) along[static_cast<std::size_t>(axis)] = true;
  Places places;
  for (int rank = 0; rank < layout.ranks(); ++rank) places.push_back(place_of(layout, along, rank));
  const auto is_all = [&](const auto& place) {
    return place == std::pair(0, static_cast<int>(&place - places.data()));
  };
  if (std::ranges::all_of(places, is_all)) return comm;
  static std::mutex mutex;
  static Groups groups;
  const std::lock_guard lock(mutex);
  const auto key = std::pair<const void*, Places>(&comm.impl(), places);
  auto found = groups.find(key);
  if (found == groups.end()) {
    const auto& [color, place] = places[static_cast<std::size_t>(comm.rank())];
    const auto group = comm.split(color, place);
    // The communicator is kept, too, so that its address names no other one.
    found = groups.emplace(key, std::pair(comm, *group)).first;
  }
  return found->second.second;
}

Communicator group_of_blocks(const Layout& layout, const Communicator& comm) {
  std::vector<std::int64_t> axes;
  for (int axis = 0; axis < layout.ndim(); ++axis) axes.push_back(axis);
  return group_along(layout, comm, axes);
}

}  // namespace heatpp::detail
