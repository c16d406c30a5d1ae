#pragma once

#include <heatpp_io/detail/elements/dataset_info.hpp>
#include <heatpp_io/hdf5/detail/handle.hpp>
#include <optional>

namespace heatpp::io::detail {

/// The meaning of bit fields of 8 bits: PyTables writes bool in this form.
enum class BitFields { numbers, booleans };

/// Returns the element type of an HDF5 type; nullopt if it is not a number (strings, records, references). uint16,
/// uint32, uint64 and bit fields become the next wider signed integer, since the library does not have them. Records
/// are complex numbers if they have two equal floats named r and i, real and imag, or re and im.
[[nodiscard]] std::optional<ElementType> element_type(hid_t type, BitFields bits = BitFields::numbers);

/// Returns the HDF5 type in memory for elements that are read from a dataset of type `stored`.
[[nodiscard]] Handle memory_type(const ElementType& element, hid_t stored);

/// Returns the HDF5 type in which elements are saved, as h5py does: bool is an enumeration, float16 and bfloat16 are
/// 16-bit floats, complex numbers are records of r and i.
[[nodiscard]] Handle saved_type(Dtype dtype);

/// Returns the kind of an HDF5 type for messages: "string", "record", ...
[[nodiscard]] const char* type_name(hid_t type);

}  // namespace heatpp::io::detail
