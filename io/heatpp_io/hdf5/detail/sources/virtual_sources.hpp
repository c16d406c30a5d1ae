#pragma once

#include <heatpp_io/hdf5/detail/handle.hpp>
#include <string>

namespace heatpp::io::detail {

/// Returns the first source of the dataset in the file `path` that is missing, cannot be read, or does not cover its
/// part of the virtual dataset, and the reason. HDF5 would give fill values for it. Returns "" if all can be read, and
/// for other datasets. With a pattern ("part-%b.h5"), sources must exist from number 0 to the last one that matches.
/// `depth` counts virtual datasets within others.
[[nodiscard]] std::string unread_source(hid_t dataset, const std::string& path, int depth = 0);

}  // namespace heatpp::io::detail
