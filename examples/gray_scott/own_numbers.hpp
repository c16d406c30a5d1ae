#pragma once

#include "solver.hpp"

#include <complex>

/// The numbers of the second substance that the host computes itself, by loops and MPI, to compare heatpp's with.
struct OwnNumbers {
  double mean = 0, deviation = 0, most = 0;
  std::vector<double> histogram;  ///< counts in equal intervals from 0 to 1
};
[[nodiscard]] OwnNumbers own_numbers(GrayScott& host, std::size_t bins);

/// Returns the Fourier coefficient for whole wave numbers, divided by the number of cells.
[[nodiscard]] std::complex<double> own_coefficient(GrayScott& host, const GrayScott::Triple& wave);

/// Returns half the difference of the neighbors along an axis, for each cell of this rank. Needs the ghost cells.
[[nodiscard]] std::vector<double> own_differences(GrayScott& host, int axis);

/// Copies the cells of this rank.
[[nodiscard]] std::vector<double> own_cells(GrayScott& host);

/// Returns the products of each two snapshots, without the mean over the snapshots of each cell, in C order.
[[nodiscard]] std::vector<double> own_products(GrayScott& host, const std::vector<std::vector<double>>& snapshots);

/// Returns the largest eigenvalue of a symmetric matrix with eigenvalues above 0.
[[nodiscard]] double own_largest_eigenvalue(const std::vector<double>& matrix);

/// Returns the sum of a number over the ranks.
[[nodiscard]] double own_sum(GrayScott& host, double number);
