#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::detail {

/// Whether the ranks that hold copies of one block are in groups of their own, or in one.
enum class Copies { apart, together };

/// Returns the ranks that a reduction along these axes combines: those whose blocks differ from this rank's only along
/// them, in C order of their blocks, and the holders of copies of these blocks behind each if they are together. If the
/// layout is no grid, it returns all ranks. The first call for a grid splits the communicator (collective) and keeps
/// the group as long as the communicator. Later calls for this grid take no time for each rank.
[[nodiscard]] Communicator group_along(const Layout& layout, const Communicator& comm,
                                       std::span<const std::int64_t> axes, Copies copies = Copies::apart);
[[nodiscard]] inline Communicator group_along(const DNDarray& x, std::span<const std::int64_t> axes) {
  return group_along(x.layout(), x.comm(), axes);
}
/// Returns the ranks whose blocks differ from this rank's only along `axis`: the rank at place i along it is rank i.
[[nodiscard]] inline Communicator group_along(const DNDarray& x, int axis) {
  const std::int64_t axes[] = {axis};
  return group_along(x.layout(), x.comm(), axes);
}

/// Returns the ranks that together hold each element of an array once.
[[nodiscard]] Communicator group_of_blocks(const Layout& layout, const Communicator& comm);

}  // namespace heatpp::detail
