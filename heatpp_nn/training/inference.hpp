#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp_io/source.hpp>
#include <heatpp_nn/data/dataset.hpp>
#include <heatpp_nn/parallel/data_parallel.hpp>

#include <filesystem>
#include <functional>
#include <map>

namespace heatpp::nn {

/// The mean loss of some rows, a tensor of one number that gradients are taken of.
using Loss = std::function<at::Tensor(const at::Tensor& outputs, const at::Tensor& targets)>;
/// A mean over some rows that is no more than looked at, such as `accuracy`.
using Metric = std::function<double(const at::Tensor& outputs, const at::Tensor& targets)>;
using Metrics = std::map<std::string, Metric>;

/// What a network is worth on a dataset.
struct Evaluation {
  std::int64_t rows = 0;                       ///< on all ranks
  double loss = 0;                             ///< the mean over them
  std::map<std::string, double> metrics = {};  ///< likewise
};

/// A replica of any type, to be applied to batches.
class Network {
 public:
  template <class Net>
  explicit Network(detail::TypedReplica<Net>& model)
      : replica_(&model), forward_([&model](const at::Tensor& inputs) { return model(inputs); }) {}

  [[nodiscard]] Replica& replica() const { return *replica_; }
  /// The module's forward, of inputs on any device.
  [[nodiscard]] at::Tensor operator()(const at::Tensor& inputs) const { return forward_(inputs.to(device())); }
  [[nodiscard]] at::Device device() const;

 private:
  Replica* replica_;
  std::function<at::Tensor(const at::Tensor&)> forward_;
};

/// How evaluate and predict go through rows.
struct InferenceOptions {
  std::int64_t batch_size = 256;  ///< rows of each rank that are computed at once
};

/// Mean loss and metrics over all rows of a dataset, without gradients and with the module in eval mode, which is as
/// before afterwards. Ranks go through their own rows. With DASO, `drain()` first, or each node judges with its own
/// weights. Collective: an all-reduce of two numbers for the loss and each metric. Errors as DataLoader.
[[nodiscard]] Evaluation evaluate(const Network& network, const Dataset& dataset, const Loss& loss,
                                  const Metrics& metrics = {}, const InferenceOptions& options = {});

/// The network's outputs for the rows of `x`, cut as `x`, which is cut anew where it is not split along axis 0 or not
/// at all. In eval mode, without gradients. Local but for that. A network that throws on one rank throws on all.
[[nodiscard]] DNDarray predict(const Network& network, const DNDarray& x, const InferenceOptions& options = {});

/// Where predict_hdf5 reads and writes.
struct PredictHdf5Options {
  std::string inputs = "inputs";    ///< name of the dataset in each file
  std::string outputs = "outputs";  ///< name of the one that is written
  InferenceOptions inference = {};
};
/// The same for an array in HDF5 files that need not fit into memory: each rank reads its part of the rows, some at a
/// time. Outputs are kept in memory until the last one and then written to one file, by all ranks together. Collective.
/// Errors as io::load_hdf5 and io::save_hdf5.
void predict_hdf5(const Network& network, const io::Source& from, const std::filesystem::path& to,
                  const PredictHdf5Options& options = {});

}  // namespace heatpp::nn
