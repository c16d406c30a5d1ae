#include <heatpp_nn/models/detail/exported/parts.hpp>

#include <heatpp_nn/detail/first_line.hpp>
#include <heatpp_nn/models/detail/exported/malformed.hpp>

#include <algorithm>

namespace heatpp::nn::detail {
namespace {

class Part : public torch::nn::Module {};

/// Splits "norm.weight" into "norm" and "weight".
std::pair<std::string, std::string> split(const std::string& name) {
  const auto dot = name.rfind('.');
  if (dot == std::string::npos) return {"", name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

}  // namespace

torch::nn::Module& Parts::at(const std::string& name) {
  if (name.empty()) return *network_;
  if (const auto found = parts_.find(name); found != parts_.end()) return *found->second;
  const auto [around, last] = split(name);
  auto& parent = at(around);
  auto& part = parts_[name] = parent.register_module(last, std::make_shared<Part>());
  return *part;
}

template <class Add>
void Parts::add(const std::string& name, const Add& add_to) {
  constexpr auto deepest = 256;
  if (std::ranges::count(name, '.') > deepest) malformed("a name of more than {} parts", deepest);
  try {
    add_to(split(name));
  } catch (const c10::Error& error) {
    malformed("\"{}\" ({})", name, first_line(error));
  }
}

void Parts::add_parameter(const std::string& name, const at::Tensor& tensor, bool requires_grad) {
  add(name, [&](const auto& names) { at(names.first).register_parameter(names.second, tensor, requires_grad); });
}

void Parts::add_buffer(const std::string& name, const at::Tensor& tensor) {
  add(name, [&](const auto& names) { at(names.first).register_buffer(names.second, tensor); });
}

void Parts::add_module(const std::string& name) {
  try {
    add(name + ".x", [&](const auto& names) { static_cast<void>(at(names.first)); });
  } catch (const Malformed&) {
    return;  // it has no weights and takes the network's mode
  }
}

const torch::nn::Module* Parts::around(std::string name) const {
  for (; !name.empty(); name = split(name).first)
    if (const auto found = parts_.find(name); found != parts_.end()) return found->second.get();
  return network_;
}

void Parts::set_modes(const std::map<const torch::nn::Module*, bool>& modes) {
  const bool any = modes.empty() || std::ranges::any_of(modes, [](const auto& mode) { return mode.second; });
  network_->train(any);
  for (const auto& module : network_->modules(/*include_self=*/false))  // modules come before their parts
    if (const auto found = modes.find(module.get()); found != modes.end()) module->train(found->second);
}

}  // namespace heatpp::nn::detail
