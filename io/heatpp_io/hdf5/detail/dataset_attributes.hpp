#pragma once

#include <heatpp_io/detail/elements/annotations.hpp>
#include <heatpp_io/detail/elements/decoding.hpp>
#include <heatpp_io/hdf5/detail/dataset.hpp>

namespace heatpp::io::detail {

/// Returns the attributes of a dataset that are texts, numbers, or lists of these, and the labels of its dimensions
/// from HDF5's dimension scales. Attributes that HDF5 and netCDF-4 use internally are left out. Throws IoError naming
/// `op` and `what` for attributes that cannot be read, and for attributes of 64 MiB or more.
[[nodiscard]] Annotations read_annotations(hid_t dataset, const std::string& what, const char* op);

/// Returns how the attributes of a dataset in the file `path` decode its numbers. Other attributes are not read. Throws
/// IoError naming `op` as read_annotations and decoding_of.
[[nodiscard]] Decoding read_decoding(const Dataset& dataset, const std::string& path, const char* op);

/// Writes the attributes of a new dataset; those that CF requires in the array's type get this type. Every rank that
/// has the dataset open makes the same call. Throws ValueError for what HDF5 cannot store.
void write_annotations(hid_t dataset, const Annotations& annotations, const std::string& what, const char* op);

}  // namespace heatpp::io::detail
