#include <heatpp_io/hdf5/detail/virtual_sources.hpp>

#include <cstdlib>
#include <filesystem>

namespace heatpp::io::detail {
namespace {

namespace fs = std::filesystem;

std::string source_name(hid_t properties, std::size_t index) {
  const auto length = H5Pget_virtual_filename(properties, index, nullptr, 0);
  if (length <= 0) return {};
  std::string name(static_cast<std::size_t>(length) + 1, '\0');
  H5Pget_virtual_filename(properties, index, name.data(), name.size());
  name.pop_back();
  return name;
}

/// Where HDF5 looks: under its prefix, beside the file, and from the current directory.
bool is_there(const std::string& name, const fs::path& beside) {
  std::error_code ignored;
  const char* prefix = std::getenv("HDF5_VDS_PREFIX");
  return (prefix && fs::exists(fs::path(prefix) / name, ignored)) || fs::exists(beside / name, ignored) ||
         fs::exists(name, ignored);
}

}  // namespace

std::string missing_source(hid_t dataset, const std::string& path) {
  const Handle properties(H5Dget_create_plist(dataset));
  std::size_t count = 0;
  H5Pget_virtual_count(properties.get(), &count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto name = source_name(properties.get(), i);
    const bool is_file = !name.empty() && name != "." && name.find('%') == std::string::npos;  // % stands for a number
    if (is_file && !is_there(name, fs::path(path).parent_path())) return name;
  }
  return {};
}

}  // namespace heatpp::io::detail
