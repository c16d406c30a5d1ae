#include "analytics.hpp"

#include <array>
#include <cstdio>
#include <heatpp/heatpp.hpp>
#include <heatpp/ml/ml.hpp>
#include <heatpp_io/numpy/npz.hpp>

namespace ht = heatpp;

namespace {

constexpr std::array class_names{"T-shirt", "trouser", "pullover", "dress", "coat",
                                 "sandal",  "shirt",   "sneaker",  "bag",   "boot"};

/// Prints one line for each class. A mask does not move images, so the classes are uneven arrays.
void print_classes(const ht::DNDarray& light, const ht::DNDarray& labels) {
  const bool prints = light.comm().rank() == 0;
  if (prints)
    std::printf("%-9s %7s %7s %7s %7s %9s   %s\n", "class", "images", "mean", "std", "skew", "kurtosis",
                "percentiles 5, 50, 95");
  for (std::size_t c = 0; c < class_names.size(); ++c) {
    const auto mine = light(labels == static_cast<int>(c));
    const auto [mean, var, skew, kurtosis] = ht::moments(mine);
    const auto q = ht::percentile(mine, {5, 50, 95}).to_vector<float>();
    const auto m = mean.item<float>(), v = var.item<float>(), s = skew.item<float>(), k = kurtosis.item<float>();
    if (prints)
      std::printf("%-9s %7lld %7.2f %7.2f %7.2f %9.2f   %.1f %.1f %.1f\n", class_names[c],
                  static_cast<long long>(mine.size()), m, std::sqrt(v), s, k, q[0], q[1], q[2]);
  }
}

}  // namespace

void analyse(const ht::DNDarray& images, const ht::DNDarray& labels, const std::filesystem::path& numbers) {
  const auto pixels = ht::reshape(images.astype(ht::float32), {images.shape()[0], -1});
  print_classes(ht::mean(pixels, 1), labels);

  ht::PCA pca({.n_components = 2});
  const auto plane = pca.fit_transform(pixels);
  const auto some = ht::slice(std::nullopt, std::nullopt, std::max<std::int64_t>(1, images.shape()[0] / 3000));
  const auto explained = 100 * ht::sum(pca.explained_variance_ratio()).item<float>();
  ht::io::save_npz({{"points", plane(some)}, {"labels", labels(some)}, {"explained", pca.explained_variance_ratio()}},
                   numbers);
  if (images.comm().rank() == 0)
    std::printf("two principal components explain %.1f %% of the variance: %s\n", explained, numbers.c_str());
}
