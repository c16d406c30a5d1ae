#include <heatpp_nn/logging/progress_bar.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <unistd.h>

#include <algorithm>
#include <iostream>

namespace heatpp::nn {
namespace {

constexpr double redraw_seconds = 0.1;

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  if (whole < 3600) return heatpp::detail::formatted("{:02}:{:02}", whole / 60, whole % 60);
  return heatpp::detail::formatted("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

std::string progress_line(const Progress& p, int bar_width) {
  const double share =
      p.total > 0 ? std::clamp(static_cast<double>(p.done) / static_cast<double>(p.total), 0.0, 1.0) : 0;
  const int filled = static_cast<int>(share * bar_width);
  const bool known = p.done > 0 && p.total > 0;
  const double left = known ? p.seconds / static_cast<double>(p.done) * static_cast<double>(p.total - p.done) : 0;
  const double rate = p.seconds > 0 ? static_cast<double>(p.samples) / p.seconds : 0;
  return heatpp::detail::formatted("{} [{:#<{}}{:.<{}}] {:3.0f} % {}/{}, {} left, {:.0f} {}/s{}", p.label, "", filled,
                                   "", bar_width - filled, 100 * share, p.done, p.total,
                                   known ? clock_text(left) : "--:--", rate, p.unit,
                                   p.loss ? heatpp::detail::formatted(", loss {:.4f}", *p.loss) : "");
}

ProgressBar::ProgressBar(const Communicator& comm, const ProgressBarOptions& options)
    : options_(options), shown_(comm.rank() == 0) {
  progress_.label = options.label;
  progress_.total = options.total;
  progress_.unit = options.unit;
  terminal_ = options.terminal.value_or(!options.out && ::isatty(STDERR_FILENO));
}

double ProgressBar::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void ProgressBar::update(std::int64_t samples, std::optional<double> loss) {
  ++progress_.done;
  progress_.samples += samples;
  // A running mean over batches, because single losses vary strongly.
  progress_.loss = loss && progress_.loss ? 0.95 * *progress_.loss + 0.05 * *loss : loss;
  if (!shown_) return;
  progress_.seconds = seconds();
  if (progress_.seconds - drawn_at_ >= (terminal_ ? redraw_seconds : options_.every_seconds)) draw(false);
}

void ProgressBar::finish() {
  if (!shown_) return;
  progress_.seconds = seconds();
  draw(true);
}

void ProgressBar::draw(bool last) {
  drawn_at_ = progress_.seconds;
  auto& out = options_.out ? *options_.out : std::cerr;
  const auto line = progress_line(progress_);
  if (terminal_) out << '\r' << line << "\x1b[K" << (last ? "\n" : "") << std::flush;
  else out << line << std::endl;
}

}  // namespace heatpp::nn
