#pragma once

#include <fmt/ranges.h>
#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace heatpp::io::detail {

/// Returns the extension of a name with its dot, in lower case.
[[nodiscard]] inline std::string extension_of(const std::filesystem::path& name) {
  auto extension = name.extension().string();
  std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return std::tolower(c); });
  return extension;
}

/// Returns where the name of a Zarr store ends in a path: after the last part that ends in .zarr or .zip, as in
/// "x.zarr/" and "x.zarr/t2m". Returns nothing if there is no such part.
[[nodiscard]] inline std::optional<std::size_t> store_end(const std::string& path) {
  std::optional<std::size_t> last;
  for (std::size_t first = 0; first < path.size();) {
    const auto end = std::min(path.find('/', first), path.size());
    const auto extension = extension_of(path.substr(first, end - first));
    if (extension == ".zarr" || extension == ".zip") last = end;
    first = end + 1;
  }
  return last;
}

/// Returns the format whose `extension` (with its dot, in lower case) the file `shown` has, or the store that contains
/// it. Throws ValueError for other extensions.
template <class Formats>
[[nodiscard]] const auto& format_by(const Formats& formats, const std::string& extension, const std::string& shown,
                                    const char* op) {
  const auto find = [&](const std::string& wanted) {
    return std::ranges::find(formats, wanted, [](const auto& format) { return format.extension; });
  };
  auto found = find(extension);
  if (found == formats.end() && store_end(shown)) found = find(".zarr");
  if (found != formats.end()) return *found;
  std::vector<std::string_view> known;
  for (const auto& format : formats) known.push_back(format.extension);
  heatpp::detail::raise<ValueError>(op, "got \"{}\" with extension \"{}\"; expected one of {}", shown, extension,
                                    fmt::join(known, ", "));
}

/// Returns the format for a file's name. Throws ValueError for other extensions.
template <class Formats>
[[nodiscard]] const auto& format_of(const Formats& formats, const std::filesystem::path& path, const char* op) {
  return format_by(formats, extension_of(path), path.string(), op);
}

}  // namespace heatpp::io::detail
