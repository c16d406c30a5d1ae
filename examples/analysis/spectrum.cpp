// Computes the power spectrum and the two-point correlation of a field on a periodic grid that is split into slabs.
// Writes the numbers that examples/plot.py draws.
//     spectrum [<numbers.npz>]
#include <cmath>
#include <cstdio>
#include <heatpp/heatpp.hpp>
#include <heatpp_io/heatpp_io.hpp>

namespace ht = heatpp;

constexpr std::int64_t n = 64;  // points along an edge

/// Returns the distance from the origin of each point of a periodic n x n x m grid, rounded: the number of its shell.
ht::DNDarray shells(std::int64_t m) {
  const ht::ArrayOptions along{.dtype = ht::float64}, slabs{.dtype = ht::float64, .split = 0};
  const auto last = m == n ? ht::fft::fftfreq(n, 1.0 / n, along) : ht::fft::rfftfreq(n, 1.0 / n, along);
  const auto grid = ht::meshgrid({ht::fft::fftfreq(n, 1.0 / n, slabs), ht::fft::fftfreq(n, 1.0 / n, along), last},
                                 {.indexing = ht::Indexing::ij, .sparse = true});
  return ht::sqrt(grid[0] * grid[0] + grid[1] * grid[1] + grid[2] * grid[2]);
}

/// Returns the mean of x over the shells from 0 to n / 2, with `weights` for the points.
ht::DNDarray shell_means(const ht::DNDarray& x, const ht::DNDarray& distance, const ht::DNDarray& weights) {
  const auto shell = ht::flatten(ht::round(distance).astype(ht::int64));
  const auto sums = ht::bincount(shell, {.weights = ht::flatten(x * weights)});
  return (sums / ht::bincount(shell, {.weights = ht::flatten(weights)}))(ht::slice(0, n / 2 + 1));
}

int main(int argc, char** argv) {
  const ht::Environment env(argc, argv);
  ht::random::seed(1);
  // White noise becomes a Gaussian field with the spectrum k^-3. It replaces the data of a simulation.
  const auto k = shells(n / 2 + 1);
  const auto noise = ht::fft::rfftn(ht::random::standard_normal({n, n, n}, {.dtype = ht::float64, .split = 0}));
  const auto field = ht::fft::irfftn(noise * ht::where(k > 0, ht::power(ht::maximum(k, 0.5), -1.5), 0.0));

  const auto modes = ht::fft::rfftn(field, {.norm = ht::fft::Norm::forward});
  const auto power = ht::square(ht::abs(modes));
  const auto last = ht::arange(n / 2 + 1);
  const auto twice = ht::where((last > 0) && (last < n / 2), 2.0, 1.0) + ht::zeros_like(power);  // k and -k
  const auto spectrum = shell_means(power, k, twice);
  const auto correlation = shell_means(ht::fft::irfftn(power, {.norm = ht::fft::Norm::forward}), shells(n),
                                       ht::ones({n, n, n}, {.dtype = ht::float64, .split = 0}));

  const auto some = ht::arange(2, 20).astype(ht::float64);
  const auto line = ht::polyfit(ht::log10(some), ht::log10(spectrum(ht::slice(2, 20))), 1);
  ht::io::save_npz({{"power", spectrum}, {"correlation", correlation}, {"line", line}},
                   argc > 1 ? argv[1] : "spectrum.npz");
  const auto xi = correlation.to_vector<double>();
  const auto slope = line(0).item<double>();
  if (ht::world().rank() != 0) return 0;
  std::printf("spectrum falls as k^%.2f; correlation xi(r) / xi(0) at r = 1, 4, 16: %.3f %.3f %.3f\n", slope,
              xi[1] / xi[0], xi[4] / xi[0], xi[16] / xi[0]);
}
