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
  bool replace = false;  ///< where the file is extended: a dataset of this name goes
};

/// Throws ValueError for options that do not fit an array of this shape, IoError and ValueError where the file to
/// extend is unreadable or has the dataset. Local.
void check_save_options(const Shape& shape, const SaveOptions& options, const char* op);
void check_free_name(const WriteJob& job);
/// The latter where the file is to be extended. Collective: throws on all ranks.
void check_append(const WriteJob& job, const Communicator& comm);

/// Writes `block`, of which no other rank knows, as the whole dataset. Throws IoError. Local.
void write_alone(const WriteJob& job, const at::Tensor& block);

/// A dataset that all ranks have open.
struct NewDataset {
  const WriteJob& job;
  const Dataset& dataset;
  const Communicator& comm;
};
/// Writes this rank's box of one; of several ranks in equally many calls unless each goes on its own. Collective.
/// Throws IoError on all ranks.
void write_boxes(const NewDataset& to, const Selection& box, const at::Tensor& block, MpiIo how);

/// Makes the dataset of `job` for an array under `layout`, reserves its room, has all ranks `write`, and closes it.
/// Collective. Throws IoError on all ranks.
Transfer write_new(const WriteJob& job, const Layout& layout, Dtype dtype, const Communicator& comm,
                   const std::function<Transfer(const Dataset&)>& write);

/// Writes the blocks of all ranks under `layout`, which must be split. Collective. Throws IoError on all ranks.
Transfer write_shared(const WriteJob& job, const Layout& layout, const at::Tensor& block, const Communicator& comm);

/// Writes an array of any layout. Collective. Throws as these.
Transfer write_dataset(const WriteJob& job, const DNDarray& x);

}  // namespace heatpp::io::detail
