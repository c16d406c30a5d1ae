#pragma once

#include <ATen/ATen.h>
#include <torch/serialize.h>

#include <cmath>
#include <string>
#include <utility>

namespace heatpp::nn::detail {

/// The sum of squares of a tensor's elements.
inline double squares(const at::Tensor& tensor) {
  return std::pow(at::linalg_vector_norm(tensor.detach()).item<double>(), 2);
}

/// Numbers of an optimizer's options in an archive.
inline void put(torch::serialize::OutputArchive& archive,
                std::initializer_list<std::pair<const char*, double>> numbers) {
  for (const auto& [name, number] : numbers) archive.write(name, c10::IValue(number));
}
inline double number(torch::serialize::InputArchive& archive, const std::string& name) {
  c10::IValue value;
  archive.read(name, value);
  return value.toDouble();
}

}  // namespace heatpp::nn::detail
