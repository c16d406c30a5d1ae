#pragma once

#include <cstdint>

namespace heatpp::detail {

/// Sixteen bytes that are copied together.
struct Wide {
  std::uint64_t parts[2];
};

/// Calls f.operator()<T>() with a type that copies this many bytes, if an element of some dtype has that size. Returns
/// whether it does.
template <class F>
bool with_plain_type(std::int64_t bytes, F f) {
  switch (bytes) {
    case 1: f.template operator()<std::uint8_t>(); return true;
    case 2: f.template operator()<std::uint16_t>(); return true;
    case 4: f.template operator()<std::uint32_t>(); return true;
    case 8: f.template operator()<std::uint64_t>(); return true;
    case 16: f.template operator()<Wide>(); return true;
    default: return false;
  }
}

}  // namespace heatpp::detail
