#pragma once

#include <fmt/ranges.h>
#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace heatpp::io::detail {

/// That of the formats, which have an `extension` with its dot in lower case, which a file's name asks for. Throws
/// ValueError for others.
template <class Formats>
[[nodiscard]] const auto& format_of(const Formats& formats, const std::filesystem::path& path, const char* op) {
  auto extension = path.extension().string();
  std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto found = std::ranges::find(formats, extension, [](const auto& format) { return format.extension; });
  if (found != formats.end()) return *found;
  std::vector<std::string_view> known;
  for (const auto& format : formats) known.push_back(format.extension);
  heatpp::detail::raise<ValueError>(op, "got \"{}\" with extension \"{}\"; expected one of {}", path.string(),
                                    extension, fmt::join(known, ", "));
}

}  // namespace heatpp::io::detail
