#pragma once

#include <heatpp_nn/parallel/daso.hpp>

namespace heatpp::nn {

struct LossPlotOptions {
  std::string title = "Training";
  std::string x_label = "batch";
  std::string y_label = "loss";
  int width = 960;
  int height = 480;
};

/// A picture (SVG) of curves over batches, with the learning phases shaded behind them.
class LossPlot {
 public:
  explicit LossPlot(LossPlotOptions options = {}) : options_(std::move(options)) {}

  /// Adds a curve. Points that are not finite interrupt it. Throws ValueError if x and y have different lengths.
  void add_curve(const std::string& label, std::vector<double> x, std::vector<double> y);
  /// Shades the phases that `DASO::events()` reports, the last one up to batch `end`.
  void shade_phases(const std::vector<DasoEvent>& events, std::int64_t end);

  [[nodiscard]] std::string svg() const;
  /// Writes the picture from rank 0. Collective. Throws IoError on all ranks if this fails.
  void save(const Communicator& comm, const std::string& path) const;

  struct Curve {
    std::string label;
    std::vector<double> x, y;
  };
  struct Shade {
    Phase phase;
    double from, to;
  };

 private:
  LossPlotOptions options_;
  std::vector<Curve> curves_;
  std::vector<Shade> shades_;
};

/// Returns the mean of `window` values around each value, for noisy curves.
[[nodiscard]] std::vector<double> smoothed(const std::vector<double>& values, std::size_t window);

}  // namespace heatpp::nn
