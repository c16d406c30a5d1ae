#pragma once

#include <ATen/core/Tensor.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace heatpp::nn {

using Tensors = std::vector<at::Tensor>;

/// One name, or several in order: "velocity", or {"velocity", "forcing"}.
class Names {
 public:
  Names(const char* name) : names_{name} {}
  Names(std::string name) : names_{std::move(name)} {}
  Names(std::initializer_list<std::string> names) : names_(names) {}
  Names(std::vector<std::string> names) : names_(std::move(names)) {}

  [[nodiscard]] const std::vector<std::string>& list() const { return names_; }
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
};

/// The names of a sample's fields.
struct FieldNames {
  std::vector<std::string> inputs, targets;
};

/// The rows of all fields of a batch. Most samples have one input and one target, which `auto [inputs, targets] =
/// batch` returns; others have several of both, by name or by position.
struct Batch {
  at::Tensor inputs;                                  ///< the first input
  at::Tensor targets;                                 ///< the first target
  Tensors more_inputs = {};                           ///< after the first
  Tensors more_targets = {};                          ///< after the first
  std::shared_ptr<const FieldNames> names = nullptr;  ///< names of all fields

  /// Return all inputs, or all targets, by position.
  [[nodiscard]] Tensors all_inputs() const;
  [[nodiscard]] Tensors all_targets() const;
  /// Returns the field of a name, which belongs to an input or a target. Throws IndexError if there is none.
  [[nodiscard]] at::Tensor& operator[](std::string_view name);
  [[nodiscard]] const at::Tensor& operator[](std::string_view name) const;
  /// Returns all fields for writing, inputs before targets.
  [[nodiscard]] std::vector<at::Tensor*> fields();
};

/// Supports `auto [inputs, targets] = batch`.
template <std::size_t I>
[[nodiscard]] const at::Tensor& get(const Batch& batch) {
  return I == 0 ? batch.inputs : batch.targets;
}
template <std::size_t I>
[[nodiscard]] at::Tensor& get(Batch& batch) {
  return I == 0 ? batch.inputs : batch.targets;
}
template <std::size_t I>
[[nodiscard]] at::Tensor&& get(Batch&& batch) {
  return std::move(I == 0 ? batch.inputs : batch.targets);
}

}  // namespace heatpp::nn

template <>
struct std::tuple_size<heatpp::nn::Batch> : std::integral_constant<std::size_t, 2> {};
template <std::size_t I>
struct std::tuple_element<I, heatpp::nn::Batch> {
  using type = at::Tensor;
};
