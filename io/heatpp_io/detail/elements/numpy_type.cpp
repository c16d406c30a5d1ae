#include <heatpp_io/detail/elements/numpy_type.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace heatpp::io::detail {
namespace {

using c10::ScalarType;

static_assert(std::endian::native == std::endian::little);

struct Known {
  std::string_view code;
  std::string_view letters;  // each letter is another name of the type
  ElementType element;
  ScalarType in_memory;
  std::int64_t number_bytes;
};
/// The types that are written come first, in the order of Dtype.
constexpr std::array known{
    Known{"b1", "?", {bool_}, ScalarType::Bool, 1},
    Known{"u1", "B", {uint8}, ScalarType::Byte, 1},
    Known{"i1", "b", {int8}, ScalarType::Char, 1},
    Known{"i2", "h", {int16}, ScalarType::Short, 2},
    Known{"i4", "i", {int32}, ScalarType::Int, 4},
    Known{"i8", "lqpn", {int64}, ScalarType::Long, 8},
    Known{"f2", "e", {float16}, ScalarType::Half, 2},
    Known{"V2", "", {bfloat16}, ScalarType::BFloat16, 2},
    Known{"f4", "f", {float32}, ScalarType::Float, 4},
    Known{"f8", "d", {float64}, ScalarType::Double, 8},
    Known{"c8", "F", {complex64}, ScalarType::ComplexFloat, 4},
    Known{"c16", "D", {complex128}, ScalarType::ComplexDouble, 8},
    Known{"u2", "H", {int32}, ScalarType::UInt16, 2},
    Known{"u4", "I", {int64}, ScalarType::UInt32, 4},
    Known{"u8", "LQPN", {int64, true}, ScalarType::Long, 8},
};

template <class Number>
void swap_bytes(void* elements, std::int64_t bytes) {
  auto* data = static_cast<std::byte*>(elements);
  for (std::int64_t i = 0; i < bytes; i += static_cast<std::int64_t>(sizeof(Number))) {
    Number number;
    std::memcpy(&number, data + i, sizeof number);
    if constexpr (sizeof number == 2) number = __builtin_bswap16(number);
    if constexpr (sizeof number == 4) number = __builtin_bswap32(number);
    if constexpr (sizeof number == 8) number = __builtin_bswap64(number);
    std::memcpy(data + i, &number, sizeof number);
  }
}

}  // namespace

StoredType stored_type(const std::string& description, const std::string& what, const char* op) {
  const bool ordered = !description.empty() && std::string_view("<>=|").find(description[0]) != std::string_view::npos;
  const auto type = std::string_view(description).substr(ordered ? 1 : 0);
  const auto* found = std::ranges::find_if(known, [&](const Known& k) {
    return type == k.code || (type.size() == 1 && k.letters.find(type) != std::string_view::npos);
  });
  if (found == known.end())
    heatpp::detail::raise<IoError>(
        op,
        "got {} with elements of type {:?}; expected bool, whole numbers of up to 8 "
        "bytes, floats of 2 to 8 or complex numbers of 8 or 16, into which NumPy's astype converts",
        what, description);
  return {found->element, found->in_memory, static_cast<std::int64_t>(c10::elementSize(found->in_memory)),
          description[0] == '>' ? found->number_bytes : 1};
}

StoredNumbers stored_numbers(const StoredType& type) {
  using enum c10::ScalarType;
  const auto kind = type.in_memory;
  return {type.element, type.bytes, kind == Byte || kind == UInt16 || kind == UInt32 || type.element.may_overflow};
}

std::string numpy_type(Dtype dtype) {
  const auto& type = known[static_cast<std::size_t>(dtype)];
  return heatpp::detail::formatted("{}{}", type.number_bytes == 1 ? '|' : '<', type.code);
}

void to_native(const StoredType& type, void* elements, std::int64_t count) {
  const auto bytes = count * type.bytes;
  if (type.swapped == 2) swap_bytes<std::uint16_t>(elements, bytes);
  if (type.swapped == 4) swap_bytes<std::uint32_t>(elements, bytes);
  if (type.swapped == 8) swap_bytes<std::uint64_t>(elements, bytes);
  if (type.element.dtype != bool_) return;
  auto* flags = static_cast<std::uint8_t*>(elements);
  std::transform(flags, flags + bytes, flags, [](std::uint8_t flag) -> std::uint8_t { return flag != 0; });
}

}  // namespace heatpp::io::detail
