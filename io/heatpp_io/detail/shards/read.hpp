#pragma once

#include <heatpp_io/detail/elements/record.hpp>
#include <heatpp_io/detail/shards/shard_reader.hpp>
#include <heatpp_io/detail/shards/strategy.hpp>
#include <heatpp_io/hdf5/load_hdf5.hpp>

namespace heatpp::io::detail {

/// What is read.
struct ReadJob {
  const char* op;
  const Shards& shards;
  const Selection& box;
  const Communicator& comm;
  OpenShard open;
  std::optional<bool> collective = false;  ///< forces or forbids MPI-IO
  /// Reads this rank's `block` under a layout, all ranks together by MPI-IO; for formats that can.
  std::function<void(const ReadJob&, const Layout&, const at::Tensor& block)> together = {};
  bool of_hdf5 = false;  ///< whether the options that HDF5 alone has mean anything
};

/// Throws ValueError naming `op` for options that HDF5 alone has. Local.
void check_no_records(const char* op, const LoadOptions& options);

/// This rank's part of the box.
[[nodiscard]] Selection own_box(const ReadJob& job, const Layout& layout);

/// The array that the box is, as the options want it: each rank reads its block, or a share of what it exchanges with
/// the others. Collective. Throws on all ranks.
[[nodiscard]] DNDarray load_array(const ReadJob& job, const LoadOptions& options, const Recorder& recorder);

}  // namespace heatpp::io::detail
