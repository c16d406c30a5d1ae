#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/hdf5/detail/virtual_sources.hpp>

#include <cstdlib>
#include <filesystem>
#include <set>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::formatted;
namespace fs = std::filesystem;

using GetName = ssize_t (*)(hid_t properties, std::size_t index, char* name, std::size_t size);

std::string name_by(GetName get, hid_t properties, std::size_t index) {
  const auto length = get(properties, index, nullptr, 0);
  if (length <= 0) return {};
  std::string name(static_cast<std::size_t>(length) + 1, '\0');
  get(properties, index, name.data(), name.size());
  name.pop_back();
  return name;
}

/// Where HDF5 looks: under its prefix, beside the file, and from the current directory. Empty: nowhere.
fs::path found(const std::string& name, const fs::path& beside) {
  std::error_code ignored;
  const char* prefix = std::getenv("HDF5_VDS_PREFIX");
  if (prefix && fs::exists(fs::path(prefix) / name, ignored)) return fs::path(prefix) / name;
  if (fs::exists(beside / name, ignored)) return beside / name;
  return fs::exists(name, ignored) ? fs::path(name) : fs::path();
}

/// What keeps HDF5 from reading a dataset of a file.
std::string problem_of(const std::string& file, const std::string& dataset, const fs::path& beside) {
  const auto path = found(file, beside);
  if (path.empty()) return formatted("\"{}\", a file that is missing", file);
  const Handle opened(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  if (!opened) return formatted("\"{}\", which cannot be opened ({})", file, innermost_error());
  const Handle object(H5Oopen(opened.get(), dataset.c_str(), H5P_DEFAULT));
  if (!object) return formatted("\"{}\", which has no dataset \"{}\"", file, dataset);
  return {};
}

}  // namespace

std::string unread_source(hid_t dataset, const std::string& path) {
  const Handle properties(H5Dget_create_plist(dataset));
  std::size_t count = 0;
  H5Pget_virtual_count(properties.get(), &count);
  std::set<std::pair<std::string, std::string>> seen;
  for (std::size_t i = 0; i < count; ++i) {
    const auto file = name_by(H5Pget_virtual_filename, properties.get(), i);
    const auto name = name_by(H5Pget_virtual_dsetname, properties.get(), i);
    if (file.empty() || file == "." || (file + name).find('%') != std::string::npos) continue;  // % stands for numbers
    if (!seen.insert({file, name}).second) continue;
    if (auto problem = problem_of(file, name, fs::path(path).parent_path()); !problem.empty()) return problem;
  }
  return {};
}

}  // namespace heatpp::io::detail
