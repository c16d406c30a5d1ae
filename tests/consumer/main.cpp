// Exits with 0 if an installed heatpp loads, computes and saves on all ranks.
#include <filesystem>
#include <heatpp/heatpp.hpp>
#include <heatpp/ml/ml.hpp>
#include <heatpp/sparse/io/files.hpp>
#include <heatpp/sparse/sparse.hpp>
#include <heatpp_io/heatpp_io.hpp>

namespace ht = heatpp;

int main(int argc, char** argv) {
  const ht::Environment env(argc, argv);
  const auto x = ht::arange(60, {.dtype = ht::float64, .split = 0}) / 7;
  ht::io::save_hdf5(x, "consumer.h5", "x");
  const auto y = ht::io::load_hdf5("consumer.h5", "x", {.split = 0});
  const auto far = y(y > ht::mean(y));
  ht::print(far);
  ht::sparse::save(ht::sparse::identity(60, {.dtype = ht::float64, .split = 0}), "consumer.npz");
  const auto same = ht::sparse::matmul(ht::sparse::load("consumer.npz"), x);
  return far.size() == 30 && ht::all(x == y).item<bool>() && ht::all(x == same).item<bool>() ? 0 : 1;
}
