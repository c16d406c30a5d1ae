#pragma once

#include <heatpp_nn/data/batch.hpp>

#include <concepts>
#include <functional>
#include <utility>

namespace torch::nn {
class Module;
}

namespace heatpp::nn::detail {

/// Returns the only tensor. Throws ValueError if there are several or none.
[[nodiscard]] const at::Tensor& only(std::string_view what, const Tensors& tensors);
/// Throws ValueError if a loss has no gradient. `arguments` are those of the function that returned it.
void check_differentiable(const char* op, const at::Tensor& loss, const char* arguments);
[[noreturn]] void throw_not_taken(std::size_t inputs);
/// Returns the device on which a module computes: that of its first parameter, else of its first buffer, else the CPU.
[[nodiscard]] at::Device device_of(const torch::nn::Module& module);

[[nodiscard]] inline Tensors listed(at::Tensor output) { return {std::move(output)}; }
[[nodiscard]] inline Tensors listed(Tensors outputs) { return outputs; }
template <class Tuple>
requires requires { std::tuple_size<Tuple>::value; }
[[nodiscard]] Tensors listed(const Tuple& outputs) {
  return std::apply([](const auto&... output) { return Tensors{output...}; }, outputs);
}

/// Whether `forward` takes N tensors, and returns one or several.
template <class Net, std::size_t N>
inline constexpr bool takes_tensors = []<std::size_t... I>(std::index_sequence<I...>) {
  return requires(Net & net, const Tensors& inputs) { listed(net.forward(inputs[I]...)); };
}
(std::make_index_sequence<N>());

template <class Net>
concept TakesList = requires(Net& net, const Tensors& inputs) {
  listed(net.forward(inputs));
};

/// If a module has a `forward` of `Tensors` and one of a tensor, this uses the former, because it is more general.
template <class Net>
concept GivesList = requires(Net& net, const Tensors& inputs) {
  { net.forward(inputs) } -> std::same_as<Tensors>;
};

/// Calls `forward` with N tensors, if there are N and it takes them.
template <std::size_t N, class Net>
bool forward_of(Net& net, const Tensors& inputs, Tensors& outputs) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    if constexpr (takes_tensors<Net, N>) {
      if (inputs.size() != N) return false;
      outputs = listed(net.forward(inputs[I]...));
      return true;
    } else {
      return false;
    }
  }
  (std::make_index_sequence<N>());
}

/// Returns a module's outputs for one or several inputs.
template <class Net>
Tensors forwarded(Net& net, const Tensors& inputs) {
  return [&]<std::size_t... N>(std::index_sequence<N...>) {
    static_assert((takes_tensors<Net, N + 1> || ...) || TakesList<Net>,
                  "a network has a public forward of tensors, or of Tensors, that gives tensors");
    if constexpr (GivesList<Net>) return net.forward(inputs);
    Tensors outputs;
    if ((forward_of<N + 1>(net, inputs, outputs) || ...)) return outputs;
    if constexpr (TakesList<Net>) return listed(net.forward(inputs));
    else throw_not_taken(inputs.size());
  }
  (std::make_index_sequence<8>());
}

}  // namespace heatpp::nn::detail
