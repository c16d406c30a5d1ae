#include "solver.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <xtensor/xview.hpp>

namespace {

constexpr double alpha = 1.0;

}  // namespace

double HeatSolver::hot_disc(double x, double y) { return std::hypot(x - 0.4, y - 0.5) < 0.2 ? 100.0 : 0.0; }

HeatSolver::HeatSolver(MPI_Comm comm, std::size_t points, const Start& start)
    : spacing_(1.0 / (static_cast<double>(points) + 1)) {
  MPI_Comm_dup(comm, &comm_);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  const auto p = static_cast<std::size_t>(size_), r = static_cast<std::size_t>(rank_);
  const std::size_t first = points * r / p, last = points * (r + 1) / p;
  field_ = xt::zeros<double>({last - first + 2, points});
  next_ = field_;
  for (std::size_t i = first; i < last; ++i)
    for (std::size_t j = 0; j < points; ++j)
      field_(i - first + 1, j) = start(static_cast<double>(i + 1) * spacing_, static_cast<double>(j + 1) * spacing_);
}

HeatSolver::~HeatSolver() { MPI_Comm_free(&comm_); }

void HeatSolver::exchange_ghosts() {
  const int above = rank_ > 0 ? rank_ - 1 : MPI_PROC_NULL, below = rank_ + 1 < size_ ? rank_ + 1 : MPI_PROC_NULL;
  const auto n = static_cast<int>(columns());
  double* const first = interior();
  double* const last = interior() + (rows() - 1) * columns();
  MPI_Sendrecv(first, n, MPI_DOUBLE, above, 0, last + columns(), n, MPI_DOUBLE, below, 0, comm_, MPI_STATUS_IGNORE);
  MPI_Sendrecv(last, n, MPI_DOUBLE, below, 1, first - columns(), n, MPI_DOUBLE, above, 1, comm_, MPI_STATUS_IGNORE);
}

void HeatSolver::step() {
  exchange_ghosts();
  const double dt = spacing_ * spacing_ / (4 * alpha), factor = alpha * dt / (spacing_ * spacing_);
  const auto n = columns();
  for (std::size_t i = 1; i <= rows(); ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const double left = j > 0 ? field_(i, j - 1) : 0.0, right = j + 1 < n ? field_(i, j + 1) : 0.0;
      next_(i, j) = field_(i, j) + factor * (field_(i - 1, j) + field_(i + 1, j) + left + right - 4 * field_(i, j));
    }
  std::swap(field_, next_);
  time_ += dt;
}
