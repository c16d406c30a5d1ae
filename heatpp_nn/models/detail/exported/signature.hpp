#pragma once

#include <heatpp_nn/models/detail/exported/tensor_info.hpp>

#include <map>
#include <optional>

namespace heatpp::nn::detail {

/// The role of an input of an exported graph.
struct GraphInput {
  enum class Kind { parameter, buffer, constant, tensor, value };
  Kind kind = Kind::tensor;
  std::string name;         ///< in the graph; for a `value`, which no node uses, of the argument
  std::string target = {};  ///< the name of a parameter or buffer in the module
  bool persistent = true;   ///< for a buffer
};
/// The role of an output of an exported graph.
struct GraphOutput {
  enum class Kind { tensor, number, none, buffer, parameter, input };
  Kind kind = Kind::tensor;  ///< the last three are written to `target`
  std::string name;
  std::string target = {};
  at::ScalarType dtype = at::kFloat;  ///< of a number

  [[nodiscard]] bool is_returned() const { return kind == Kind::tensor || kind == Kind::number; }
};
/// A parameter of the network's `forward` that takes tensors.
struct ForwardParameter {
  std::string name;
  std::vector<std::size_t> inputs = {};  ///< numbers of the network's tensors, in the order of the graph
  std::vector<std::string> names = {};   ///< keys of a dict, positions of lists and tuples; "" for a single tensor
  bool is_single = true, is_dict = false;
};
/// The range of the values of a symbol or an expression.
struct ExportedRange {
  std::optional<std::int64_t> low = std::nullopt, high = std::nullopt;
};
/// Returns a text such as "s77 from 1 to any".
[[nodiscard]] std::string to_text(const std::string& name, const ExportedRange& range);

/// The relation between the graph of an exported program and the network's `forward`.
struct Signature {
  std::vector<GraphInput> inputs;
  std::vector<GraphOutput> outputs;
  std::vector<ForwardParameter> parameters;
  std::vector<std::string> output_names;  ///< of tensors and numbers: "mean", "heads.0"; "" for a single one
  bool gives_dict = false;
  std::vector<std::string> parts;               ///< modules that were called
  std::map<std::string, ExportedRange> ranges;  ///< by to_text(Expression)
};

/// Reads the signature from models/model.json. Throws Malformed.
[[nodiscard]] Signature signature_of(const nlohmann::json& program);

}  // namespace heatpp::nn::detail
