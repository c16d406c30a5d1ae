#include <heatpp/heatpp.hpp>
#include <heatpp_io/heatpp_io.hpp>
namespace ht = heatpp;

int main(int argc, char** argv) {
  const ht::Environment env(argc, argv);
  const auto images = ht::io::load_hdf5("data/train-*.h5", "images", {.split = 0, .dtype = ht::float32});
  const auto light = ht::mean(images, {.axis = {1, 2}});  // one number for each image
  const auto z = (light - ht::mean(light)) / ht::std(light);
  const auto bright = images(z > 2.5);  // an uneven array: every rank keeps what it has
  ht::print(ht::percentile(light, {5, 50, 95}));
  ht::print(bright(0, ht::slice(10, 14), ht::slice(10, 14)));
}
