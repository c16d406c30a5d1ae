#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heatpp::nn::detail {

/// A record of a TFRecord file: length, checksum of the length, data, checksum of the data.
[[nodiscard]] std::string tfrecord(std::string_view data);

/// The event that starts an event file, in protobuf's wire format: Event{wall_time = 1, file_version = 3}.
[[nodiscard]] std::string version_event(double wall_time);
/// Event{wall_time = 1, step = 2, summary = 5 {value = 1 {tag = 1, simple_value = 2}}}.
[[nodiscard]] std::string scalar_event(double wall_time, std::int64_t step, std::string_view tag, float value);

}  // namespace heatpp::nn::detail
