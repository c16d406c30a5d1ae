#include <heatpp_nn/detail/crc32c.hpp>
#include <heatpp_nn/detail/event_file.hpp>

#include <cstring>

namespace heatpp::nn::detail {
namespace {

// Wire types of protobuf.
constexpr unsigned varint_type = 0, fixed64_type = 1, bytes_type = 2, fixed32_type = 5;

// Both formats are little-endian, as is every machine that LibTorch supports.
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

// TFRecord stores checksums rotated and shifted, so that data that contains checksums can be checked too.
std::string masked_crc(std::string_view data) {
  const auto crc = crc32c(std::as_bytes(std::span(data)));
  return raw<std::uint32_t>((crc >> 15 | crc << 17) + 0xa282ead8u);
}

std::string event_at(double wall_time) { return key(1, fixed64_type) + raw(wall_time); }

}  // namespace

std::string tfrecord(std::string_view data) {
  const auto length = raw<std::uint64_t>(data.size());
  return length + masked_crc(length) + std::string(data) + masked_crc(data);
}

std::string version_event(double wall_time) { return event_at(wall_time) + bytes_field(3, "brain.Event:2"); }

std::string scalar_event(double wall_time, std::int64_t step, std::string_view tag, float value) {
  const auto entry = bytes_field(1, tag) + key(2, fixed32_type) + raw(value);
  return event_at(wall_time) + key(2, varint_type) + varint(static_cast<std::uint64_t>(step)) +
         bytes_field(5, bytes_field(1, entry));
}

}  // namespace heatpp::nn::detail
