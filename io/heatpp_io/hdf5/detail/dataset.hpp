#pragma once

#include <heatpp_io/detail/elements/selection.hpp>
#include <heatpp_io/hdf5/detail/elements/constant.hpp>
#include <heatpp_io/hdf5/load_hdf5.hpp>
#include <string>
#include <vector>

namespace heatpp::io::detail {

/// An open dataset, and its file.
struct Dataset {
  Handle file;
  Handle id;
  Handle memory;  ///< type of its elements in memory
  DatasetInfo info;
  Shape inner = {};                                   ///< the last axes, which are within each of HDF5's elements
  std::optional<OneElement> constant = std::nullopt;  ///< value of all elements, if a group stands for them
};

/// Names an array in a file.
struct Wanted {
  std::string dataset;     ///< empty: the only one in the file's root
  std::string field = {};  ///< field of records; may also follow the dataset: "events/lon"
  MissingSources missing_sources = MissingSources::error;
};

/// Access properties for files that this rank opens alone, or that all ranks of a communicator open together.
[[nodiscard]] Handle local_access();

/// Opens a dataset for reading, or a group that stands for one: a constant of openPMD, or an element of H5MD, whose
/// array has the name `value`. Throws IoError naming `op` if the file is missing, is not HDF5, is truncated or is being
/// written, if it has no such dataset (NoSuchArray), and if the dataset does not hold numbers.
[[nodiscard]] Dataset open_dataset(const std::string& path, const Wanted& wanted, const char* op,
                                   const Handle& access = local_access());
/// Opens a dataset for writing.
[[nodiscard]] Dataset open_to_write(const std::string& path, const std::string& name, const char* op,
                                    const Handle& access);

/// Works as open_dataset; returns nothing if the file has no dataset of that name.
[[nodiscard]] std::optional<Dataset> find_dataset(const std::string& path, const std::string& name, const char* op);

/// Returns the paths of all datasets of a file, including those in groups, and of groups that stand for datasets,
/// sorted by name. Throws IoError as open_dataset.
[[nodiscard]] std::vector<std::string> dataset_names(const std::string& path, const char* op);

}  // namespace heatpp::io::detail
