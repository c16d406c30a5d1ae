#pragma once

#include <heatpp_io/detail/elements/selection.hpp>
#include <heatpp_io/hdf5/detail/element_type.hpp>
#include <string>
#include <vector>

namespace heatpp::io::detail {

/// An open dataset, and the file it is in.
struct Dataset {
  Handle file;
  Handle id;
  Handle memory;  ///< the type of its elements in memory
  DatasetInfo info;
};

/// How this rank opens files on its own, or all ranks of a communicator together.
[[nodiscard]] Handle local_access();

/// Opens a dataset for reading. Throws IoError naming `op` where the file is missing, no HDF5, truncated or being
/// written, where it has no such dataset, and where that holds no numbers. An empty name means the only dataset of the
/// file's root.
[[nodiscard]] Dataset open_dataset(const std::string& path, const std::string& name, const char* op,
                                   const Handle& access = local_access());
/// The same, to be written to.
[[nodiscard]] Dataset open_to_write(const std::string& path, const std::string& name, const char* op,
                                    const Handle& access);

/// The same as open_dataset; nothing where the file has no dataset of that name.
[[nodiscard]] std::optional<Dataset> find_dataset(const std::string& path, const std::string& name, const char* op);

/// The paths of all datasets of a file, in groups as well, in the order of their names. Throws IoError as open_dataset.
[[nodiscard]] std::vector<std::string> dataset_names(const std::string& path, const char* op);

}  // namespace heatpp::io::detail
