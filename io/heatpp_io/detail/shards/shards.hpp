#pragma once

#include <functional>
#include <heatpp/comm/communicator.hpp>
#include <heatpp_io/detail/elements/dataset_info.hpp>

namespace heatpp::io::detail {

/// Arrays of many files that form one array along axis 0.
struct Shards {
  std::vector<std::string> paths;
  std::string name;                   ///< of the array in each file; empty where a file has but one
  std::vector<std::int64_t> offsets;  ///< first row of each, and the number of rows in all
  DatasetInfo info;                   ///< of the whole; storage is the first shard's
  bool alike = true;                  ///< whether the attributes of all say the same of their numbers

  [[nodiscard]] std::int64_t count() const { return std::ssize(paths); }
};

/// Tells what the array of a file is. Throws IoError where it cannot, NoSuchArray where a sound file has none.
using Describe = std::function<DatasetInfo(const std::string& path)>;

/// Looks into all shards, each rank into its part of them (into a single file: all ranks). Collective: one all-gather.
/// Files of many that have no such array have no rows of it, which the log says. Throws IoError where one cannot be
/// read or none has the array, ValueError where shapes or dtypes do not fit.
struct ShardNames {
  std::vector<std::string> paths;
  std::string name;
};
[[nodiscard]] Shards inspect(ShardNames names, const Describe& describe, const Communicator& comm, const char* op);

}  // namespace heatpp::io::detail
