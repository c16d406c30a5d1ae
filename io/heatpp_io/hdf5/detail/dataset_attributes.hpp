#pragma once

#include <heatpp_io/detail/elements/annotations.hpp>
#include <heatpp_io/detail/elements/decoding.hpp>
#include <heatpp_io/hdf5/detail/dataset.hpp>

namespace heatpp::io::detail {

/// The attributes of a dataset that are texts, numbers, or lists of them, and the labels of its dimensions, which
/// HDF5's dimension scales have; those by which HDF5 and netCDF-4 keep their own books are left out. Throws IoError
/// naming `op` and `what` for attributes that cannot be read, or are of 64 MiB or more.
[[nodiscard]] Annotations read_annotations(hid_t dataset, const std::string& what, const char* op);

/// What the attributes of a dataset in the file `path` say of its numbers. Others are not read. Throws IoError naming
/// `op` as read_annotations, and as decoding_of.
[[nodiscard]] Decoding read_decoding(const Dataset& dataset, const std::string& path, const char* op);

/// Gives a new dataset its own, those that CF wants in the type of the array in the dataset's. On every rank that has
/// it open, alike. Throws ValueError for what HDF5 has no room for.
void write_annotations(hid_t dataset, const Annotations& annotations, const std::string& what, const char* op);

}  // namespace heatpp::io::detail
