#pragma once

#include <heatpp_io/detail/elements/dataset_info.hpp>
#include <heatpp_io/hdf5/detail/handle.hpp>
#include <optional>

namespace heatpp::io::detail {

/// What bit fields of 8 bits are: PyTables writes bool as such.
enum class BitFields { numbers, booleans };

/// The element type of an HDF5 type; nullopt for what is no number (strings, records, references).
/// uint16, uint32 and uint64, which the library does not have, become the next wider signed integer, as do bit fields.
/// Records are complex numbers if they have two equal floats called r and i, real and imag, or re and im.
[[nodiscard]] std::optional<ElementType> element_type(hid_t type, BitFields bits = BitFields::numbers);

/// The HDF5 type of elements in memory that are read from a dataset of type `stored`.
[[nodiscard]] Handle memory_type(const ElementType& element, hid_t stored);

/// The HDF5 type in which elements are saved, as h5py does: bool an enumeration, float16 and bfloat16 16-bit floats,
/// complex numbers records of r and i.
[[nodiscard]] Handle saved_type(Dtype dtype);

/// "string", "record", ...: the kind of an HDF5 type, for messages.
[[nodiscard]] const char* type_name(hid_t type);

}  // namespace heatpp::io::detail
