#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <heatpp/core/detail/fused/kernels.hpp>
#include <optional>
#include <span>
#include <vector>

namespace heatpp::detail::fused {

/// Returns the type of a block's elements if formulas have it.
[[nodiscard]] std::optional<Type> type_of(at::ScalarType type);
[[nodiscard]] at::ScalarType to_torch(Type type);

/// The place of a value in a formula.
using Value = std::uint8_t;

/// How a value is computed.
struct Node {
  Op op;
  Type type;                       ///< of the value
  std::array<Value, 3> arguments;  ///< those that the operation takes
  std::uint64_t bits;              ///< of a number, or the place of a block
  bool operator==(const Node&) const = default;
};

/// What the elements of an array are computed from, each from the elements at its own place: blocks, numbers and
/// operations on values before. Equal values are computed once. The last node is the result.
class Formula {
 public:
  static constexpr std::size_t most_nodes = 40;

  Formula(const char* call, std::vector<std::int64_t> shape) : call_(call), shape_(std::move(shape)) {}

  /// Takes the elements of a block, which is broadcast to the shape; one of a single element is a number.
  [[nodiscard]] Value of_block(const at::Tensor& block);
  /// Takes what another formula of this shape computes.
  [[nodiscard]] Value of_formula(const Formula& other);
  [[nodiscard]] Value of_number(double number, Type type);
  /// Returns the value in another type, or nullopt if formulas do not convert so.
  [[nodiscard]] std::optional<Value> converted(Value value, Type type);
  /// Returns the result of an operation on values of one type (select: after the condition), or nullopt if formulas do
  /// not have it. At least one argument is no number.
  [[nodiscard]] std::optional<Value> apply(Op op, std::array<Value, 3> arguments, Type result);
  /// Makes `value` the last node.
  void end_with(Value value) { nodes_.resize(value + std::size_t{1}); }

  [[nodiscard]] const char* call() const { return call_; }
  [[nodiscard]] const std::vector<std::int64_t>& shape() const { return shape_; }
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<at::Tensor>& blocks() const { return blocks_; }
  [[nodiscard]] const Node& node(Value value) const { return nodes_[value]; }

 private:
  Value add(const Node& node);
  std::uint64_t add_block(const at::Tensor& block);

  const char* call_;  // the function whose result it is
  std::vector<std::int64_t> shape_;
  std::vector<Node> nodes_;
  std::vector<at::Tensor> blocks_;
};

/// The number of values that an operation takes.
[[nodiscard]] int argument_count(Op op);
/// Returns the type of the arguments whose number of bits and kind choose the kernel of a node.
[[nodiscard]] Type argument_type(const Formula& formula, const Node& node);

}  // namespace heatpp::detail::fused
