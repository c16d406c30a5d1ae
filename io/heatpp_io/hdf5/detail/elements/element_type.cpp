#include <heatpp_io/hdf5/detail/elements/element_type.hpp>

#include <heatpp/core/promotion.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace heatpp::io::detail {
namespace {

std::optional<ElementType> of_integer(hid_t type) {
  const auto bytes = H5Tget_size(type);
  const bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
  if (bytes > 8) return std::nullopt;
  if (bytes == 1) return ElementType{is_signed ? int8 : uint8};
  if (bytes == 2) return ElementType{is_signed ? int16 : int32};
  if (bytes <= 4) return ElementType{is_signed ? int32 : int64};
  return ElementType{int64, !is_signed};
}

ElementType of_float(hid_t type) {
  const auto bytes = H5Tget_size(type);
  if (bytes > 4) return {float64};
  if (bytes > 2) return {float32};
  std::size_t sign = 0, exponent_at = 0, exponent = 0, mantissa_at = 0, mantissa = 0;
  H5Tget_fields(type, &sign, &exponent_at, &exponent, &mantissa_at, &mantissa);
  return {exponent == 8 ? bfloat16 : float16};
}

/// Enumerations of FALSE and TRUE are bool; others are the numbers of their names.
std::optional<ElementType> of_enumeration(hid_t type) {
  if (H5Tget_size(type) == 1 && H5Tget_nmembers(type) == 2) {
    std::int8_t no = -1, yes = -1;
    if (H5Tenum_valueof(type, "FALSE", &no) >= 0 && H5Tenum_valueof(type, "TRUE", &yes) >= 0 && no == 0 && yes == 1)
      return ElementType{bool_};
  }
  const Handle base(H5Tget_super(type));
  return of_integer(base.get());
}

/// The names of the parts of complex numbers.
constexpr std::array parts_of_complex{std::pair{"r", "i"}, std::pair{"real", "imag"}, std::pair{"re", "im"}};

const std::pair<const char*, const char*>* parts_of(hid_t type) {
  const auto* found = std::ranges::find_if(parts_of_complex, [&](const auto& names) {
    return H5Tget_member_index(type, names.first) >= 0 && H5Tget_member_index(type, names.second) >= 0;
  });
  return found == parts_of_complex.end() ? nullptr : found;
}

/// Records of two equal floats are complex numbers if they have the names of the parts.
std::optional<ElementType> of_record(hid_t type) {
  if (H5Tget_nmembers(type) != 2 || !parts_of(type)) return std::nullopt;
  const Handle real(H5Tget_member_type(type, 0)), imaginary(H5Tget_member_type(type, 1));
  if (H5Tget_class(real.get()) != H5T_FLOAT || H5Tequal(real.get(), imaginary.get()) <= 0) return std::nullopt;
  const auto part = of_float(real.get()).dtype;
  if (part == float32) return ElementType{complex64};
  if (part == float64) return ElementType{complex128};
  return std::nullopt;
}

/// Bit fields are whole numbers without a sign.
std::optional<ElementType> of_bits(hid_t type, BitFields bits) {
  const auto bytes = H5Tget_size(type);
  if (bytes == 1) return ElementType{bits == BitFields::booleans ? bool_ : uint8};
  if (bytes > 8) return std::nullopt;
  return bytes == 2 ? ElementType{int32} : ElementType{int64, bytes > 4};
}

/// HDF5 converts bit fields only to other bit fields. These are as wide as the numbers that they become.
Handle bits_in_memory(const ElementType& element) {
  if (element.dtype == uint8) return Handle(H5Tcopy(H5T_NATIVE_B8));
  return Handle(H5Tcopy(element.dtype == int32 ? H5T_NATIVE_B32 : H5T_NATIVE_B64));
}

Handle small_float(std::size_t exponent, std::size_t mantissa) {
  Handle type(H5Tcopy(H5T_NATIVE_FLOAT));
  H5Tset_fields(type.get(), 15, mantissa, exponent, 0, mantissa);
  H5Tset_size(type.get(), 2);
  H5Tset_ebias(type.get(), (std::size_t{1} << (exponent - 1)) - 1);
  return type;
}

Handle complex_type(hid_t part, const char* real, const char* imaginary) {
  const auto bytes = H5Tget_size(part);
  Handle type(H5Tcreate(H5T_COMPOUND, 2 * bytes));
  H5Tinsert(type.get(), real, 0, part);
  H5Tinsert(type.get(), imaginary, bytes, part);
  return type;
}

Handle boolean_type() {
  Handle type(H5Tenum_create(H5T_NATIVE_INT8));
  const std::int8_t no = 0, yes = 1;
  H5Tenum_insert(type.get(), "FALSE", &no);
  H5Tenum_insert(type.get(), "TRUE", &yes);
  return type;
}

}  // namespace

std::optional<ElementType> element_type(hid_t type, BitFields bits) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER: return of_integer(type);
    case H5T_FLOAT: return of_float(type);
    case H5T_ENUM: return of_enumeration(type);
    case H5T_COMPOUND: return of_record(type);
    case H5T_BITFIELD: return of_bits(type, bits);
    default: return std::nullopt;
  }
}

Handle memory_type(const ElementType& element, hid_t stored) {
  if (element.dtype == bool_) return Handle(H5Tcopy(stored));
  if (H5Tget_class(stored) == H5T_BITFIELD) return bits_in_memory(element);
  if (element.may_overflow) return Handle(H5Tcopy(H5T_NATIVE_UINT64));
  if (!is_complex(element.dtype)) return saved_type(element.dtype);
  const auto& [real, imaginary] = *parts_of(stored);
  return complex_type(element.dtype == complex64 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE, real, imaginary);
}

Handle saved_type(Dtype dtype) {
  switch (dtype) {
    case bool_: return boolean_type();
    case uint8: return Handle(H5Tcopy(H5T_NATIVE_UINT8));
    case int8: return Handle(H5Tcopy(H5T_NATIVE_INT8));
    case int16: return Handle(H5Tcopy(H5T_NATIVE_INT16));
    case int32: return Handle(H5Tcopy(H5T_NATIVE_INT32));
    case int64: return Handle(H5Tcopy(H5T_NATIVE_INT64));
    case float16: return small_float(5, 10);
    case bfloat16: return small_float(8, 7);
    case float32: return Handle(H5Tcopy(H5T_NATIVE_FLOAT));
    case float64: return Handle(H5Tcopy(H5T_NATIVE_DOUBLE));
    case complex64: return complex_type(H5T_NATIVE_FLOAT, "r", "i");
    case complex128: return complex_type(H5T_NATIVE_DOUBLE, "r", "i");
  }
  return {};
}

const char* type_name(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER: return "integers of more than 64 bits";
    case H5T_STRING: return "strings";
    case H5T_COMPOUND: return "records";
    case H5T_REFERENCE: return "references";
    case H5T_VLEN: return "sequences of variable length";
    case H5T_ARRAY: return "small arrays of what is no number";
    case H5T_ENUM: return "names of integers of more than 64 bits";
    case H5T_BITFIELD: return "bit fields of more than 64 bits";
    default: return "opaque bytes";
  }
}

}  // namespace heatpp::io::detail
