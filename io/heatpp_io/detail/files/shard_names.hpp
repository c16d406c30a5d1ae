#pragma once

#include <filesystem>
#include <heatpp/comm/communicator.hpp>

namespace heatpp::io::detail {

/// Who asks for names, and how files of the format end.
struct ShardKind {
  const char* op;
  const std::string& extension;
};
/// The file of each rank: `path` with "{rank}" replaced, or "part-{rank}" with the extension in it if it is a
/// directory. Collective. Throws ValueError where it is neither, and where there are shards of other ranks under the
/// same pattern.
[[nodiscard]] std::vector<std::string> shard_names(const std::filesystem::path& path, const Communicator& comm,
                                                   const ShardKind& kind);

}  // namespace heatpp::io::detail
