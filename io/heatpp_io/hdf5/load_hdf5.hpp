#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/core/slice.hpp>
#include <heatpp_io/source.hpp>

namespace heatpp::io {

/// What to read, and how to store it.
struct LoadOptions {
  std::string dataset = {};                   ///< for load(): which array of a file; empty: the only one
  std::optional<int> split = std::nullopt;    ///< axis to cut evenly; nullopt: every rank holds all
  std::vector<Slice> slices = {};             ///< what to read of the first axes, with positive steps; the rest whole
  std::optional<Dtype> dtype = std::nullopt;  ///< nullopt: as stored; else converted as `astype` does
  Device device = cpu;
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
  std::optional<bool> collective = std::nullopt;    ///< force or forbid collective MPI-IO; nullopt: what is faster
};

/// The dataset of one HDF5 file, or the datasets of many put together along axis 0 in the order given (those of a glob
/// pattern in natural order, part-2 before part-10). An empty dataset name means the only one in the file's root.
///
/// Stored uint16, uint32 and uint64 become the next wider signed integers, enumerations and bit fields the numbers or
/// bool they stand for, long doubles float64; byte orders are converted. Virtual datasets are followed, and
/// a missing file of theirs is an error.
/// Each rank reads its own part only, without a temporary copy of it: from one file all ranks together by MPI-IO where
/// that is as fast, else each on its own; compressed chunks that several ranks need are read by one of them, and their
/// parts exchanged. `io_report()` tells which. Split none: each rank reads a share, which is all-gathered.
/// Collective. Throws on all ranks: IoError for files that are missing, truncated, being written or of another format,
/// and for datasets that are missing or hold no numbers; ValueError for patterns of shards that do not fit together and
/// for bad slices; IndexError for a bad split.
[[nodiscard]] DNDarray load_hdf5(const Source& source, const std::string& dataset, const LoadOptions& options = {});

}  // namespace heatpp::io
