#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp/core/dndarray.hpp>
#include <heatpp_io/source.hpp>
#include <heatpp_nn/data/batch.hpp>

namespace heatpp::nn {

namespace detail {
class Samples;
}

/// Where a dataset's arrays lie in HDF5 files, and how much of them is read at a time.
struct Hdf5DatasetOptions {
  Names inputs = "inputs";  ///< names of the datasets in each file: one, or several in braces
  Names targets = "targets";
  std::optional<Dtype> dtype = std::nullopt;  ///< of the inputs; nullopt: as stored
  std::int64_t window_bytes = std::int64_t{64}
                              << 20;                ///< read at once by each rank; at most three times as much is held
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
};

/// Options of a Dataset in memory.
struct DatasetOptions {
  std::int64_t window_bytes = std::int64_t{64} << 20;  ///< fetched at once by each rank where rows leave their ranks
};

/// An array of a dataset, under the name by which batches have it.
struct NamedArray {
  std::string name;
  DNDarray array;
};

/// Arrays with equally many rows: what goes into a network, and what should come out; one of both, or several. A
/// handle.
class Dataset {
 public:
  /// Arrays in memory. What is not cut along axis 0, as the first that is, moves there. Throws ValueError on all ranks
  /// where they have not equally many rows.
  Dataset(const DNDarray& inputs, const DNDarray& targets, const DatasetOptions& options = {});
  /// Samples of several fields: `Dataset({{"velocity", u}, {"forcing", f}}, {{"pressure", p}})`. Throws also where
  /// there is no input or no target.
  Dataset(const std::vector<NamedArray>& inputs, const std::vector<NamedArray>& targets,
          const DatasetOptions& options = {});
  /// Arrays that stay in their files, as many as they are (`<heatpp_io/hdf5/stored_rows.hpp>`); ranks share the rows
  /// evenly. Collective. Errors as io::load_hdf5, and ValueError where the numbers of rows differ.
  [[nodiscard]] static Dataset from_hdf5(const io::Source& source, const Hdf5DatasetOptions& options = {});
  explicit Dataset(std::shared_ptr<const detail::Samples> samples) : samples_(std::move(samples)) {}

  /// Rows on all ranks.
  [[nodiscard]] std::int64_t size() const;
  /// Which rank has which rows, for loaders that let them stay there.
  [[nodiscard]] const Layout& layout() const;
  [[nodiscard]] const Communicator& comm() const;
  /// Whether a rank can read every row on its own.
  [[nodiscard]] bool is_stored() const;
  /// The rows with these numbers (int64), in this order: any rows of stored datasets, else those that this rank has.
  /// Local. Throws IndexError, and IoError.
  [[nodiscard]] Batch rows(const at::Tensor& numbers) const;
  /// What its samples consist of; two arrays without names are "inputs" and "targets".
  [[nodiscard]] const FieldNames& names() const;
  /// The first input and the first target of a dataset in memory. Throws ValueError for a stored one. Local.
  [[nodiscard]] const DNDarray& inputs() const;
  [[nodiscard]] const DNDarray& targets() const;
  /// All of them, inputs before targets. Throws the same.
  [[nodiscard]] const std::vector<DNDarray>& arrays() const;

  [[nodiscard]] const detail::Samples& samples() const { return *samples_; }

 private:
  std::shared_ptr<const detail::Samples> samples_;
};

struct SplitOptions {
  double validation = 0.2;  ///< share of the rows, rounded to a whole number of them
  std::uint64_t seed = 0;
};

struct TrainValidation {
  Dataset training, validation;
};

/// Two disjoint parts of a dataset. Which rows are in which depends on seed and share only, so a run on other ranks or
/// from other files has the same ones. Arrays in memory are copied, and rows stay on their ranks; parts of stored ones
/// are in random order. Collective. Throws ValueError for a share that is not between 0 and 1.
[[nodiscard]] TrainValidation train_validation_split(const Dataset& dataset, const SplitOptions& options = {});

}  // namespace heatpp::nn
