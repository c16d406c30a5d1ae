#pragma once

#include <filesystem>
#include <heatpp/comm/communicator.hpp>
#include <optional>

namespace heatpp::io::detail {

/// The function that asks for names, and the extension of the format.
struct ShardKind {
  const char* op;
  const std::string& extension;
  std::optional<std::int64_t> count = std::nullopt;  ///< number of files; nullopt: one for each rank
};
/// Returns the file name of each rank, or of each part: `path` with "{rank}" replaced, or, if `path` is a directory,
/// "part-{rank}" with the extension in it. Collective. Throws ValueError if `path` is neither, and if there are other
/// shards with the same pattern.
[[nodiscard]] std::vector<std::string> shard_names(const std::filesystem::path& path, const Communicator& comm,
                                                   const ShardKind& kind);

}  // namespace heatpp::io::detail
