#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::detail {

/// Returns the ranks that a reduction along these axes combines: those that differ from this one only along them,
/// in C order of their blocks.
/// Of an array with one cut, these are all ranks. A group of a grid is made once for each communicator and way of
/// cutting (Communicator::split: collective), and kept as long as the program runs. A call takes time for each rank.
[[nodiscard]] Communicator group_along(const Layout& layout, const Communicator& comm,
                                       std::span<const std::int64_t> axes);
[[nodiscard]] inline Communicator group_along(const DNDarray& x, std::span<const std::int64_t> axes) {
  return group_along(x.layout(), x.comm(), axes);
}

/// Returns the ranks that together hold each element of an array once.
[[nodiscard]] Communicator group_of_blocks(const Layout& layout, const Communicator& comm);

}  // namespace heatpp::detail
