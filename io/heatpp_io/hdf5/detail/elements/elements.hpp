#pragma once

#include <heatpp_io/hdf5/detail/elements/element_type.hpp>
#include <string>

namespace heatpp::io::detail {

/// What is read from each element of a dataset: a number, or several in a small array.
struct Elements {
  ElementType number;
  Shape inner;    ///< extents of small arrays, whose axes follow those of the dataset
  Handle memory;  ///< type of an element in memory
};

/// Returns what is read from the elements of a dataset, which errors name `what`: numbers, small arrays of numbers
/// (HDF5's array types), or one field of records, "lon", or "position/x" for records in records. Throws IoError naming
/// `op` for other elements, and for records if no field is given.
[[nodiscard]] Elements elements_of(hid_t dataset, const std::string& field, const std::string& what, const char* op);

/// Whether the elements are records, except complex numbers.
[[nodiscard]] bool has_fields(hid_t dataset);

}  // namespace heatpp::io::detail
