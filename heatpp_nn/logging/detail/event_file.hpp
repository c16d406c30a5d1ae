#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heatpp::nn::detail {

/// Returns a record of a TFRecord file: length, checksum of the length, data, checksum of the data.
[[nodiscard]] std::string tfrecord(std::string_view data);

/// Returns the first event of an event file, in protobuf's wire format: Event{wall_time = 1, file_version = 3}.
[[nodiscard]] std::string version_event(double wall_time);
/// What an event belongs to.
struct EventHead {
  double wall_time;
  std::int64_t step;
  std::string_view tag;
};
/// Returns Event{wall_time = 1, step = 2, summary = 5 {value = 1 {tag = 1, simple_value = 2}}}.
[[nodiscard]] std::string scalar_event(const EventHead& head, float value);

/// The number of values below each of the increasing limits and not below the limit before.
struct Histogram {
  double min = 0, max = 0, count = 0, sum = 0, squares = 0;
  std::vector<double> limits = {}, counts = {};
};
/// ... value = 1 {tag = 1, histo = 5 {min = 1, max = 2, num = 3, sum = 4, sum_squares = 5, limits = 6, counts = 7}}.
[[nodiscard]] std::string histogram_event(const EventHead& head, const Histogram& histogram);

/// ... value = 1 {tag = 1, image = 4 {height = 1, width = 2, colorspace = 3, encoded_image_string = 4}}.
struct EncodedImage {
  int height, width, channels;
  std::string_view png;
};
[[nodiscard]] std::string image_event(const EventHead& head, const EncodedImage& image);

}  // namespace heatpp::nn::detail
