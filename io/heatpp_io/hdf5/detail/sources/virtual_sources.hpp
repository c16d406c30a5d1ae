#pragma once

#include <heatpp_io/hdf5/detail/handle.hpp>
#include <string>

namespace heatpp::io::detail {

/// The first source of the dataset in the file `path` that is missing, cannot be read, or does not cover its part of
/// the virtual dataset, for which HDF5 would deliver fill values, and why; empty if all can be read, and for datasets
/// that are not virtual. Sources by a pattern ("part-%b.h5") are there from number 0 to the last one that fits it.
/// `depth` counts virtual datasets within others.
[[nodiscard]] std::string unread_source(hid_t dataset, const std::string& path, int depth = 0);

}  // namespace heatpp::io::detail
