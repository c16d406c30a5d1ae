#include <heatpp_nn/logging/loss_plot.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/files/aside_file.hpp>
#include <heatpp_nn/logging/detail/svg.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace heatpp::nn {
namespace {

constexpr std::string_view curve_colors[] = {"#7fa8dc", "#b03024", "#2e8b57", "#8e44ad", "#d68910"};

std::string_view shade_color(Phase phase) {
  constexpr std::string_view colors[] = {"#fde7c4", "#dbeafe", "#dcf3e0"};
  return colors[static_cast<int>(phase)];
}

/// The place of the curves in the picture.
struct Frame {
  double left = 70, right, top = 40, bottom;
  detail::Range x, y;

  [[nodiscard]] double at_x(double value) const { return left + (value - x.low) / (x.high - x.low) * (right - left); }
  [[nodiscard]] double at_y(double value) const { return bottom - (value - y.low) / (y.high - y.low) * (bottom - top); }
};

Frame frame_of(const LossPlotOptions& options, const std::vector<LossPlot::Curve>& curves,
               const std::vector<LossPlot::Shade>& shades) {
  std::vector<double> xs, ys;
  for (const auto& curve : curves) {
    xs.insert(xs.end(), curve.x.begin(), curve.x.end());
    ys.insert(ys.end(), curve.y.begin(), curve.y.end());
  }
  for (const auto& shade : shades) xs.insert(xs.end(), {shade.from, shade.to});
  return {.right = options.width - 170.0,
          .bottom = options.height - 55.0,
          .x = detail::range_of(xs),
          .y = detail::range_of(ys)};
}

std::string shades_svg(const Frame& frame, const std::vector<LossPlot::Shade>& shades) {
  std::string text;
  for (const auto& shade : shades)
    text += detail::rectangle({frame.at_x(shade.from), frame.top}, {frame.at_x(shade.to), frame.bottom},
                              shade_color(shade.phase));
  return text;
}

std::string axes_svg(const Frame& frame, const LossPlotOptions& options) {
  std::string text;
  for (const auto tick : detail::ticks(frame.x)) {
    const auto x = frame.at_x(tick);
    text += detail::line({x, frame.bottom}, {x, frame.bottom + 5}, "#333");
    text += detail::label({x, frame.bottom + 20}, heatpp::detail::formatted("{:g}", tick), "middle");
  }
  for (const auto tick : detail::ticks(frame.y)) {
    const auto y = frame.at_y(tick);
    text += detail::line({frame.left, y}, {frame.right, y}, "#ccc");
    text += detail::label({frame.left - 8, y + 4}, heatpp::detail::formatted("{:g}", tick), "end");
  }
  text += detail::line({frame.left, frame.bottom}, {frame.right, frame.bottom}, "#333");
  text += detail::line({frame.left, frame.top}, {frame.left, frame.bottom}, "#333");
  const double middle = (frame.left + frame.right) / 2;
  text += detail::label({middle, frame.top - 15}, options.title, "middle");
  text += detail::label({middle, frame.bottom + 42}, options.x_label, "middle");
  return text + detail::label({frame.left, frame.top - 15}, options.y_label, "middle");
}

std::string curve_svg(const Frame& frame, const LossPlot::Curve& curve, std::string_view color) {
  std::string path;
  bool pen_down = false;
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    const bool finite = std::isfinite(curve.x[i]) && std::isfinite(curve.y[i]);
    if (finite)
      path += heatpp::detail::formatted("{}{:.1f} {:.1f} ", pen_down ? 'L' : 'M', frame.at_x(curve.x[i]),
                                        frame.at_y(curve.y[i]));
    pen_down = finite;
  }
  return heatpp::detail::formatted("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>\n", path, color);
}

std::string legend_svg(const Frame& frame, const std::vector<LossPlot::Curve>& curves,
                       const std::vector<LossPlot::Shade>& shades) {
  std::string text;
  double y = frame.top + 10;
  const double x = frame.right + 15;
  for (std::size_t i = 0; i < curves.size(); ++i, y += 20) {
    text += detail::line({x, y}, {x + 20, y}, curve_colors[i % std::size(curve_colors)]);
    text += detail::label({x + 28, y + 4}, curves[i].label, "start");
  }
  std::set<Phase> seen;
  for (const auto& shade : shades) {
    if (!seen.insert(shade.phase).second) continue;
    text += detail::rectangle({x, y - 7}, {x + 20, y + 7}, shade_color(shade.phase));
    text += detail::label({x + 28, y + 4}, to_string(shade.phase), "start");
    y += 20;
  }
  return text;
}

}  // namespace

void LossPlot::add_curve(const std::string& label, std::vector<double> x, std::vector<double> y) {
  if (x.size() != y.size())
    heatpp::detail::raise<ValueError>("LossPlot", "got {} x and {} y for \"{}\"; expected equally many", x.size(),
                                      y.size(), label);
  curves_.push_back({label, std::move(x), std::move(y)});
}

void LossPlot::shade_phases(const std::vector<DasoEvent>& events, std::int64_t end) {
  for (const auto& event : events) {
    if (event.kind != DasoEvent::Kind::phase) continue;
    const auto batch = static_cast<double>(event.batch);
    if (!shades_.empty()) shades_.back().to = batch;
    shades_.push_back({event.phase, batch, static_cast<double>(end)});
  }
}

std::string LossPlot::svg() const {
  const auto frame = frame_of(options_, curves_, shades_);
  std::string body = shades_svg(frame, shades_) + axes_svg(frame, options_);
  for (std::size_t i = 0; i < curves_.size(); ++i)
    body += curve_svg(frame, curves_[i], curve_colors[i % std::size(curve_colors)]);
  return detail::picture(options_.width, options_.height, body + legend_svg(frame, curves_, shades_));
}

void LossPlot::save(const Communicator& comm, const std::string& path) const {
  all_or_none(comm, [&] {
    if (comm.rank() == 0) io::detail::write_atomically("LossPlot", path, svg());
  });
}

std::vector<double> smoothed(const std::vector<double>& values, std::size_t window) {
  std::vector<double> means;
  const auto half = window / 2;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto first = i - std::min(i, half), last = std::min(values.size(), i + half + 1);
    double sum = 0;
    for (auto k = first; k < last; ++k) sum += values[k];
    means.push_back(sum / static_cast<double>(last - first));
  }
  return means;
}

}  // namespace heatpp::nn
