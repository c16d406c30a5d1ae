#pragma once

#include <array>
#include <cstddef>
#include <heatpp_io/hdf5/detail/elements/element_type.hpp>
#include <string>

namespace heatpp::io::detail {

/// The bytes of one element of any dtype.
using OneElement = std::array<std::byte, 16>;

/// An array in which all elements have one value, and for which a group stands: openPMD's constant components. The
/// group has the attributes `value` and `shape`.
struct Constant {
  ElementType element;
  Shape shape;
  OneElement value;
};

[[nodiscard]] bool is_constant(hid_t group);
/// Returns the constant of a group that is one; errors name it `what`. Throws IoError naming `op` if the attributes are
/// not a number and extents.
[[nodiscard]] Constant constant_of(hid_t group, const std::string& what, const char* op);

}  // namespace heatpp::io::detail
