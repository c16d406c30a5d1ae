#pragma once

#include <ATen/ATen.h>
#include <torch/serialize.h>

#include <cmath>

namespace heatpp::nn::detail {

/// Returns the sum of squares of a tensor's elements.
inline double squares(const at::Tensor& tensor) {
  return std::pow(at::linalg_vector_norm(tensor.detach()).item<double>(), 2);
}

/// Writes fields of an optimizer's options into an archive, as numbers under the fields' names.
struct WriteTo {
  torch::serialize::OutputArchive& archive;
  void operator()(const char* name, double field) const { archive.write(name, c10::IValue(field)); }
};
/// Sets fields of an optimizer's options to the numbers that an archive has under their names.
struct ReadFrom {
  torch::serialize::InputArchive& archive;
  template <class T>
  void operator()(const char* name, T& field) const {
    c10::IValue value;
    archive.read(name, value);
    field = static_cast<T>(value.toDouble());
  }
};

}  // namespace heatpp::nn::detail
