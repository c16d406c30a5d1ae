#include <heatpp_nn/models/detail/exported/program.hpp>

#include <heatpp/comm/error.hpp>
#include <heatpp_nn/detail/first_line.hpp>
#include <heatpp_nn/models/detail/exported/graph/builder.hpp>
#include <heatpp_nn/models/detail/exported/graph/counters.hpp>
#include <heatpp_nn/models/detail/exported/malformed.hpp>

#include <ATen/ATen.h>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace heatpp::nn::detail {

using heatpp::detail::raise;
using nlohmann::json;

namespace {

constexpr std::int64_t known_schema = 8;  // torch 2.8 to 2.15, which add fields
constexpr std::string_view count_ending = ".num_batches_tracked";

const json& graph_in(const json& program) {
  return member(member(program, "graph_module", "the program"), "graph", "the program");
}

TensorInfo info_of(const json& graph, const std::string& name) {
  const auto& values = member(graph, "tensor_values", "the graph");
  return tensor_info(member(values, name.c_str(), "the graph's tensor_values"), "the tensor \"" + name + "\"");
}

/// Throws Malformed for weights of another shape or dtype than in the graph, which would fail much later.
void check_weight(const at::Tensor& tensor, const std::string& name, const TensorInfo& info) {
  const auto sizes = numbers_of(info.sizes, "the tensor \"" + name + "\"");
  if (tensor.sizes() != at::IntArrayRef(sizes) || tensor.scalar_type() != info.dtype)
    malformed("\"{}\" of shape {} and {}, where the graph has {} and {}", name,
              heatpp::detail::tuple_text(tensor.sizes()), at::toString(tensor.scalar_type()), to_text(info.sizes),
              at::toString(info.dtype));
}

/// Throws Malformed unless the graph and its signature list the same inputs.
void check_names(const json& graph, const Signature& signature) {
  const auto& inputs = list_of(member(graph, "inputs", "the graph"), "the inputs of the graph");
  if (inputs.size() != signature.inputs.size())
    malformed("a graph of {} inputs, of which its signature has {}", inputs.size(), signature.inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const auto& input = signature.inputs[i];
        input.kind != GraphInput::Kind::value && name_of_tensor(inputs[i]) != input.name)
      malformed("the input \"{}\" of the graph, which its signature calls \"{}\"", name_of_tensor(inputs[i]),
                input.name);
}

/// Returns an output of the graph; numbers become tensors without axes.
at::Tensor tensor_of(const GraphOutput& output, const c10::IValue& value, at::Device device) {
  const bool is_tensor = output.kind == GraphOutput::Kind::tensor;
  if (is_tensor && value.isTensor()) return value.toTensor();
  if (is_tensor || !(value.isInt() || value.isDouble() || value.isBool()))
    raise<ValueError>("ExportedModule", "got the output \"{}\" of the type {}; expected what the graph's signature has",
                      output.name, value.tagKind());
  return at::scalar_tensor(value.toScalar(), at::TensorOptions(output.dtype).device(device));
}

}  // namespace

json json_of(const ExportedArchive& archive) {
  const auto name = "models/" + archive.model() + ".json";
  auto program = parsed(archive[name], name);
  const auto major = whole_of(member(member(program, "schema_version", name), "major", name), name);
  if (major != known_schema) malformed("version {} of the schema of its graph, where {} is read", major, known_schema);
  return program;
}

ExportedProgram::ExportedProgram(ExportedArchive archive, torch::nn::Module& module)
    : archive_(std::move(archive)), weights_(archive_) {
  const auto program = json_of(archive_);
  signature_ = signature_of(program);
  const auto& graph = graph_in(program);
  check_names(graph, signature_);
  Parts parts(module);
  take_weights(parts, graph);
  for (const auto& part : signature_.parts) parts.add_module(part);
  find_written(parts);
  build(parts, graph);
}

void ExportedProgram::take_weights(Parts& parts, const json& graph) {
  for (const auto& input : signature_.inputs) {
    using Kind = GraphInput::Kind;
    held_.emplace_back();
    if (input.kind == Kind::value) continue;
    const auto info = info_of(graph, input.name);
    if (input.kind == Kind::tensor) {
      inputs_.push_back({input.name, info});
      continue;
    }
    const bool stored = input.kind == Kind::parameter || (input.kind == Kind::buffer && input.persistent);
    held_.back() = stored ? weights_.weight(input.target) : weights_.constant(input.target);
    check_weight(held_.back(), input.target, info);
    if (input.kind == Kind::parameter)
      parts.add_parameter(input.target, held_.back(), weights_.info(input.target).requires_grad);
    else parts.add_buffer(input.target, held_.back());
    if (!stored) not_persistent_.push_back(input.target);
  }
}

