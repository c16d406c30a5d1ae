#pragma once

#include <filesystem>
#include <heatpp/comm/communicator.hpp>
#include <optional>

namespace heatpp::io::detail {

/// Who asks for names, and how files of the format end.
struct ShardKind {
  const char* op;
  const std::string& extension;
  std::optional<std::int64_t> count = std::nullopt;  ///< of the files; nullopt: one for each rank
};
/// The file of each rank, or of each part: `path` with "{rank}" replaced, or "part-{rank}" with the extension in it if
/// it is a directory. Collective. Throws ValueError where it is neither, and where there are other shards under the
/// same pattern.
[[nodiscard]] std::vector<std::string> shard_names(const std::filesystem::path& path, const Communicator& comm,
                                                   const ShardKind& kind);

}  // namespace heatpp::io::detail
