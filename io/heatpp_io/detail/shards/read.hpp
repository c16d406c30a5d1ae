#pragma once

#include <heatpp_io/detail/elements/record.hpp>
#include <heatpp_io/detail/shards/shard_reader.hpp>
#include <heatpp_io/detail/shards/strategy.hpp>
#include <heatpp_io/hdf5/load_hdf5.hpp>
#include <heatpp_io/source.hpp>

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
};

/// Throws ValueError naming `op` for the name of an array, in a format whose files have one array. Local.
void check_no_dataset(const char* op, const LoadOptions& options);
/// Throws ValueError naming `op` for options that only HDF5 has. Local.
void check_no_records(const char* op, const LoadOptions& options);

/// Returns this rank's part of the box.
[[nodiscard]] Selection own_box(const ReadJob& job, const Layout& layout);

/// Gives each rank its block under `layout` of `whole`, which rank 0 holds. Collective: a broadcast, or a scatter of
/// blocks of 4 KiB and more.
void send_from_first(const at::Tensor& whole, const Layout& layout, const at::Tensor& block, const Communicator& comm);

/// The files of one format that are loaded as an array.
struct FilesToLoad {
  const char* op;
  const Source& source;
  std::string name;  ///< name of the array in each file
  OpenShard open;
  std::string in_directories = {};  ///< extension of the files for which a directory stands
  std::optional<bool> collective = false;
  std::function<void(const ReadJob&, const Layout&, const at::Tensor& block)> together = {};  ///< as in ReadJob
  bool of_hdf5 = false;   ///< whether options that only HDF5 has apply
  bool has_names = true;  ///< false: a file has one array, without a name
};

/// Loads the array of the files: ranks agree on the source and the options by 24 bytes, rank 0 finds the files and
/// looks at them, as `inspect` says, and load_array reads. Collective. Throws on all ranks.
[[nodiscard]] DNDarray load_files(const FilesToLoad& files, const LoadOptions& options, const Recorder& recorder);

/// Returns the box as an array with the given options. Rank 0 reads small data (is_read_by_first) and sends them; of
/// others each rank reads its block, or a share that the ranks exchange. Only ranks that read open a file. Collective.
/// Throws on all ranks.
[[nodiscard]] DNDarray load_array(const ReadJob& job, const LoadOptions& options, const Recorder& recorder);

}  // namespace heatpp::io::detail
