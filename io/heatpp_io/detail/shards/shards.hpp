#pragma once

#include <functional>
#include <heatpp/comm/communicator.hpp>
#include <heatpp_io/detail/elements/dataset_info.hpp>

namespace heatpp::io::detail {

/// Arrays of several files that form one array along axis 0.
struct Shards {
  std::vector<std::string> paths;
  std::string name;                   ///< name of the array in each file; empty if a file has only one
  std::vector<std::int64_t> offsets;  ///< first row of each file, and the number of all rows
  DatasetInfo info;                   ///< describes the whole array; its storage is that of the first shard
  bool alike = true;                  ///< whether the attributes of all files decode equally

  [[nodiscard]] std::int64_t count() const { return std::ssize(paths); }
};

/// Returns shape and dtype, for errors.
[[nodiscard]] std::string text_of(const DatasetInfo& info);

/// Describes the array of a file. Throws IoError if that fails, NoSuchArray if a valid file does not have it.
using Describe = std::function<DatasetInfo(const std::string& path)>;

/// Inspects all shards. Rank 0 looks at a single file, and broadcasts what it saw: collective, one broadcast. Each rank
/// looks at its share of a set, in which files that do not have the array contribute no rows, which is logged:
/// collective, an all-gather of 8 bytes for each file. Throws IoError if a file cannot be read or none has the array,
/// ValueError if shapes or dtypes do not fit.
struct ShardNames {
  std::vector<std::string> paths;
  std::string name;
};
[[nodiscard]] Shards inspect(ShardNames names, const Describe& describe, const Communicator& comm, const char* op);

}  // namespace heatpp::io::detail
