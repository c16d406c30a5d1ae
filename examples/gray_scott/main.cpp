// A reaction on a Cartesian communicator of p x q x 1 ranks. heatpp fills the ghost cells of the host's memory by one
// call a step, and analyses its bricks in place: statistics, Fourier coefficients, gradient, principal components of
// snapshots. Each number is compared with the host's own, and the program ends with an error if they differ. Writes the
// numbers that examples/plot.py draws.
//     mpirun -n 4 gray_scott [<numbers.npz>]
#include "own_numbers.hpp"

#include <cmath>
#include <fmt/format.h>
#include <heatpp/heatpp.hpp>
#include <heatpp/interop/mpi.hpp>
#include <heatpp_io/heatpp_io.hpp>

namespace ht = heatpp;

namespace {

constexpr std::int64_t side = 32;
constexpr int steps = 240, snapshot_every = 24;
constexpr std::size_t bins = 20;

ht::Shape shape_of(const GrayScott::Triple& triple) { return {triple.begin(), triple.end()}; }

/// Compares numbers with the host's, and prints what heatpp's calls have sent since the last comparison.
class Comparison {
 public:
  explicit Comparison(GrayScott& host) : host_(host) {
    MPI_Comm_rank(host.comm(), &rank_);
    print("{:<34} {:>16} {:>16} {:>12}\n", "", "heatpp", "the host", "bytes sent");
  }

  void compare(const char* what, double ours, double own) {
    if (!(std::abs(ours - own) <= 1e-9 * std::abs(own) + 1e-12))
      throw ht::ValueError(fmt::format("[gray_scott] got {} {}; expected {}, the host's", what, ours, own));
    print("{:<34} {:>16.9g} {:>16.9g} {:>12}\n", what, ours, own, bytes_sent());
  }
  /// Prints what the calls have sent for which the host has no number.
  void note(const char* what) { print("{:<34} {:>16} {:>16} {:>12}\n", what, "", "", bytes_sent()); }

  template <class... Values>
  void print(fmt::format_string<Values...> text, Values&&... values) const {
    if (rank_ == 0) fmt::print(text, std::forward<Values>(values)...);
  }

 private:
  /// Returns the bytes that all ranks have sent since the last call.
  std::int64_t bytes_sent() {
    const auto now = ht::comm_report().bytes;
    const auto sum = own_sum(host_, static_cast<double>(now - before_));
    before_ = ht::comm_report().bytes;
    return static_cast<std::int64_t>(sum);
  }

  GrayScott& host_;
  int rank_ = 0;
  std::int64_t before_ = ht::comm_report().bytes;
};

void compare_statistics(Comparison& with, GrayScott& host, const ht::DNDarray& v) {
  const auto own = own_numbers(host, bins);
  with.compare("mean", ht::mean(v).item<double>(), own.mean);
  with.compare("standard deviation", ht::std(v).item<double>(), own.deviation);
  with.compare("largest", ht::max(v).item<double>(), own.most);
  const auto counts = ht::histogram(v, {.bins = bins, .range = {0, 1}}).first.to_vector<std::int64_t>();
  double different = 0;
  for (std::size_t bin = 0; bin < bins; ++bin)
    different += std::abs(static_cast<double>(counts[bin]) - own.histogram[bin]);
  with.compare("cells in other intervals", different, 0);
}

/// Compares a derivative, cell by cell, except at the ends of the box, where the host's is periodic.
void compare_gradient(Comparison& with, GrayScott& host, const ht::DNDarray& v, int axis) {
  const auto ours = ht::gradient(v, {.axis = axis});
  const auto cells = ours.local<double>();
  const auto own = own_differences(host, axis);
  const auto [nx, ny, nz] = host.cells();
  const auto at = static_cast<std::size_t>(axis);
  double squares = 0, squares_own = 0;
  for (std::int64_t cell = 0; cell < nx * ny * nz; ++cell) {
    const GrayScott::Triple place{cell / (ny * nz), cell / nz % ny, cell % nz};
    const auto global = place[at] + host.offset()[at];
    if (global == 0 || global == side - 1) continue;
    squares += std::pow(cells[static_cast<std::size_t>(cell)], 2);
    squares_own += std::pow(own[static_cast<std::size_t>(cell)], 2);
  }
  with.compare(axis == 0 ? "gradient along x, squared" : "gradient along y, squared", own_sum(host, squares),
               own_sum(host, squares_own));
}

ht::DNDarray compare_spectrum(Comparison& with, GrayScott& host, const ht::DNDarray& v) {
  const auto modes = ht::fft::rfftn(v, {.norm = ht::fft::Norm::forward});
  with.note("Fourier transform");
  for (const auto& wave : {GrayScott::Triple{1, 0, 0}, GrayScott::Triple{2, 3, 1}}) {
    const auto ours = modes(wave[0], wave[1], wave[2]).item<std::complex<double>>();
    const auto own = own_coefficient(host, wave);
    const auto name = fmt::format("coefficient {}, {}, {}", wave[0], wave[1], wave[2]);
    with.compare((name + ", real").c_str(), ours.real(), own.real());
    with.compare((name + ", imaginary").c_str(), ours.imag(), own.imag());
  }
  // The power of each shell of wave numbers; k and -k are one coefficient, except in the first and the last plane.
  const auto along = ht::fft::fftfreq(side, 1.0 / side, {.dtype = ht::float64});
  const auto last = ht::fft::rfftfreq(side, 1.0 / side, {.dtype = ht::float64});
  const auto k = ht::meshgrid({along, along, last}, {.indexing = ht::Indexing::ij, .sparse = true});
  const auto power = ht::square(ht::abs(modes)) * ht::where((k[2] > 0) && (k[2] < side / 2), 2.0, 1.0);
  const auto distance = ht::sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]) + ht::zeros_like(power);
  const auto shells = ht::histogram(distance, {.bins = side / 2, .range = {0.5, side / 2 + 0.5}, .weights = power});
  with.note("power spectrum");
  return shells.first;
}

