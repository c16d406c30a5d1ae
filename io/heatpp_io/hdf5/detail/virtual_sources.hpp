#pragma once

#include <heatpp_io/hdf5/detail/handle.hpp>
#include <string>

namespace heatpp::io::detail {

/// The first file that the virtual dataset in the file `path` is made of and that cannot be read, for which HDF5 would
/// deliver fill values, and why; empty if all can.
[[nodiscard]] std::string unread_source(hid_t dataset, const std::string& path);

}  // namespace heatpp::io::detail
