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

/// A `.pt2` of torch.export.save, whose parameters, buffers and parts are put into a module, which has to outlive it.
class ExportedProgram {
 public:
  /// Throws Malformed.
  ExportedProgram(ExportedArchive archive, torch::nn::Module& module);

  [[nodiscard]] const Signature& signature() const { return signature_; }
  [[nodiscard]] const std::vector<std::string>& not_persistent() const { return not_persistent_; }
  /// What the network gives for tensors. Throws ValueError for other sizes than it was exported for.
  [[nodiscard]] std::vector<at::Tensor> run(const std::vector<at::Tensor>& inputs) const;
  /// The archive with the weights as they are.
  [[nodiscard]] std::string bytes() const;

 private:
  /// A tensor that the graph gives new values of.
  struct Written {
    std::size_t output = 0;
    std::variant<at::Tensor, std::size_t> to = {};  // of the module, or of the inputs
    const torch::nn::Module* counted_in = nullptr;  // of a count of batches, which is kept in training
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
  std::vector<at::Tensor> held_ = {};   // by the graph's inputs; undefined where the caller gives them
  std::vector<Written> written_ = {};
  std::vector<std::string> not_persistent_ = {};
  std::optional<Graph> graph_ = std::nullopt;
};

/// Throws IoError with the path where the bytes are no program.
[[nodiscard]] std::unique_ptr<ExportedProgram> program_of(const std::string& bytes, const std::string& path,
                                                          torch::nn::Module& module);

/// Makes an IoError with the path of what `read` throws of a file's contents.
void in_file(const std::string& path, const std::function<void()>& read);

/// The JSON of the program. Throws Malformed for another version of its schema.
[[nodiscard]] nlohmann::json json_of(const ExportedArchive& archive);

}  // namespace heatpp::nn::detail
