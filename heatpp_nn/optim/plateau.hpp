#pragma once

#include <cstdint>
#include <limits>

namespace heatpp::nn {

enum class PlateauMode { min, max };
enum class ThresholdMode { relative, absolute };

struct PlateauOptions {
  PlateauMode mode = PlateauMode::min;  ///< whether smaller or larger values are better
  int patience = 2;                     ///< tolerated number of values without improvement; one more is a plateau
  double threshold = 0.05;              ///< a value counts as better if it beats the best by this much
  ThresholdMode threshold_mode = ThresholdMode::relative;
};

/// Tells if a metric stops improving. NaN never counts as an improvement. Local.
class DetectMetricPlateau {
 public:
  struct State {
    double best = std::numeric_limits<double>::quiet_NaN();  ///< NaN: no value yet
    std::int64_t bad = 0;                                    ///< values without improvement in a row
    friend bool operator==(const State& a, const State& b) {
      return (a.best == b.best || (a.best != a.best && b.best != b.best)) && a.bad == b.bad;
    }
  };

  explicit DetectMetricPlateau(const PlateauOptions& options = {}) : options_(options) {}

  /// Takes the next value. Returns true if it completes a plateau; then the count restarts and the best value stays.
  bool update(double value);
  void reset() { state_ = {}; }

  [[nodiscard]] const State& state() const { return state_; }
  void set_state(const State& state) { state_ = state; }

 private:
  [[nodiscard]] bool is_better(double value) const;

  PlateauOptions options_;
  State state_;
};

}  // namespace heatpp::nn
