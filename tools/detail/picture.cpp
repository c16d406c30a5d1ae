#include "picture.hpp"

#include <fmt/format.h>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/heatpp.hpp>
#include <heatpp/interop/torch.hpp>
#include <heatpp_nn/logging/detail/png.hpp>
#include <heatpp_nn/logging/detail/svg.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace tools {

namespace ht = heatpp;
namespace draw = heatpp::nn::detail;

namespace {

constexpr int width = 960, height = 480, left = 70, right = 740, top = 40, bottom = 430;
constexpr std::int64_t most_pixels = 1024;

double across(const draw::Range& range, double value, double from, double to) {
  return from + (value - range.low) / (range.high - range.low) * (to - from);
}

std::string axes(const draw::Range& values, const draw::Range& counts) {
  std::string body =
      draw::line({left, bottom}, {right, bottom}, "black") + draw::line({left, top}, {left, bottom}, "black");
  for (const auto tick : draw::ticks(values))
    body += draw::label({across(values, tick, left, right), bottom + 18}, fmt::format("{:.6g}", tick), "middle");
  for (const auto tick : draw::ticks(counts))
    body += draw::label({left - 8, across(counts, tick, bottom, top) + 4}, fmt::format("{:.6g}", tick), "end");
  return body;
}

std::string moments(const Summary& s) {
  std::string body;
  double y = top + 10;
  const auto add = [&](const std::string& name, double value) {
    body +=
        draw::label({right + 30, y}, name, "start") + draw::label({width - 20, y}, fmt::format("{:.6g}", value), "end");
    y += 20;
  };
  add("elements", static_cast<double>(s.size));
  add("missing", static_cast<double>(s.missing + s.infinite));
  for (const auto& [name, value] : {std::pair("min", s.min), {"max", s.max}, {"mean", s.mean}, {"std", s.std}})
    add(name, value);
  for (std::size_t i = 0; i < s.percents.size(); ++i) add(fmt::format("{:g} %", s.percents[i]), s.percentiles[i]);
  return body;
}

}  // namespace

std::string histogram_picture(const Summary& s, const std::string& title) {
  const draw::Range values{s.low, s.high > s.low ? s.high : s.low + 1};
  const draw::Range counts{0, std::max(1.0, static_cast<double>(*std::ranges::max_element(s.counts)))};
  const auto bins = static_cast<double>(s.counts.size());
  std::string body = draw::label({left, 24}, title, "start");
  for (std::size_t bin = 0; bin < s.counts.size(); ++bin) {
    const auto from = left + (right - left) * static_cast<double>(bin) / bins, step = (right - left) / bins;
    body += draw::rectangle({from + 0.5, across(counts, static_cast<double>(s.counts[bin]), bottom, top)},
                            {from + step - 0.5, bottom}, "#4c78a8");
  }
  return draw::picture(width, height, body + axes(values, counts) + moments(s));
}

namespace {

/// Returns a color from blue over white to red.
std::array<std::uint8_t, 3> color(double value, const Summary& s) {
  if (!std::isfinite(value)) return {255, 255, 255};
  const auto part = s.max > s.min ? (value - s.min) / (s.max - s.min) : 0.5;
  const auto of = [&](double low, double middle, double high) {
    const auto mixed = part < 0.5 ? low + 2 * part * (middle - low) : middle + (2 * part - 1) * (high - middle);
    return static_cast<std::uint8_t>(std::lround(std::clamp(mixed, 0.0, 255.0)));
  };
  return {of(33, 230, 178), of(102, 230, 24), of(172, 230, 43)};
}

at::Tensor thinned(const at::Tensor& elements, int axis, std::int64_t step) {
  return elements.slice(axis, std::nullopt, std::nullopt, step);
}

/// Returns the elements of the picture, on every rank. Rows are read piece by piece and thinned.
at::Tensor shown_elements(const ht::io::StoredArray& x) {
  const auto& shape = x.shape();
  const auto larger = std::max(shape[shape.size() - 2], shape.back());
  const auto step = (larger + most_pixels - 1) / most_pixels;
  const auto rows = shape.size() == 2 ? shape[0] : 1;
  const auto each = std::max<std::int64_t>(1, x.rows_of_bytes(std::int64_t{64} << 20) / step) * step;
  std::vector<at::Tensor> parts;
  for (std::int64_t first = 0; first < rows; first += each) {
    auto piece = ht::resplit(x.rows(first, std::min(each, rows - first)), std::nullopt).larray();
    while (piece.dim() > 2) piece = piece[0];
    parts.push_back(thinned(thinned(piece, 0, step), 1, step));
  }
  return at::cat(parts, 0);
}

}  // namespace

std::string elements_picture(const ht::io::StoredArray& x, const Summary& summary) {
  const auto& shape = x.shape();
  if (shape.size() < 2 || ht::size_of(shape) == 0)
    ht::detail::raise<ht::ValueError>(
        "describe",
        "got a PNG picture of an array of shape {}; expected two axes or more with elements, or an SVG picture",
        ht::to_string(shape));
  auto elements = shown_elements(x);
  elements = (elements.is_complex() ? elements.abs() : elements).to(at::kDouble).contiguous();
  std::vector<std::uint8_t> pixels;
  for (std::int64_t i = 0; i < elements.numel(); ++i)
    for (const auto channel : color(elements.const_data_ptr<double>()[i], summary)) pixels.push_back(channel);
  return draw::png({pixels, static_cast<int>(elements.size(1)), static_cast<int>(elements.size(0)), 3});
}

}  // namespace tools
