#include <heatpp_nn/data/batch.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace heatpp::nn {
namespace {

Tensors joined(const at::Tensor& first, const Tensors& more) {
  Tensors all{first};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<std::string> names_of(const Batch& batch) {
  if (!batch.names) return {"inputs", "targets"};
  auto names = batch.names->inputs;
  names.insert(names.end(), batch.names->targets.begin(), batch.names->targets.end());
  return names;
}

}  // namespace

Tensors Batch::all_inputs() const { return joined(inputs, more_inputs); }
Tensors Batch::all_targets() const { return joined(targets, more_targets); }

std::vector<at::Tensor*> Batch::fields() {
  std::vector<at::Tensor*> all{&inputs};
  for (auto& tensor : more_inputs) all.push_back(&tensor);
  all.push_back(&targets);
  for (auto& tensor : more_targets) all.push_back(&tensor);
  return all;
}

at::Tensor& Batch::operator[](std::string_view name) {
  const auto all = fields();
  const auto known = names_of(*this);
  const auto found = std::ranges::find(known, name);
  if (found == known.end() || known.size() != all.size())
    heatpp::detail::raise<IndexError>("Batch", "got the field \"{}\"; expected one of {}", name, known);
  return *all[static_cast<std::size_t>(found - known.begin())];
}

const at::Tensor& Batch::operator[](std::string_view name) const { return (const_cast<Batch&>(*this))[name]; }

}  // namespace heatpp::nn
