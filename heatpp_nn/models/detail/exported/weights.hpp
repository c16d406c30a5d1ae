#pragma once

#include <heatpp_nn/models/detail/exported/archive.hpp>
#include <heatpp_nn/models/detail/exported/tensor_info.hpp>

#include <map>

namespace heatpp::nn::detail {

/// The tensors in an archive: parameters and persistent buffers are its weights, others its constants. A tensor that
/// Python holds under two names is one tensor here, too.
class ExportedWeights {
 public:
  /// Takes the bytes out of the archive. Throws Malformed with a tensor's name if its bytes are missing, do not fit its
  /// shape, or are a pickle.
  explicit ExportedWeights(ExportedArchive& archive);

  /// Return a tensor by name. Both throw Malformed if there is none.
  [[nodiscard]] const at::Tensor& weight(const std::string& name) const;
  [[nodiscard]] const at::Tensor& constant(const std::string& name) const;
  /// Returns shape and dtype of a weight in the archive, by name.
  [[nodiscard]] const TensorInfo& info(const std::string& name) const;
  /// Writes the current values to an archive.
  void store(ExportedArchive& archive) const;

 private:
  struct Stored {
    std::string path;
    TensorInfo info;
    at::Tensor tensor;
  };
  using Table = std::map<std::string, Stored>;
  struct Reading;
  [[nodiscard]] static Table read(Reading& reading, const std::string& folder, const std::string& config);

  Table weights_, constants_;
  std::map<std::string, std::int64_t> bytes_;  // of storages, by path
};

}  // namespace heatpp::nn::detail