struct Components {
  ht::DNDarray explained, times;
};

/// Compares the principal components of snapshots. Each cell is a variable, so the products of snapshots, a small
/// matrix, have the components' sizes and their course in time.
Components compare_components(Comparison& with, GrayScott& host, const ht::Arrays& snapshots,
                              const std::vector<std::vector<double>>& own_snapshots) {
  const auto all = ht::stack(snapshots);
  const auto centered = all - ht::mean(all, 0);
  const auto products = ht::tensordot(centered, centered, {{1, 2, 3}, {1, 2, 3}});
  const auto [values, vectors] = ht::linalg::eigh(ht::resplit(products, std::nullopt));
  const auto own = own_products(host, own_snapshots);
  double own_total = 0;
  for (std::size_t i = 0; i < snapshots.size(); ++i) own_total += own[i * snapshots.size() + i];
  with.compare("variance of snapshots", ht::sum(values).item<double>(), own_total);
  with.compare("that of the first component", values(-1).item<double>(), own_largest_eigenvalue(own));
  return {ht::flip(values) / ht::sum(values), ht::flip(vectors * ht::sqrt(ht::maximum(values, 0.0)), 1)};
}

void simulate(int argc, char** argv) {
  GrayScott host(MPI_COMM_WORLD, side);
  const ht::BlockPlan plan({side, side, side}, {{shape_of(host.offset()), shape_of(host.cells())}}, ht::float64,
                           {.ghosts = {1}, .comm = ht::from_mpi(host.comm())});
  const auto v = ht::adopt_blocks(host.v(), plan);
  Comparison with(host);
  ht::Arrays snapshots;
  std::vector<std::vector<double>> own_snapshots;
  for (int step = 1; step <= steps; ++step) {
    for (auto* const memory : {host.u(), host.v()}) ht::refresh_ghosts(memory, plan, {.periodic = {true}});
    host.step();
    if (step % snapshot_every != 0) continue;
    snapshots.push_back(ht::copy(v));
    own_snapshots.push_back(own_cells(host));
  }
  ht::refresh_ghosts(host.v(), plan, {.periodic = {true}});
  with.note(fmt::format("ghost cells of {} steps", steps).c_str());
  compare_statistics(with, host, v);
  for (const int axis : {0, 1}) compare_gradient(with, host, v, axis);
  const auto power = compare_spectrum(with, host, v);
  const auto [explained, times] = compare_components(with, host, snapshots, own_snapshots);
  const auto moved = plan.from_blocks(host.v());
  with.note("instead, from_blocks of one snapshot");
  with.print(
      "The bricks of {} ranks were analysed where they lie, also {} snapshots of them: from_blocks sends each.\n",
      fmt::join(v.grid(), " x "), snapshots.size());
  ht::io::save_npz({{"slice", v(ht::ellipsis, side / 2)},
                    {"power", power},
                    {"explained", explained},
                    {"times", times},
                    {"every", ht::array(static_cast<double>(snapshot_every))}},
                   argc > 1 ? argv[1] : "gray_scott.npz");
}

}  // namespace

int main(int argc, char** argv) { return ht::run(argc, argv, simulate); }
