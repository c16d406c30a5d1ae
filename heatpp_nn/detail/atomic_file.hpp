#pragma once

#include <string>
#include <string_view>

namespace heatpp::nn::detail {

/// Writes a file so that a reader finds all of the old one or all of the new one, also after a crash: aside, flushed to
/// the disk, then renamed. Throws IoError naming `op`; the old file is then untouched. Local.
void write_atomically(std::string_view op, const std::string& path, std::string_view data);

/// All of a file. Throws IoError naming `op`. Local.
[[nodiscard]] std::string read_file(std::string_view op, const std::string& path);

}  // namespace heatpp::nn::detail
