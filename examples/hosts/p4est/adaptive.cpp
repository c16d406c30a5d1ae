// A host with an adaptive mesh: p4est refines squares in which a field is steep. It distributes them along a curve, so
// that all ranks have similar numbers of squares. heatpp uses the values of the cells in place: weighted moments, a
// histogram by area, and a file of all cells, written by all ranks.
//     mpirun -n 4 adaptive [file]
#include <p4est_bits.h>
#include <p4est_extended.h>

#include <cmath>
#include <fmt/ranges.h>
#include <heatpp/heatpp.hpp>
#include <heatpp/interop/mpi.hpp>
#include <heatpp_io/formats.hpp>

#include <array>

namespace ht = heatpp;

namespace {

constexpr int coarsest = 3, finest = 8;

struct Cell {
  double x, y, side;  // its center
};
Cell cell_of(p4est_t* mesh, p4est_topidx_t tree, p4est_quadrant_t* quadrant) {
  const auto half = P4EST_QUADRANT_LEN(quadrant->level) / 2;
  std::array<double, 3> at{};
  p4est_qcoord_to_vertex(mesh->connectivity, tree, quadrant->x + half, quadrant->y + half, at.data());
  return {at[0], at[1], std::ldexp(1.0, -quadrant->level)};
}

/// A step across a circle, with a width of 1/50.
double field(const Cell& cell) { return std::tanh((std::hypot(cell.x - 0.5, cell.y - 0.5) - 0.3) * 50); }

int is_steep(p4est_t* mesh, p4est_topidx_t tree, p4est_quadrant_t* quadrant) {
  const auto cell = cell_of(mesh, tree, quadrant);
  return quadrant->level < finest && std::abs(std::hypot(cell.x - 0.5, cell.y - 0.5) - 0.3) < std::max(cell.side, 0.02);
}

/// The value, the area and the depth of each of this rank's cells.
struct Cells {
  std::vector<double> value, area;
  std::vector<std::int8_t> level;
};
Cells cells_of(p4est_t* mesh) {
  Cells cells;
  for (auto tree = mesh->first_local_tree; tree <= mesh->last_local_tree; ++tree) {
    auto& quadrants = p4est_tree_array_index(mesh->trees, tree)->quadrants;
    for (std::size_t i = 0; i < quadrants.elem_count; ++i) {
      auto* const quadrant = p4est_quadrant_array_index(&quadrants, i);
      const auto cell = cell_of(mesh, tree, quadrant);
      cells.value.push_back(field(cell));
      cells.area.push_back(cell.side * cell.side);
      cells.level.push_back(quadrant->level);
    }
  }
  return cells;
}

/// Returns the mean and the mean square over the area, computed by the host itself.
std::array<double, 2> moments_of(const Cells& cells) {
  std::array<double, 2> sums{};
  for (std::size_t i = 0; i < cells.value.size(); ++i) {
    sums[0] += cells.value[i] * cells.area[i];
    sums[1] += cells.value[i] * cells.value[i] * cells.area[i];
  }
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sums;
}

void look(p4est_t* mesh, const std::string& file) {
  auto cells = cells_of(mesh);
  const auto value = ht::from_local(cells.value, {.split = 0}), area = ht::from_local(cells.area, {.split = 0});
  const auto level = ht::from_local(cells.level, {.split = 0});
  const auto mean = ht::average(value, {.weights = area}).item<double>();
  const auto square = ht::average(value * value, {.weights = area}).item<double>();
  const auto own = moments_of(cells);
  if (std::abs(mean - own[0]) > 1e-12 || std::abs(square - own[1]) > 1e-12)
    throw ht::ValueError(fmt::format("[look] got {}, {}; expected {}, {}, the host's", mean, square, own[0], own[1]));

  const auto steep = ht::sum(area(ht::abs(value) < 0.5)).item<double>();
  const auto per_level = ht::bincount(level).to_vector<std::int64_t>();
  const auto [by_area, edges] = ht::histogram(value, {.bins = 4, .range = {-1, 1}, .weights = area});
  ht::io::save(ht::stack({value, area}, 1), file);
  if (value.comm().rank() > 0) return;
  fmt::print("{} cells, by level {}; mean {:.6f}, {:.4f} of the area is steep, by value {:.4f}\n", value.size(),
             fmt::join(per_level, " "), mean, steep, fmt::join(by_area.to_vector<double>(), " "));
}

}  // namespace

int main(int argc, char** argv) {
  const ht::Environment env(argc, argv);
  sc_init(MPI_COMM_WORLD, 1, 0, nullptr, SC_LP_ERROR);
  p4est_init(nullptr, SC_LP_ERROR);
  auto* const square = p4est_connectivity_new_unitsquare();
  auto* const mesh = p4est_new_ext(MPI_COMM_WORLD, square, 0, coarsest, 1, 0, nullptr, nullptr);
  const auto code = ht::run(argc, argv, [&] {
    for (int round = coarsest; round < finest; ++round) {
      p4est_refine(mesh, 0, is_steep, nullptr);
      p4est_balance(mesh, P4EST_CONNECT_FULL, nullptr);
      p4est_partition(mesh, 0, nullptr);
      look(mesh, argc > 1 ? argv[1] : "adaptive.h5");
    }
  });
  p4est_destroy(mesh);
  p4est_connectivity_destroy(square);
  sc_finalize();
  return code;
}
