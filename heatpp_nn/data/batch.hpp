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

/// One name, or several in their order: "velocity", or {"velocity", "forcing"}.
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

/// The names of what a sample consists of.
struct FieldNames {
  std::vector<std::string> inputs, targets;
};

/// Rows of the fields that belong together. Most samples have one input and one target, which is all there is to
/// `auto [inputs, targets] = batch`; others have more of both, by name or by position.
struct Batch {
  at::Tensor inputs;                                  ///< the first input
  at::Tensor targets;                                 ///< the first target
  Tensors more_inputs = {};                           ///< behind the first
  Tensors more_targets = {};                          ///< likewise
  std::shared_ptr<const FieldNames> names = nullptr;  ///< of all of them

  /// All inputs, and all targets, by position.
  [[nodiscard]] Tensors all_inputs() const;
  [[nodiscard]] Tensors all_targets() const;
  /// The field of a name, of inputs before targets. Throws IndexError where there is none.
  [[nodiscard]] at::Tensor& operator[](std::string_view name);
  [[nodiscard]] const at::Tensor& operator[](std::string_view name) const;
  /// All fields, inputs before targets, to be changed.
  [[nodiscard]] std::vector<at::Tensor*> fields();
};

/// For `auto [inputs, targets] = batch`.
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
