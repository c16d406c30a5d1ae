#pragma once

#include <heatpp_io/hdf5/detail/handle.hpp>
#include <string>
#include <vector>

// The names of the sources of virtual datasets: "%b" stands for the numbers 0, 1, 2, ... of blocks, "%%" for "%".
namespace heatpp::io::detail {

[[nodiscard]] bool is_pattern(const std::string& name);
/// The name with this number in place of "%b".
[[nodiscard]] std::string numbered(const std::string& name, std::int64_t number);
/// The name without "%b" as it is meant.
[[nodiscard]] std::string plain(const std::string& name);

/// Where HDF5 finds a source file of a virtual dataset in the file `path`: as HDF5_VDS_PREFIX says, beside that file,
/// or from the current directory. Empty: nowhere.
[[nodiscard]] std::string place_of_source(const std::string& name, const std::string& path);

/// The numbers for which there are files, or links in a file, of that pattern, in order.
[[nodiscard]] std::vector<std::int64_t> numbers_of_files(const std::string& pattern, const std::string& path);
[[nodiscard]] std::vector<std::int64_t> numbers_of_links(hid_t file, const std::string& pattern);

}  // namespace heatpp::io::detail
