#pragma once

#include <heatpp_io/hdf5/detail/elements/element_type.hpp>
#include <string>

namespace heatpp::io::detail {

/// What is read of each element of a dataset: a number, or several in a small array.
struct Elements {
  ElementType number;
  Shape inner;    ///< of the small arrays, whose axes follow those of the dataset
  Handle memory;  ///< the type of an element in memory
};

/// What is read of the elements of a dataset, which errors call `what`: numbers, small arrays of them (HDF5's array
/// types), or of records one field, "lon", or "position/x" of records in records. Throws IoError naming `op` for other
/// elements, and for records without the name of one of their fields.
[[nodiscard]] Elements elements_of(hid_t dataset, const std::string& field, const std::string& what, const char* op);

/// Whether the elements are records that are no complex numbers.
[[nodiscard]] bool has_fields(hid_t dataset);

}  // namespace heatpp::io::detail
