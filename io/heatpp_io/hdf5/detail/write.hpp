#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <heatpp/core/layout.hpp>
#include <heatpp_io/detail/elements/save_array.hpp>
#include <heatpp_io/hdf5/detail/dataset.hpp>
#include <heatpp_io/hdf5/detail/shared_access.hpp>
#include <heatpp_io/hdf5/save_hdf5.hpp>

namespace heatpp::io::detail {

/// A new dataset in a file that is being written.
struct WriteJob : SaveJob {
  const std::string& dataset;
  const SaveOptions& options;
  bool replace = false;  ///< in a file that is extended: replace a dataset of this name
};

/// Throws ValueError for options that do not fit an array of this shape. If the file is to be extended, throws IoError
/// if it is unreadable, and ValueError if it has the dataset. Local.
void check_save_options(const Shape& shape, const SaveOptions& options, const char* op);
void check_free_name(const WriteJob& job);
/// Checks a file that is to be extended. Collective: throws on all ranks.
void check_append(const WriteJob& job, const Communicator& comm);

/// Writes `block`, which only this rank has, as the whole dataset. Throws IoError. Local.
void write_alone(const WriteJob& job, const at::Tensor& block);

/// A dataset that all ranks have open.
struct NewDataset {
  const WriteJob& job;
  const Dataset& dataset;
  const Communicator& comm;
};
/// Writes this rank's box of a dataset. Several ranks make equally many calls, unless each transfers independently.
/// Collective. Throws IoError on all ranks.
void write_boxes(const NewDataset& to, const Selection& box, const at::Tensor& block, MpiIo how);

/// Makes the dataset of `job` for an array with `layout`, reserves its space, lets all ranks `write`, and closes it.
/// Collective. Throws IoError on all ranks.
Transfer write_new(const WriteJob& job, const Layout& layout, Dtype dtype, const Communicator& comm,
                   const std::function<Transfer(const Dataset&)>& write);

/// Writes the blocks of all ranks. `layout` must be split, or a grid without copies. Collective. Throws IoError on all
/// ranks.
Transfer write_shared(const WriteJob& job, const Layout& layout, const at::Tensor& block, const Communicator& comm);

/// Writes an array of any layout. Collective. Throws as the functions above.
Transfer write_dataset(const WriteJob& job, const DNDarray& x);

}  // namespace heatpp::io::detail
