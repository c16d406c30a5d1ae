#pragma once

#include <mpi.h>

#include <functional>
#include <xtensor/xtensor.hpp>

/// Solves the heat equation du/dt = alpha (d2u/dx2 + d2u/dy2) on a square plate with cold edges, by explicit finite
/// differences. It is an example of a simulation code without heatpp. It owns its communicator and its memory. It
/// splits the rows of the plate over the ranks, with one ghost row above and one below.
class HeatSolver {
 public:
  /// The initial temperature at a point of the plate, 0 <= x, y <= 1.
  using Start = std::function<double(double x, double y)>;
  static double hot_disc(double x, double y);
  /// Splits `points` x `points` interior points over the ranks of a duplicate of `comm`.
  HeatSolver(MPI_Comm comm, std::size_t points, const Start& start = hot_disc);
  ~HeatSolver();
  HeatSolver(const HeatSolver&) = delete;
  HeatSolver& operator=(const HeatSolver&) = delete;

  /// Makes one time step of the largest stable length.
  void step();

  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] double time() const { return time_; }
  [[nodiscard]] std::size_t rows() const { return field_.shape(0) - 2; }
  [[nodiscard]] std::size_t columns() const { return field_.shape(1); }
  /// Returns the rows of this rank, without the ghosts, in C order.
  [[nodiscard]] double* interior() { return field_.data() + columns(); }

 private:
  void exchange_ghosts();

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  double spacing_, time_ = 0;
  xt::xtensor<double, 2> field_, next_;
};
