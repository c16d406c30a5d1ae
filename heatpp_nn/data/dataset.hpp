#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp/core/dndarray.hpp>
#include <heatpp_io/source.hpp>
#include <heatpp_nn/data/batch.hpp>

namespace heatpp::nn {

namespace detail {
class Samples;
}

/// The place of a dataset's arrays in HDF5 files, and how much of them is read at a time.
struct Hdf5DatasetOptions {
  Names inputs = "inputs";  ///< names of the datasets in each file: one, or several in braces
  Names targets = "targets";
  std::optional<Dtype> dtype = std::nullopt;  ///< dtype of the inputs; nullopt: as stored
  /// Bytes that each rank reads at once. A rank holds at most three times this.
  std::int64_t window_bytes = std::int64_t{64} << 20;
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
};

/// Options of a Dataset in memory.
struct DatasetOptions {
  std::int64_t window_bytes = std::int64_t{64} << 20;  ///< fetched at once by each rank if rows come from other ranks
};

/// An array of a dataset, and its name in batches.
struct NamedArray {
  std::string name;
  DNDarray array;
};

/// Arrays with the same number of rows: the inputs of a network and its targets, one or several of each. It is a
/// handle.
class Dataset {
 public:
  /// Uses arrays in memory. Arrays that are not split along axis 0 as the first one that is are recut. Throws
  /// ValueError on all ranks if they have different numbers of rows.
  Dataset(const DNDarray& inputs, const DNDarray& targets, const DatasetOptions& options = {});
  /// Uses samples of several fields: `Dataset({{"velocity", u}, {"forcing", f}}, {{"pressure", p}})`. Also throws if
  /// there is no input or no target.
  Dataset(const std::vector<NamedArray>& inputs, const std::vector<NamedArray>& targets,
          const DatasetOptions& options = {});
  /// Uses arrays that stay in their files, in any number of files (`<heatpp_io/hdf5/stored_rows.hpp>`); ranks share the
  /// rows evenly. Collective. Throws as io::load_hdf5, and ValueError if the numbers of rows differ.
  [[nodiscard]] static Dataset from_hdf5(const io::Source& source, const Hdf5DatasetOptions& options = {});
  explicit Dataset(std::shared_ptr<const detail::Samples> samples) : samples_(std::move(samples)) {}

  /// Returns the number of rows on all ranks.
  [[nodiscard]] std::int64_t size() const;
  /// Returns which rank has which rows, for loaders that do not move them.
  [[nodiscard]] const Layout& layout() const;
  [[nodiscard]] const Communicator& comm() const;
  /// Whether a rank can read every row without the others.
  [[nodiscard]] bool is_stored() const;
  /// Returns the rows with these numbers (int64), in this order: any rows of stored datasets, otherwise rows that this
  /// rank has. Local. Throws IndexError, and IoError.
  [[nodiscard]] Batch rows(const at::Tensor& numbers) const;
  /// Returns the names of the fields; two arrays without names are "inputs" and "targets".
  [[nodiscard]] const FieldNames& names() const;
  /// Returns the first input and the first target of a dataset in memory. Throws ValueError for a stored one. Local.
  [[nodiscard]] const DNDarray& inputs() const;
  [[nodiscard]] const DNDarray& targets() const;
  /// Returns all arrays, inputs before targets. Throws as `inputs`.
  [[nodiscard]] const std::vector<DNDarray>& arrays() const;

  /// Returns the dataset on the ranks that are left after others have ended (`continue_without_lost`). Rows in files
  /// are shared out again; of arrays in memory only the rows of these ranks remain, each on its rank. Collective over
  /// `comm`: for arrays an allgather of a number.
  [[nodiscard]] Dataset on_remaining(const Communicator& comm) const;

  [[nodiscard]] const detail::Samples& samples() const { return *samples_; }

 private:
  std::shared_ptr<const detail::Samples> samples_;
};

struct SplitOptions {
  double validation = 0.2;  ///< share of the rows, rounded to a whole number of rows
  std::uint64_t seed = 0;
};

struct TrainValidation {
  Dataset training, validation;
};

/// Splits a dataset into two disjoint parts. Which rows are in which part depends only on seed and share, so it is
/// equal for other ranks and other files. Arrays in memory are copied, and rows stay on their ranks; parts of stored
/// datasets are in random order. Collective. Throws ValueError if the share is not between 0 and 1.
[[nodiscard]] TrainValidation train_validation_split(const Dataset& dataset, const SplitOptions& options = {});

}  // namespace heatpp::nn
