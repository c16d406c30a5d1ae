#pragma once

#include <heatpp_io/detail/elements/selection.hpp>
#include <heatpp_io/hdf5/detail/elements/constant.hpp>
#include <heatpp_io/hdf5/load_hdf5.hpp>
#include <string>
#include <vector>

namespace heatpp::io::detail {

/// An open dataset, and the file it is in.
struct Dataset {
  Handle file;
  Handle id;
  Handle memory;  ///< the type of its elements in memory
  DatasetInfo info;
  Shape inner = {};                                   ///< the last axes, which lie in each of HDF5's elements
  std::optional<OneElement> constant = std::nullopt;  ///< what all elements are, of a group that stands for them
};

/// An array in a file.
struct Wanted {
  std::string dataset;     ///< empty: the only one of the file's root
  std::string field = {};  ///< of records; or behind the name of the dataset, "events/lon"
  MissingSources missing_sources = MissingSources::error;
};

/// How this rank opens files on its own, or all ranks of a communicator together.
[[nodiscard]] Handle local_access();

/// Opens a dataset for reading, or what stands for one: a group of openPMD that is constant, or one of H5MD, whose
/// array is called `value`. Throws IoError naming `op` where the file is missing, no HDF5, truncated or being written,
/// where it has no such dataset (NoSuchArray), and where that holds no numbers.
[[nodiscard]] Dataset open_dataset(const std::string& path, const Wanted& wanted, const char* op,
                                   const Handle& access = local_access());
/// The same, to be written to.
[[nodiscard]] Dataset open_to_write(const std::string& path, const std::string& name, const char* op,
                                    const Handle& access);

/// The same as open_dataset; nothing where the file has no dataset of that name.
[[nodiscard]] std::optional<Dataset> find_dataset(const std::string& path, const std::string& name, const char* op);

/// The paths of all datasets of a file, in groups as well, and of what stands for one, in the order of their names.
/// Throws IoError as open_dataset.
[[nodiscard]] std::vector<std::string> dataset_names(const std::string& path, const char* op);

}  // namespace heatpp::io::detail
