#include "own_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace {

/// Calls work(value, i, j, k) for each cell of this rank, counted within the box.
template <class Work>
void each_cell(GrayScott& host, Work work) {
  const auto& [x, y, z] = host.offset();
  const auto& [nx, ny, nz] = host.cells();
  for (std::int64_t i = 0; i < nx; ++i)
    for (std::int64_t j = 0; j < ny; ++j)
      for (std::int64_t k = 0; k < nz; ++k) work(host.v()[host.place(i, j, k)], x + i, y + j, z + k);
}

void sum_all(GrayScott& host, std::vector<double>& numbers) {
  MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE, MPI_SUM, host.comm());
}

}  // namespace

double own_sum(GrayScott& host, double number) {
  MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_DOUBLE, MPI_SUM, host.comm());
  return number;
}

OwnNumbers own_numbers(GrayScott& host, std::size_t bins) {
  const auto count = std::pow(static_cast<double>(host.side()), 3);
  OwnNumbers own;
  own.histogram.assign(bins, 0);
  each_cell(host, [&](double v, auto...) {
    own.mean += v / count;
    own.most = std::max(own.most, v);
    if (v >= 0 && v <= 1) ++own.histogram[std::min(static_cast<std::size_t>(v * static_cast<double>(bins)), bins - 1)];
  });
  own.mean = own_sum(host, own.mean);
  double squares = 0;
  each_cell(host, [&](double v, auto...) { squares += (v - own.mean) * (v - own.mean) / count; });
  own.deviation = std::sqrt(own_sum(host, squares));
  MPI_Allreduce(MPI_IN_PLACE, &own.most, 1, MPI_DOUBLE, MPI_MAX, host.comm());
  sum_all(host, own.histogram);
  return own;
}

std::complex<double> own_coefficient(GrayScott& host, const GrayScott::Triple& wave) {
  const auto turn = -2 * std::numbers::pi / static_cast<double>(host.side());
  std::complex<double> sum = 0;
  each_cell(host, [&](double v, auto i, auto j, auto k) {
    sum += std::polar(v, turn * static_cast<double>(wave[0] * i + wave[1] * j + wave[2] * k));
  });
  std::vector<double> parts{sum.real(), sum.imag()};
  sum_all(host, parts);
  return std::complex(parts[0], parts[1]) / std::pow(static_cast<double>(host.side()), 3);
}

std::vector<double> own_differences(GrayScott& host, int axis) {
  const auto& [nx, ny, nz] = host.cells();
  const int di = axis == 0 ? 1 : 0, dj = axis == 1 ? 1 : 0, dk = axis == 2 ? 1 : 0;
  std::vector<double> differences;
  for (std::int64_t i = 0; i < nx; ++i)
    for (std::int64_t j = 0; j < ny; ++j)
      for (std::int64_t k = 0; k < nz; ++k)
        differences.push_back(
            (host.v()[host.place(i + di, j + dj, k + dk)] - host.v()[host.place(i - di, j - dj, k - dk)]) / 2);
  return differences;
}

std::vector<double> own_cells(GrayScott& host) {
  std::vector<double> cells;
  each_cell(host, [&](double v, auto...) { cells.push_back(v); });
  return cells;
}

std::vector<double> own_products(GrayScott& host, const std::vector<std::vector<double>>& snapshots) {
  const auto count = snapshots.size(), cells = snapshots.front().size();
  std::vector<double> means(cells, 0), products(count * count, 0);
  for (const auto& snapshot : snapshots)
    for (std::size_t cell = 0; cell < cells; ++cell) means[cell] += snapshot[cell] / static_cast<double>(count);
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = 0; b < count; ++b)
      for (std::size_t cell = 0; cell < cells; ++cell)
        products[a * count + b] += (snapshots[a][cell] - means[cell]) * (snapshots[b][cell] - means[cell]);
  sum_all(host, products);
  return products;
}

double own_largest_eigenvalue(const std::vector<double>& matrix) {
  const auto n = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(matrix.size()))));
  std::vector<double> vector(n);
  std::iota(vector.begin(), vector.end(), 1.0);
  double value = 0;
  for (int turn = 0; turn < 1000; ++turn) {
    std::vector<double> next(n, 0);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) next[i] += matrix[i * n + j] * vector[j];
    value = std::sqrt(std::inner_product(next.begin(), next.end(), next.begin(), 0.0));
    for (auto& number : next) number /= value;
    vector = next;
  }
  return value;
}
