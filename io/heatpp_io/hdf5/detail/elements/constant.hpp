#pragma once

#include <array>
#include <cstddef>
#include <heatpp_io/hdf5/detail/elements/element_type.hpp>
#include <string>

namespace heatpp::io::detail {

/// The bytes of one element, of any dtype.
using OneElement = std::array<std::byte, 16>;

/// An array that a group stands for, all of whose elements are one value: openPMD's constant components, which have
/// the attributes `value` and `shape`.
struct Constant {
  ElementType element;
  Shape shape;
  OneElement value;
};

[[nodiscard]] bool is_constant(hid_t group);
/// That of a group which is one, and which errors call `what`. Throws IoError naming `op` for other attributes than a
/// number and extents.
[[nodiscard]] Constant constant_of(hid_t group, const std::string& what, const char* op);

}  // namespace heatpp::io::detail
