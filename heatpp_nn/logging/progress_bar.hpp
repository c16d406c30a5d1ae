#pragma once

#include <chrono>
#include <cstdint>
#include <heatpp/comm/communicator.hpp>
#include <iosfwd>
#include <optional>
#include <string>

namespace heatpp::nn {

/// What a progress bar shows.
struct Progress {
  std::string label;
  std::int64_t done = 0;     ///< batches
  std::int64_t total = 0;    ///< batches
  std::int64_t samples = 0;  ///< on all ranks
  double seconds = 0;
  std::optional<double> loss = std::nullopt;  ///< nullopt: none
  std::string unit = "samples";               ///< what `samples` counts
};

/// Returns one line: a bar, share, time left, samples per second and loss, if there is one. A pure function.
[[nodiscard]] std::string progress_line(const Progress& progress, int bar_width = 24);

struct ProgressBarOptions {
  std::int64_t total = 0;  ///< batches
  std::string label = {};
  std::string unit = "samples";
  std::ostream* out = nullptr;                  ///< nullptr: standard error
  std::optional<bool> terminal = std::nullopt;  ///< nullopt: ask the system
  double every_seconds = 5;                     ///< time between two lines if the output is not a terminal
};

/// Shows on rank 0 how far a loop is: one line that is redrawn in a terminal, otherwise periodic lines. Local.
class ProgressBar {
 public:
  ProgressBar(const Communicator& comm, const ProgressBarOptions& options);

  /// Counts one more batch, with `samples` samples on all ranks.
  void update(std::int64_t samples, std::optional<double> loss = std::nullopt);
  /// Draws the final state and ends the line.
  void finish();

 private:
  [[nodiscard]] double seconds() const;
  void draw(bool last);

  ProgressBarOptions options_;
  Progress progress_;
  bool shown_;
  bool terminal_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double drawn_at_ = -1e9;
};

}  // namespace heatpp::nn
