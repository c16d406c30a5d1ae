#include "analytics.hpp"

#include <array>
#include <cstdio>
#include <fstream>
#include <heatpp/heatpp.hpp>
#include <heatpp/ml/ml.hpp>

namespace ht = heatpp;

namespace {

constexpr std::array class_names{"T-shirt", "trouser", "pullover", "dress", "coat",
                                 "sandal",  "shirt",   "sneaker",  "bag",   "boot"};
constexpr std::array colors{"#4c78a8", "#f58518", "#e45756", "#72b7b2", "#54a24b",
                            "#eeca3b", "#b279a2", "#ff9da6", "#9d755d", "#7f7f7f"};

/// One line for each class. A mask leaves the images where they are, so the classes are uneven arrays.
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

/// Points (x, y) in the colour of their class, with a legend.
class Scatter {
 public:
  Scatter(const std::vector<float>& points, const std::vector<std::int64_t>& labels)
      : points_(points), labels_(labels) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      low_[i % 2] = std::min(low_[i % 2], points[i]);
      high_[i % 2] = std::max(high_[i % 2], points[i]);
    }
  }

  void write(const std::filesystem::path& path, const std::string& title) const {
    std::ofstream out(path);
    out << R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 640" font-family="sans-serif" font-size="13">)"
        << R"(<rect width="760" height="640" fill="white"/><text x="30" y="28" font-size="16">)" << title
        << "</text>\n";
    for (std::size_t i = 0; i < labels_.size(); ++i)
      out << "<circle cx='" << place(0, points_[2 * i]) << "' cy='" << place(1, points_[2 * i + 1])
          << "' r='2.2' fill-opacity='0.7' fill='" << colors[static_cast<std::size_t>(labels_[i])] << "'/>\n";
    for (std::size_t c = 0; c < class_names.size(); ++c)
      out << "<circle cx='660' cy='" << 60 + 22 * c << "' r='5' fill='" << colors[c] << "'/><text x='672' y='"
          << 64 + 22 * c << "'>" << class_names[c] << "</text>\n";
    out << "</svg>\n";
    if (!out) throw ht::IoError("[analyse] got a failure to write " + path.string() + "; expected a writable file");
  }

 private:
  [[nodiscard]] float place(std::size_t axis, float value) const {
    const float part = (value - low_[axis]) / std::max(high_[axis] - low_[axis], 1e-6F);
    return axis == 0 ? 30 + 600 * part : 620 - 570 * part;
  }

  const std::vector<float>& points_;
  const std::vector<std::int64_t>& labels_;
  std::array<float, 2> low_{INFINITY, INFINITY}, high_{-INFINITY, -INFINITY};
};

}  // namespace

void analyse(const ht::DNDarray& images, const ht::DNDarray& labels, const std::filesystem::path& picture) {
  const auto pixels = ht::reshape(images.astype(ht::float32), {images.shape()[0], -1});
  print_classes(ht::mean(pixels, 1), labels);

  ht::PCA pca({.n_components = 2});
  const auto plane = pca.fit_transform(pixels);
  const auto some = ht::slice(std::nullopt, std::nullopt, std::max<std::int64_t>(1, images.shape()[0] / 3000));
  const auto points = plane(some).to_vector<float>();
  const auto classes = labels(some).to_vector<std::int64_t>();
  const auto explained = 100 * ht::sum(pca.explained_variance_ratio()).item<float>();
  ht::all_or_none(images.comm(), [&] {
    if (images.comm().rank() == 0) Scatter(points, classes).write(picture, "The plane of the two principal components");
  });
  if (images.comm().rank() == 0)
    std::printf("two principal components explain %.1f %% of the variance: %s\n", explained, picture.c_str());
}
