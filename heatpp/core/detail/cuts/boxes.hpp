#pragma once

#include <heatpp/core/layout.hpp>

#include <functional>

namespace heatpp::detail {

/// The indices first to before first + count along each axis.
struct Box {
  Shape first, count;
  [[nodiscard]] bool empty() const {
    return std::ranges::any_of(count, [](auto extent) { return extent <= 0; });
  }
};

/// Returns what `rank` holds.
[[nodiscard]] Box box_of(const Layout& layout, int rank);
/// Returns what is in both boxes.
[[nodiscard]] Box common(const Box& a, const Box& b);
/// Calls f(rank) for each rank whose block may meet the box, once; also for all that hold the same block. Takes time
/// for these ranks only.
void for_each_owner(const Layout& layout, const Box& box, const std::function<void(int)>& f);
/// Returns the rank that sends what is in the block of `holder` to `taker`: if several ranks hold that block, it is the
/// taker itself if it does, else one of them that follows from the taker. The layout is cut.
[[nodiscard]] int giver_of(const Layout& layout, int holder, int taker);
/// Returns a rank that holds the element at `index`: rank 0 if the layout is not cut.
[[nodiscard]] int owner_at(const Layout& layout, const Shape& index);
/// Returns how many elements ranks get in all if an array is recut. At least one of the layouts is of a grid.
[[nodiscard]] std::int64_t elements_moved(const Layout& from, const Layout& to);

}  // namespace heatpp::detail
