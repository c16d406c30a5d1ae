#include <heatpp/core/detail/cuts/layout_of.hpp>

#include <heatpp/comm/detail/raise.hpp>

namespace heatpp {

Layout detail::layout_of(const char* op, const Shape& shape, std::optional<int> split, const Grid& grid,
                         const Communicator& comm) {
  if (grid.empty()) return {shape, split, comm.size()};
  if (split) raise<ValueError>(op, "got split {} and grid {}; expected one of them", *split, to_string(grid));
  return layout_on_grid(shape, grid, comm);
}

void detail::check_rows_only(const char* op, const Grid& grid) {
  if (!grid.empty())
    raise<ValueError>(op, "got grid {}; expected split 0 or none, since it makes rows", to_string(grid));
}

}  // namespace heatpp
