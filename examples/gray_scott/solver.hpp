#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

/// Solves the Gray-Scott reaction (Pearson 1993) in a periodic box, du/dt = 0.12 D(u) - u v^2 + 0.03 (1 - u) and
/// dv/dt = 0.06 D(v) + u v^2 - 0.09 v, where D is the Laplacian, a stencil of 27 points. It is an example of a
/// simulation code without heatpp. It owns its communicator, a Cartesian one that cuts the box along its first two
/// axes, and its memory, with one ghost cell around the cells of a rank. The caller fills the ghost cells.
class GrayScott {
 public:
  using Triple = std::array<std::int64_t, 3>;
  GrayScott(MPI_Comm comm, std::int64_t side);
  ~GrayScott();
  GrayScott(const GrayScott&) = delete;
  GrayScott& operator=(const GrayScott&) = delete;

  /// Makes one explicit step. The ghost cells must be those of the neighbors.
  void step();

  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] std::int64_t side() const { return side_; }
  /// The first cell of this rank, and how many it has along each axis.
  [[nodiscard]] const Triple& offset() const { return offset_; }
  [[nodiscard]] const Triple& cells() const { return cells_; }
  /// Memory of both substances in C order, with ghost cells.
  [[nodiscard]] double* u() { return u_.data(); }
  [[nodiscard]] double* v() { return v_.data(); }
  /// The place of a cell of this rank in the memory; -1 and cells() are ghost cells.
  [[nodiscard]] std::size_t place(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return static_cast<std::size_t>(((i + 1) * (cells_[1] + 2) + j + 1) * (cells_[2] + 2) + k + 1);
  }

 private:
  [[nodiscard]] double laplacian(const std::vector<double>& field, std::size_t place) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::int64_t side_;
  Triple offset_{}, cells_{};
  std::vector<double> u_, v_, du_, dv_;
};
