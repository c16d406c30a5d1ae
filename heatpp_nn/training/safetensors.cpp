#include <heatpp_nn/training/safetensors.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/files/aside_file.hpp>
#include <heatpp_io/safetensors/detail/safetensors_header.hpp>
#include <heatpp_nn/training/detail/agreement.hpp>
#include <heatpp_nn/models/loaded_module.hpp>
#include <heatpp_nn/parallel/replica.hpp>

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <algorithm>

namespace heatpp::nn {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;
using io::detail::SafeTensor;
using io::detail::SafeTensors;

constexpr auto save_op = "save_safetensors", load_op = "load_safetensors";

/// The tensors of PyTorch's state_dict.
using State = std::map<std::string, at::Tensor>;

/// Removes the buffers of a part that are not persistent.
void leave_out(State& state, const torch::nn::Module& part, const std::string& prefix) {
  if (const auto* loaded = dynamic_cast<const LoadedModule*>(&part))
    for (const auto& name : loaded->not_persistent()) state.erase(prefix + name);
}

State state_of(const torch::nn::Module& module) {
  State state;
  for (const auto& entry : module.named_parameters()) state[entry.key()] = entry.value().detach();
  for (const auto& entry : module.named_buffers()) state[entry.key()] = entry.value();
  leave_out(state, module, "");
  for (const auto& part : module.named_modules("", /*include_self=*/false))
    leave_out(state, *part.value(), part.key() + ".");
  std::erase_if(state, [](const auto& entry) { return !entry.second.defined(); });
  return state;
}

Shape shape_of(const at::Tensor& tensor) { return {tensor.sizes().begin(), tensor.sizes().end()}; }

/// Returns the tensor as the format has it: complex128 as float64 with one more axis.
at::Tensor storable(const at::Tensor& tensor) {
  const auto values = tensor.resolve_conj().resolve_neg();
  return values.scalar_type() == at::kComplexDouble ? at::view_as_real(values) : values;
}

/// Whether a stored tensor holds the real and imaginary parts of a complex one.
bool holds_parts(const SafeTensor& stored, const at::Tensor& tensor) {
  auto shape = shape_of(tensor);
  shape.push_back(2);
  return tensor.is_complex() && stored.type == at::kDouble && stored.shape == shape;
}

void write(const std::string& path, State state, SafeTensors contents) {
  for (auto& [name, tensor] : state) tensor = storable(tensor);
  for (const auto& [name, tensor] : state) contents.tensors.push_back({name, tensor.scalar_type(), shape_of(tensor)});
  const auto header = io::detail::safetensors_header(contents, save_op);
  io::detail::AsideFile aside(path, io::detail::AsideFile::Begin::empty, save_op);
  const io::detail::FileWriter file(aside.path(), path, save_op);
  file.write(0, std::ssize(header), header.data());
  for (const auto& tensor : contents.tensors)
    file.write(tensor.offset, tensor.bytes, state.at(tensor.name).cpu().contiguous().const_data_ptr());
  aside.commit_durably();
}

std::string listing(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names)
    if (text.size() < 200) text += formatted("{}\"{}\"", text.empty() ? "" : ", ", name);
  return text.empty() ? "none" : text;
}

/// Throws if the file's tensors do not fit the module's.
void check(const SafeTensors& contents, const State& state, const std::string& path, bool strict) {
  std::vector<std::string> unknown, missing;
  for (const auto& tensor : contents.tensors) {
    const auto found = state.find(tensor.name);
    if (found == state.end()) unknown.push_back(tensor.name);
    else if (shape_of(found->second) != tensor.shape && !holds_parts(tensor, found->second))
      raise<ValueError>(load_op, "got \"{}\" of shape {} in \"{}\"; expected {}", tensor.name, to_string(tensor.shape),
                        path, to_string(shape_of(found->second)));
  }
  for (const auto& [name, tensor] : state)
    if (std::ranges::find(contents.tensors, name, &SafeTensor::name) == contents.tensors.end()) missing.push_back(name);
  if (strict && !(unknown.empty() && missing.empty()))
    raise<ValueError>(load_op, "got \"{}\" without {}, and with {} that the module has not; expected the same names",
                      path, listing(missing), listing(unknown));
}

void broadcast(const at::Tensor& tensor, const Communicator& comm) {
  const auto bytes = tensor.numel() * tensor.element_size();
  comm.broadcast({tensor.data_ptr(), bytes, uint8}, 0);
}

}  // namespace

void save_safetensors(const std::string& path, const torch::nn::Module& module, const SaveWeightsOptions& options) {
  const auto& comm = comm_of(options.comm);
  detail::check_agreed(save_op, comm, {{"path", path}}, [] {});  // before anything is written
  all_or_none(comm, [&] {
    if (comm.rank() == 0) write(path, state_of(module), {{}, options.metadata});
  });
}

void save_safetensors(const std::string& path, const Replica& model, SaveWeightsOptions options) {
  if (!options.comm) options.comm = model.topology().comm();
  save_safetensors(path, *model.shared_module(), options);
}

void load_safetensors(const std::string& path, const Replica& model, LoadWeightsOptions options) {
  if (!options.comm) options.comm = model.topology().comm();
  load_safetensors(path, *model.shared_module(), options);
  model.flat().accept_writes();  // all ranks wrote the same values
}

void load_safetensors(const std::string& path, torch::nn::Module& module, const LoadWeightsOptions& options) {
  const auto& comm = comm_of(options.comm);
  const at::NoGradGuard no_grad;
  const auto state = state_of(module);
  State read;  // on rank 0, complete before anything is changed
  detail::check_agreed(load_op, comm, {{"path", path}}, [&] {
    if (comm.rank() != 0) return;
    io::detail::FileReader file(path, load_op);
    const auto contents = io::detail::read_safetensors(file, path, load_op);
    check(contents, state, path, options.strict);
    for (const auto& tensor : contents.tensors)
      if (const auto found = state.find(tensor.name); found != state.end()) {
        const auto values = io::detail::read_tensor(file, tensor);
        read[tensor.name] = holds_parts(tensor, found->second) ? at::view_as_complex(values) : values;
      }
  });
  for (const auto& [name, tensor] : state) {
    std::array<std::int64_t, 1> found{read.contains(name)};
    comm.broadcast(found, 0);
    if (!found[0]) continue;
    auto values = at::empty(tensor.sizes(), tensor.options().device(at::kCPU));
    if (comm.rank() == 0) values.copy_(read.at(name));
    broadcast(values, comm);
    tensor.copy_(values);
  }
}

}  // namespace heatpp::nn
