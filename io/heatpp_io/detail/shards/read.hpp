#pragma once

#include <heatpp_io/detail/elements/record.hpp>
#include <heatpp_io/detail/shards/shard_reader.hpp>
#include <heatpp_io/detail/shards/strategy.hpp>
#include <heatpp_io/hdf5/load_hdf5.hpp>

namespace heatpp::io::detail {

/// Describes an array that is read.
struct ReadJob {
  const char* op;
  const Shards& shards;
  const Selection& box;
  const Communicator& comm;
  OpenShard open;
  std::optional<bool> collective = false;  ///< forces or forbids MPI-IO
  /// Reads this rank's `block` under a layout, with all ranks together through MPI-IO; for formats that support it.
  std::function<void(const ReadJob&, const Layout&, const at::Tensor& block)> together = {};
  bool of_hdf5 = false;  ///< whether options that only HDF5 has apply
};

/// Throws ValueError naming `op` for options that only HDF5 has. Local.
void check_no_records(const char* op, const LoadOptions& options);

/// Returns this rank's part of the box.
[[nodiscard]] Selection own_box(const ReadJob& job, const Layout& layout);

/// Returns the box as an array with the given options. Each rank reads its block, or reads a share that the ranks
/// exchange. Collective. Throws on all ranks.
[[nodiscard]] DNDarray load_array(const ReadJob& job, const LoadOptions& options, const Recorder& recorder);

}  // namespace heatpp::io::detail