void ExportedProgram::build(Parts& parts, const json& graph) {
  std::map<std::string, std::string> buffers;
  for (const auto& input : signature_.inputs)
    if (input.kind == GraphInput::Kind::buffer) buffers[input.name] = input.target;
  Surroundings around{.module_of = [&](const std::string& name) { return parts.around(name); },
                      .counters = counters_of(graph, buffers)};
  graph_ = graph_of(graph, around);
  if (graph_->outputs() != signature_.outputs.size())
    malformed("a graph of {} outputs, of which its signature has {}", graph_->outputs(), signature_.outputs.size());
  std::map<const torch::nn::Module*, bool> modes;
  for (const auto& [module, in_training] : around.modes) modes[module] |= in_training;
  parts.set_modes(modes);
}

at::Tensor ExportedProgram::written_tensor(const GraphOutput& output) const {
  for (std::size_t i = 0; i < held_.size(); ++i)
    if (held_[i].defined() && signature_.inputs[i].target == output.target) return held_[i];
  malformed("new values of \"{}\", which the network has not", output.target);
}

void ExportedProgram::find_written(const Parts& parts) {
  for (std::size_t i = 0; i < signature_.outputs.size(); ++i) {
    using Kind = GraphOutput::Kind;
    const auto& output = signature_.outputs[i];
    if (output.is_returned() || output.kind == Kind::none) continue;
    Written written{.output = i};
    if (output.kind == Kind::input) {
      const auto found = std::ranges::find(inputs_, output.target, &NamedInfo::name);
      if (found == inputs_.end()) malformed("new values of the input \"{}\", which there is not", output.target);
      written.to = static_cast<std::size_t>(found - inputs_.begin());
    } else {
      written.to = written_tensor(output);
    }
    if (output.target.ends_with(count_ending)) written.counted_in = parts.around(output.target);
    written_.push_back(std::move(written));
  }
}

at::Device ExportedProgram::device(const std::vector<at::Tensor>& inputs) const {
  for (const auto* tensors : {&held_, &inputs})
    for (const auto& tensor : *tensors)
      if (tensor.defined()) return tensor.device();
  return at::kCPU;
}

/// Copies what the graph writes to, since backward may need the former values.
std::vector<c10::IValue> ExportedProgram::graph_inputs(const std::vector<at::Tensor>& inputs) const {
  const auto is_written = [&](const at::Tensor& tensor) {
    return std::ranges::any_of(written_, [&](const Written& written) {
      const auto* const to = std::get_if<at::Tensor>(&written.to);
      return to && to->is_same(tensor) && !tensor.requires_grad();
    });
  };
  std::vector<c10::IValue> values;
  std::size_t next = 0;
  for (std::size_t i = 0; i < held_.size(); ++i) {
    if (signature_.inputs[i].kind == GraphInput::Kind::value) values.emplace_back();
    else if (!held_[i].defined()) values.emplace_back(inputs[next++]);
    else values.emplace_back(at::GradMode::is_enabled() && is_written(held_[i]) ? held_[i].clone() : held_[i]);
  }
  return values;
}

void ExportedProgram::write_back(const std::vector<c10::IValue>& values, const std::vector<at::Tensor>& inputs) const {
  const at::NoGradGuard no_grad;
  for (const auto& [output, to, counted_in] : written_) {
    if (counted_in && !counted_in->is_training()) continue;
    const auto* const tensor = std::get_if<at::Tensor>(&to);
    (tensor ? *tensor : inputs[std::get<std::size_t>(to)]).copy_(values[output].toTensor());
  }
}

std::vector<at::Tensor> ExportedProgram::run(const std::vector<at::Tensor>& inputs) const {
  check_inputs(inputs, inputs_, signature_.ranges);
  const auto where = device(inputs);
  const auto values = graph_->run(graph_inputs(inputs), where);
  write_back(values, inputs);
  std::vector<at::Tensor> tensors;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (const auto& output = signature_.outputs[i]; output.is_returned())
      tensors.push_back(tensor_of(output, values[i], where));
  return tensors;
}

std::string ExportedProgram::bytes() const {
  auto archive = archive_;
  weights_.store(archive);
  return archive.bytes();
}

void in_file(const std::string& path, const std::function<void()>& read) {
  std::string why;
  try {
    return read();
  } catch (const Malformed& error) {
    why = error.what();
  } catch (const json::exception& error) {
    why = error.what();
  } catch (const c10::Error& error) {
    why = first_line(error);
  }
  raise<IoError>("ExportedModule", "got \"{}\" with {}; expected a network that torch.export.save has written", path,
                 why);
}

std::unique_ptr<ExportedProgram> program_of(const std::string& bytes, const std::string& path,
                                            torch::nn::Module& module) {
  std::unique_ptr<ExportedProgram> program;
  in_file(path, [&] { program = std::make_unique<ExportedProgram>(ExportedArchive(bytes, path), module); });
  return program;
}

}  // namespace heatpp::nn::detail
