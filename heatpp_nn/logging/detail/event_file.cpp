#include <heatpp_nn/logging/detail/event_file.hpp>

#include <heatpp_nn/detail/crc32c.hpp>

#include <cstring>

namespace heatpp::nn::detail {
namespace {

// Wire types of protobuf.
constexpr unsigned varint_type = 0, fixed64_type = 1, bytes_type = 2, fixed32_type = 5;

// Both formats are little-endian, as are all machines that LibTorch supports.
template <class T>
std::string raw(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7) bytes.push_back(static_cast<char>((value & 127) | 128));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

std::string key(unsigned field, unsigned type) { return varint(field << 3 | type); }
std::string bytes_field(unsigned field, std::string_view data) {
  return key(field, bytes_type) + varint(data.size()) + std::string(data);
}

std::string varint_field(unsigned field, std::int64_t value) {
  return key(field, varint_type) + varint(static_cast<std::uint64_t>(value));
}
std::string double_field(unsigned field, double value) { return key(field, fixed64_type) + raw(value); }
std::string doubles_field(unsigned field, const std::vector<double>& values) {
  std::string packed;
  for (const auto value : values) packed += raw(value);
  return bytes_field(field, packed);
}

// TFRecord stores checksums rotated and shifted, so that data that contains checksums can be checked, too.
std::string masked_crc(std::string_view data) {
  const auto crc = crc32c(std::as_bytes(std::span(data)));
  return raw<std::uint32_t>((crc >> 15 | crc << 17) + 0xa282ead8u);
}

std::string event_at(double wall_time) { return double_field(1, wall_time); }

/// Returns an event with one value, which has a tag and `fields`.
std::string summary_event(const EventHead& head, const std::string& fields) {
  return event_at(head.wall_time) + varint_field(2, head.step) +
         bytes_field(5, bytes_field(1, bytes_field(1, head.tag) + fields));
}

}  // namespace

std::string tfrecord(std::string_view data) {
  const auto length = raw<std::uint64_t>(data.size());
  return length + masked_crc(length) + std::string(data) + masked_crc(data);
}

std::string version_event(double wall_time) { return event_at(wall_time) + bytes_field(3, "brain.Event:2"); }

std::string scalar_event(const EventHead& head, float value) {
  return summary_event(head, key(2, fixed32_type) + raw(value));
}

std::string histogram_event(const EventHead& head, const Histogram& h) {
  const auto fields = double_field(1, h.min) + double_field(2, h.max) + double_field(3, h.count) +
                      double_field(4, h.sum) + double_field(5, h.squares) + doubles_field(6, h.limits) +
                      doubles_field(7, h.counts);
  return summary_event(head, bytes_field(5, fields));
}

std::string image_event(const EventHead& head, const EncodedImage& image) {
  return summary_event(head, bytes_field(4, varint_field(1, image.height) + varint_field(2, image.width) +
                                                varint_field(3, image.channels) + bytes_field(4, image.png)));
}

}  // namespace heatpp::nn::detail
