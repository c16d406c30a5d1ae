// Finds friends-of-friends groups of particles in a periodic box, as cosmology finds halos. Particles that are nearer
// to each other than a fifth of their mean distance are in one group, on any ranks and across the sides of the box.
// Writes the numbers that examples/plot.py draws, and the particles for ParaView.
//     groups [<numbers.npz>] [<particles.vtkhdf>]
#include <cmath>
#include <cstdio>
#include <heatpp/heatpp.hpp>
#include <heatpp/ml/ml.hpp>
#include <heatpp_io/heatpp_io.hpp>

namespace ht = heatpp;

/// Returns particles as a simulation has them: halos, a few of them heavy, in a thin background. Split over the ranks.
ht::DNDarray particles(std::int64_t in_halos, std::int64_t around, std::int64_t halos) {
  const ht::ArrayOptions rows{.dtype = ht::float64, .split = 0};
  const auto centers = ht::random::random({halos, 3}, {.dtype = ht::float64});
  const auto u = ht::random::random({in_halos}, rows);
  const auto halo = ht::floor(u * u * u * static_cast<double>(halos)).astype(ht::int64);
  const auto clumps = centers(halo) + 0.004 * ht::random::standard_normal({in_halos, 3}, rows);
  return ht::remainder(ht::concatenate({clumps, ht::random::random({around, 3}, rows)}, 0), 1.0);
}

int main(int argc, char** argv) {
  const ht::Environment env(argc, argv);
  const std::string numbers = argc > 1 ? argv[1] : "groups.npz", particles_file = argc > 2 ? argv[2] : "groups.vtkhdf";
  ht::random::seed(1);
  const auto x = particles(30000, 10000, 60);
  const auto n = x.shape()[0];
  const bool prints = x.comm().rank() == 0;

  const double linking = 0.2 / std::cbrt(static_cast<double>(n));
  const auto groups = ht::DBSCAN({.eps = linking, .min_samples = 1, .box = {1, 1, 1}}).fit_predict(x);
  const auto members = ht::bincount(groups);
  const auto heavy = ht::topk(members, 6);
  const auto counts =
      ht::histogram(members, {.edges = ht::array({1, 10, 100, 1000, 10000})}).first.to_vector<std::int64_t>();
  if (prints)
    std::printf("%lld particles; groups of 1, 10, 100, 1000 and more: %lld %lld %lld %lld\n", static_cast<long long>(n),
                static_cast<long long>(counts[0]), static_cast<long long>(counts[1]), static_cast<long long>(counts[2]),
                static_cast<long long>(counts[3]));
  for (std::int64_t g = 0; g < 6; ++g) {
    const auto mine = x(groups == heavy.indices(g));  // an uneven array: every rank keeps its own
    const auto from_first = ht::remainder(mine - mine(0) + 0.5, 1.0) - 0.5;
    const auto center = ht::remainder(mine(0) + ht::mean(from_first, 0), 1.0).to_vector<double>();
    const auto radius = std::sqrt(ht::sum(ht::var(from_first, 0)).item<double>());
    if (prints)
      std::printf("group of %6lld at (%.3f, %.3f, %.3f), radius %.4f\n", static_cast<long long>(mine.shape()[0]),
                  center[0], center[1], center[2], radius);
  }
  const auto size = members(groups);
  const auto seen = size >= 100;
  ht::io::save_npz({{"positions", x(seen)}, {"members", size(seen)}}, numbers);
  ht::io::save_vtkhdf({{"group", groups}, {"members", size}}, particles_file, {.points = x});
}
