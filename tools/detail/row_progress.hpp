#pragma once

#include <heatpp_nn/logging/progress_bar.hpp>

namespace tools {

/// A progress bar of a hundred steps for rows that are processed in pieces of any size. It shows nothing if there is
/// only one piece.
class RowProgress {
 public:
  RowProgress(const char* label, std::int64_t rows, bool shown)
      : bar_(heatpp::world(), {.total = 100, .label = label, .unit = "rows"}), rows_(rows), shown_(shown) {}

  void add(std::int64_t count) {
    done_ += count;
    if (!shown_ || (done_ == count && done_ >= rows_)) return;
    for (auto samples = count; steps_ < 100 * done_ / std::max<std::int64_t>(1, rows_); ++steps_, samples = 0)
      bar_.update(samples);
    if (done_ >= rows_) bar_.finish();
  }

 private:
  heatpp::nn::ProgressBar bar_;
  std::int64_t rows_, done_ = 0, steps_ = 0;
  bool shown_;
};

}  // namespace tools
