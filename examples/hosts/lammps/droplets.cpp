// A host in molecular dynamics: LAMMPS simulates a gas that condenses. Between its steps heatpp analyses the atoms in
// LAMMPS's memory: temperature, droplets (friends of friends), structure factor, and a model of an atom's energy from
// the distances of its neighbors. Results are compared with those of LAMMPS.
//     mpirun -n 4 droplets
#include <lammps/library.h>

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <heatpp/heatpp.hpp>
#include <heatpp/interop/mpi.hpp>
#include <heatpp/ml/ml.hpp>

namespace ht = heatpp;

namespace {

constexpr double cells = 10, density = 0.1, linked = 1.5;  // in Lennard-Jones units
const double side = cells * std::cbrt(4 / density);

class Lammps {
 public:
  Lammps() {
    std::array<char*, 5> options{name_.data(), log_.data(), none_.data(), screen_.data(), none_.data()};
    handle_ = lammps_open(static_cast<int>(options.size()), options.data(), MPI_COMM_WORLD, nullptr);
  }
  ~Lammps() { lammps_close(handle_); }
  Lammps(const Lammps&) = delete;
  Lammps& operator=(const Lammps&) = delete;

  void operator()(const std::string& command) { lammps_command(handle_, const_cast<char*>(command.c_str())); }
  double thermo(const char* keyword) { return lammps_get_thermo(handle_, const_cast<char*>(keyword)); }
  /// Returns x or v of this rank's atoms, in LAMMPS's memory.
  ht::DNDarray vectors(const char* property) {
    auto* const rows = static_cast<double**>(lammps_extract_atom(handle_, const_cast<char*>(property)));
    return adopt(atoms() > 0 ? rows[0] : nullptr, {atoms(), 3});
  }
  /// Returns the values of a compute, one for each atom.
  ht::DNDarray computed(const char* compute) {
    constexpr int of_atoms = 1, vector = 1;
    return adopt(static_cast<double*>(lammps_extract_compute(handle_, const_cast<char*>(compute), of_atoms, vector)),
                 {atoms()});
  }

 private:
  std::int64_t atoms() { return lammps_extract_setting(handle_, const_cast<char*>("nlocal")); }
  static ht::DNDarray adopt(const double* memory, const ht::Shape& shape) {
    return ht::from_local(memory, shape, ht::float64, {.split = 0});
  }

  std::string name_ = "lammps", log_ = "-log", screen_ = "-screen", none_ = "none";
  void* handle_ = nullptr;
};

void compare(const char* what, double ours, double theirs) {
  if (std::abs(ours - theirs) > 1e-9 * std::abs(theirs))
    throw ht::ValueError(fmt::format("[compare] got {} {}; expected {}, LAMMPS's", what, ours, theirs));
}

/// Returns |sum of exp(i k x)|^2 / n for the wave of this length along the first axis.
double structure_factor(const ht::DNDarray& x, double length) {
  const auto phase = x(ht::all_of, 0) * (2 * M_PI / length);
  const auto real = ht::sum(ht::cos(phase)).item<double>(), imaginary = ht::sum(ht::sin(phase)).item<double>();
  return (real * real + imaginary * imaginary) / static_cast<double>(x.shape(0));
}

/// Returns how well r^-6 and r^-12 of the 40 nearest neighbors predict the energies of atoms away from the sides.
double learn_energy(const ht::DNDarray& x, const ht::DNDarray& energy) {
  const auto inside = ht::all((x > 2.5) & (x < side - 2.5), {.axis = 1});
  const auto near = ht::NearestNeighbors({.n_neighbors = 41}).fit(x).kneighbors(x(inside)).distances;
  const auto sixth = ht::pow(near(ht::all_of, ht::slice(1, 41)), -6.0);
  const auto features = ht::stack({ht::sum(sixth, 1), ht::sum(sixth * sixth, 1)}, 1);
  ht::Ridge model({.alpha = 1e-6});
  return model.fit(features, energy(inside)).score(features, energy(inside));
}

void look(Lammps& lammps) {
  const auto x = lammps.vectors("x"), v = lammps.vectors("v"), energy = lammps.computed("energy");
  const auto n = static_cast<double>(x.shape(0));
  const auto temperature = ht::sum(v * v).item<double>() / (3 * (n - 1));
  compare("a temperature of", temperature, lammps.thermo("temp"));
  compare("an energy of", ht::mean(energy).item<double>(), lammps.thermo("pe"));

  ht::DBSCAN droplets({.eps = linked, .min_samples = 1, .box = {side, side, side}});
  droplets.fit(ht::remainder(x, side));
  const auto theirs = ht::unique(lammps.computed("droplets"));
  compare("a number of droplets of", static_cast<double>(droplets.n_clusters()), static_cast<double>(theirs.size()));
  const auto largest = ht::max(ht::bincount(droplets.labels())).item<std::int64_t>();
  const auto factor = structure_factor(x, side);
  const auto score = learn_energy(ht::remainder(x, side), energy);
  if (x.comm().rank() == 0)
    fmt::print("T {:.3f}, energy {:.3f}, {} droplets, the largest of {} atoms; S(2 pi / L) {:.2f}; R^2 {:.4f}\n",
               temperature, lammps.thermo("pe"), droplets.n_clusters(), largest, factor, score);
}

void simulate() {
  Lammps lammps;
  lammps("units lj");
  lammps("atom_style atomic");
  lammps(fmt::format("lattice fcc {}", density));
  lammps(fmt::format("region box block 0 {0} 0 {0} 0 {0}", cells));
  lammps("create_box 1 box");
  lammps("create_atoms 1 box");
  lammps("mass 1 1.0");
  lammps("velocity all create 0.8 4928459 mom yes");
  lammps("pair_style lj/cut 2.5");
  lammps("pair_coeff 1 1 1.0 1.0 2.5");
  lammps("fix move all nve");
  lammps("fix cool all langevin 0.6 0.6 1.0 48279");
  lammps("compute energy all pe/atom");
  lammps(fmt::format("compute droplets all cluster/atom {}", linked));
  lammps("compute sum all reduce sum c_energy c_droplets");  // computes both in the run
  lammps("thermo_style custom step temp pe c_sum[1] c_sum[2]");
  for (int part = 0; part < 2; ++part) {
    lammps("run 500");
    look(lammps);
  }
}

}  // namespace

int main(int argc, char** argv) { return ht::run(argc, argv, simulate); }
