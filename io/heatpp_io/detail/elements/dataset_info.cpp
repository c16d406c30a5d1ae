#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/elements/dataset_info.hpp>

#include <algorithm>
#include <limits>

namespace heatpp::io::detail {

using heatpp::detail::raise;

std::int64_t checked_bytes(const Shape& shape, std::int64_t itemsize, const std::string& what, const char* op) {
  if (shape.size() > max_ndim)
    raise<IoError>(op, "got {} with {} axes; expected at most {}", what, shape.size(), max_ndim);
  auto room = std::numeric_limits<std::int64_t>::max() / std::max<std::int64_t>(1, itemsize);
  auto bytes = itemsize;
  for (const auto extent : shape) {
    if (extent < 0 || extent > room)
      raise<IoError>(op, "got {} of shape {}; expected less than 2^63 bytes", what, to_string(shape));
    if (extent > 0) room /= extent;
    bytes *= extent;
  }
  return bytes;
}

void raise_overflow(const std::string& path, const char* op) {
  raise<ValueError>(op, "got unsigned numbers of 2^63 and more in \"{}\"; expected numbers that int64 can hold", path);
}

}  // namespace heatpp::io::detail
