#pragma once

#include <heatpp_io/detail/record.hpp>
#include <heatpp_io/detail/shard_reader.hpp>
#include <heatpp_io/detail/strategy.hpp>

namespace heatpp::io::detail {

/// What is read, and into which blocks.
struct ReadJob {
  const char* op;
  const Shards& shards;
  const Selection& box;
  const Communicator& comm;
  std::optional<bool> collective;  ///< forces or forbids MPI-IO
};

/// Reads the box into this rank's contiguous `block` under `layout`. Collective. Throws IoError on all ranks.
Transfer read(const ReadJob& job, const Layout& layout, const at::Tensor& block);

}  // namespace heatpp::io::detail
