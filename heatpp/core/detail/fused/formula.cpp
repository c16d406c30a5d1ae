#include <heatpp/core/detail/fused/formula.hpp>

#include <ATen/Dispatch.h>

#include <algorithm>
#include <cstring>

namespace heatpp::detail::fused {
namespace {

template <class T>
std::uint64_t bits_of_number(T number) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &number, sizeof number);
  return bits;
}

/// Returns the bits of a number in `type`, as C++ converts it.
template <class T>
std::uint64_t bits_in(T number, Type type) {
  switch (type) {
    case Type::boolean: return bits_of_number<std::uint8_t>(number != T(0));
    case Type::int32: return bits_of_number(static_cast<std::int32_t>(number));
    case Type::int64: return bits_of_number(static_cast<std::int64_t>(number));
    case Type::float32: return bits_of_number(static_cast<float>(number));
    default: return bits_of_number(static_cast<double>(number));
  }
}

/// Calls f with the number that the node has.
template <class F>
auto with_number(const Node& node, F f) {
  const auto as = [&]<class T>(T number) {
    std::memcpy(&number, &node.bits, sizeof number);
    return f(number);
  };
  switch (node.type) {
    case Type::boolean: return as(std::uint8_t{});
    case Type::int32: return as(std::int32_t{});
    case Type::int64: return as(std::int64_t{});
    case Type::float32: return as(float{});
    default: return as(double{});
  }
}

bool gives_float(Type type) { return type == Type::float32 || type == Type::float64; }

/// Whether a number in a formula may become one of `type` as the function itself would convert it: a floating one or a
/// larger whole one is no whole number there.
bool fits(const Node& number, Type type) {
  if (type != Type::int32 && type != Type::int64) return true;
  if (gives_float(number.type)) return false;
  return with_number(
      number, [&]<class T>(T n) { return type == Type::int64 || n == static_cast<T>(static_cast<std::int32_t>(n)); });
}

}  // namespace

std::optional<Type> type_of(at::ScalarType type) {
  switch (type) {
    case at::kBool: return Type::boolean;
    case at::kInt: return Type::int32;
    case at::kLong: return Type::int64;
    case at::kFloat: return Type::float32;
    case at::kDouble: return Type::float64;
    default: return std::nullopt;
  }
}

at::ScalarType to_torch(Type type) {
  constexpr at::ScalarType types[type_count] = {at::kBool, at::kInt, at::kLong, at::kFloat, at::kDouble};
  return types[static_cast<std::size_t>(type)];
}

int argument_count(Op op) {
  if (op <= Op::number) return 0;
  if (op == Op::select) return 3;
  const bool one =
      op == Op::copies || (op >= Op::negative && op <= Op::tanh) || op == Op::opposite || op == Op::convert;
  return one ? 1 : 2;
}

Type argument_type(const Formula& formula, const Node& node) {
  return formula.node(node.arguments[node.op == Op::select ? 1 : 0]).type;
}

Value Formula::add(const Node& node) {
  const auto found = std::ranges::find(nodes_, node);
  if (found == nodes_.end()) return nodes_.push_back(node), static_cast<Value>(nodes_.size() - 1);
  return static_cast<Value>(found - nodes_.begin());
}

std::uint64_t Formula::add_block(const at::Tensor& block) {
  const auto found = std::ranges::find_if(blocks_, [&](const at::Tensor& other) { return other.is_same(block); });
  if (found == blocks_.end()) return blocks_.push_back(block), blocks_.size() - 1;
  return static_cast<std::uint64_t>(found - blocks_.begin());
}

Value Formula::of_block(const at::Tensor& block) {
  const auto type = *type_of(block.scalar_type());
  if (block.numel() != 1) return add({Op::block, type, {}, add_block(block)});
  std::uint64_t bits = 0;
  std::memcpy(&bits, block.const_data_ptr(), block.element_size());
  return add({Op::number, type, {}, bits});
}

Value Formula::of_formula(const Formula& other) {
  std::array<Value, most_nodes> places{};
  Value last = 0;
  for (std::size_t i = 0; i < other.nodes_.size(); ++i) {
    auto node = other.nodes_[i];
    for (int a = 0; a < argument_count(node.op); ++a) {
      auto& argument = node.arguments[static_cast<std::size_t>(a)];
      argument = places[argument];
    }
    if (node.op == Op::block) node.bits = add_block(other.blocks_[node.bits]);
    places[i] = last = add(node);
  }
  return last;
}

Value Formula::of_number(double number, Type type) { return add({Op::number, type, {}, bits_in(number, type)}); }

std::optional<Value> Formula::converted(Value value, Type type) {
  const auto node = nodes_[value];
  if (node.type == type) return value;
  if (node.op == Op::number) {
    if (!fits(node, type)) return std::nullopt;
    return add({Op::number, type, {}, with_number(node, [&](auto number) { return bits_in(number, type); })});
  }
  if (type == Type::boolean) return apply(Op::different, {value, of_number(0, node.type)}, Type::boolean);
  if (!kernel_of(Op::convert, node.type, type, Form::runs)) return std::nullopt;
  return add({Op::convert, type, {value}, 0});
}

std::optional<Value> Formula::apply(Op op, std::array<Value, 3> arguments, Type result) {
  Node node{op, result, arguments, 0};
  if (!kernel_of(op, argument_type(*this, node), result, Form::runs)) return std::nullopt;
  const auto is_number = [&](int i) { return nodes_[node.arguments[static_cast<std::size_t>(i)]].op == Op::number; };
  const int count = argument_count(op);
  const bool has_forms = kernel_of(op, argument_type(*this, node), result, Form::second_number) != nullptr;
  for (int i = 0; i < count && !has_forms; ++i)  // the kernel reads runs only
    if (is_number(i)) {
      auto& argument = node.arguments[static_cast<std::size_t>(i)];
      argument = add({Op::copies, nodes_[argument].type, {argument}, 0});
    }
  if (has_forms && is_number(0) && is_number(1)) return std::nullopt;
  return add(node);
}

}  // namespace heatpp::detail::fused
