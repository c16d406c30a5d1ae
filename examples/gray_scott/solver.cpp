#include "solver.hpp"

#include <algorithm>
#include <cstdlib>

GrayScott::GrayScott(MPI_Comm comm, std::int64_t side) : side_(side) {
  std::array<int, 3> ranks{0, 0, 1}, at{};
  const std::array<int, 3> periodic{1, 1, 1};
  int size = 0, rank = 0;
  MPI_Comm_size(comm, &size);
  MPI_Dims_create(size, 3, ranks.data());
  MPI_Cart_create(comm, 3, ranks.data(), periodic.data(), 1, &comm_);
  MPI_Comm_rank(comm_, &rank);
  MPI_Cart_coords(comm_, rank, 3, at.data());
  for (std::size_t axis = 0; axis < 3; ++axis) {
    offset_[axis] = side * at[axis] / ranks[axis];
    cells_[axis] = side * (at[axis] + 1) / ranks[axis] - offset_[axis];
  }
  u_.assign(static_cast<std::size_t>((cells_[0] + 2) * (cells_[1] + 2) * (cells_[2] + 2)), 1.0);
  v_.assign(u_.size(), 0.0);
  du_ = dv_ = v_;
  // The reaction begins in a cube in the middle.
  const auto is_near = [&](std::int64_t cell) { return std::abs(cell - side / 2) < side / 6; };
  for (std::int64_t i = 0; i < cells_[0]; ++i)
    for (std::int64_t j = 0; j < cells_[1]; ++j)
      for (std::int64_t k = 0; k < cells_[2]; ++k)
        if (is_near(i + offset_[0]) && is_near(j + offset_[1]) && is_near(k + offset_[2]))
          u_[place(i, j, k)] = 0.5, v_[place(i, j, k)] = 0.25;
}

GrayScott::~GrayScott() { MPI_Comm_free(&comm_); }

double GrayScott::laplacian(const std::vector<double>& field, std::size_t place) const {
  static constexpr std::array weights{-128.0, 14.0, 3.0, 1.0};  // the cell, its faces, edges and corners
  const auto row = cells_[2] + 2, plane = row * (cells_[1] + 2);
  const double* const at = field.data() + place;
  double sum = 0;
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j)
      for (int k = -1; k <= 1; ++k)
        sum += weights[static_cast<std::size_t>(i * i + j * j + k * k)] * at[i * plane + j * row + k];
  return sum / 30;
}

void GrayScott::step() {
  constexpr double spread_u = 0.12, spread_v = 0.06, feed = 0.03, kill = 0.06;
  const auto each_cell = [&](auto work) {
    for (std::int64_t i = 0; i < cells_[0]; ++i)
      for (std::int64_t j = 0; j < cells_[1]; ++j)
        for (std::int64_t k = 0; k < cells_[2]; ++k) work(place(i, j, k));
  };
  each_cell([&](std::size_t at) {
    const auto reaction = u_[at] * v_[at] * v_[at];
    du_[at] = spread_u * laplacian(u_, at) - reaction + feed * (1 - u_[at]);
    dv_[at] = spread_v * laplacian(v_, at) + reaction - (feed + kill) * v_[at];
  });
  each_cell([&](std::size_t at) { u_[at] += du_[at], v_[at] += dv_[at]; });
}
