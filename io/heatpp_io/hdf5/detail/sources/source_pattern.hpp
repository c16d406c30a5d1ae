#pragma once

#include <heatpp_io/hdf5/detail/handle.hpp>
#include <string>
#include <vector>

// Names of the sources of virtual datasets: "%b" is the number 0, 1, 2, ... of a block, "%%" is "%".
namespace heatpp::io::detail {

[[nodiscard]] bool is_pattern(const std::string& name);
/// Returns the name with this number instead of "%b".
[[nodiscard]] std::string numbered(const std::string& name, std::int64_t number);
/// Returns the meaning of a name that has no "%b".
[[nodiscard]] std::string plain(const std::string& name);

/// Returns where HDF5 finds a source file of a virtual dataset in the file `path`: in HDF5_VDS_PREFIX, next to that
/// file, or relative to the current directory. Returns "" if it is nowhere.
[[nodiscard]] std::string place_of_source(const std::string& name, const std::string& path);

/// Returns the numbers for which there are files, or links in a file, with that pattern, in order.
[[nodiscard]] std::vector<std::int64_t> numbers_of_files(const std::string& pattern, const std::string& path);
[[nodiscard]] std::vector<std::int64_t> numbers_of_links(hid_t file, const std::string& pattern);

}  // namespace heatpp::io::detail
