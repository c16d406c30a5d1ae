#pragma once

#include <heatpp_nn/models/detail/exported/graph/graph.hpp>
#include <heatpp_nn/models/detail/exported/inputs.hpp>
#include <heatpp_nn/models/detail/exported/parts.hpp>
#include <heatpp_nn/models/detail/exported/signature.hpp>
#include <heatpp_nn/models/detail/exported/weights.hpp>

#include <memory>
#include <optional>
#include <variant>

namespace heatpp::nn::detail {

/// A `.pt2` of torch.export.save. Its parameters, buffers and parts are added to a module, which must outlive it.
class ExportedProgram {
 public:
  /// Throws Malformed if the archive is no valid program.
  ExportedProgram(ExportedArchive archive, torch::nn::Module& module);

  [[nodiscard]] const Signature& signature() const { return signature_; }
  [[nodiscard]] const std::vector<std::string>& not_persistent() const { return not_persistent_; }
  /// Returns the outputs of the network; numbers are tensors without axes. Throws ValueError for sizes that do not fit
  /// the export.
  [[nodiscard]] std::vector<at::Tensor> run(const std::vector<at::Tensor>& inputs) const;
  /// Returns the archive with the current weights.
  [[nodiscard]] std::string bytes() const;

 private:
  /// A tensor to which the graph writes new values.
  struct Written {
    std::size_t output = 0;
    std::variant<at::Tensor, std::size_t> to = {};  // a tensor of the module, or the number of an input
    const torch::nn::Module* counted_in = nullptr;  // for a count of batches, which training keeps
  };
  void take_weights(Parts& parts, const nlohmann::json& graph);
  void build(Parts& parts, const nlohmann::json& graph);
  [[nodiscard]] at::Tensor written_tensor(const GraphOutput& output) const;
  void find_written(const Parts& parts);
  [[nodiscard]] std::vector<c10::IValue> graph_inputs(const std::vector<at::Tensor>& inputs) const;
  void write_back(const std::vector<c10::IValue>& values, const std::vector<at::Tensor>& inputs) const;
  [[nodiscard]] at::Device device(const std::vector<at::Tensor>& inputs) const;

  ExportedArchive archive_;
  ExportedWeights weights_;
  Signature signature_ = {};
  std::vector<NamedInfo> inputs_ = {};  // the network's tensors
  std::vector<at::Tensor> held_ = {};   // for the graph's inputs; undefined if the caller gives them
  std::vector<Written> written_ = {};
  std::vector<std::string> not_persistent_ = {};
  std::optional<Graph> graph_ = std::nullopt;
};

/// Reads a program. Throws IoError with the path if the bytes are no program.
[[nodiscard]] std::unique_ptr<ExportedProgram> program_of(const std::string& bytes, const std::string& path,
                                                          torch::nn::Module& module);

/// Calls `read` and turns its errors about a file's contents into an IoError with the path.
void in_file(const std::string& path, const std::function<void()>& read);

/// Returns the JSON of the program. Throws Malformed for another version of its schema.
[[nodiscard]] nlohmann::json json_of(const ExportedArchive& archive);

}  // namespace heatpp::nn::detail
