#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp_io/detail/dataset.hpp>
#include <vector>

namespace heatpp::io::detail {

/// Datasets of many files that form one array along axis 0.
struct Shards {
  std::vector<std::string> paths;
  std::string name;
  std::vector<std::int64_t> offsets;  ///< first row of each, and the number of rows in all
  DatasetInfo info;                   ///< of the whole; storage is the first shard's

  [[nodiscard]] std::int64_t count() const { return std::ssize(paths); }
};

/// Looks into all shards, each rank into its part of them (into a single file: all ranks). Collective: one all-gather.
/// Throws IoError where one cannot be read, ValueError where shapes or dtypes do not fit.
[[nodiscard]] Shards inspect(std::vector<std::string> paths, const std::string& name, const Communicator& comm,
                             const char* op);

}  // namespace heatpp::io::detail
