#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp_nn/models/detail/exported/expression.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace heatpp::nn::detail {

/// The shape and dtype of a tensor in an exported program.
struct TensorInfo {
  at::ScalarType dtype = at::kFloat;
  std::vector<Expression> sizes = {}, strides = {};
  std::int64_t offset = 0;
  bool requires_grad = false;
};

/// Reads the numbers that torch.export writes for dtypes, layouts and memory formats
/// (torch/_export/serde/schema.py).
[[nodiscard]] at::ScalarType dtype_of(const nlohmann::json& value, const std::string& where);
[[nodiscard]] at::Layout layout_of(const nlohmann::json& value, const std::string& where);
[[nodiscard]] at::MemoryFormat memory_format_of(const nlohmann::json& value, const std::string& where);

[[nodiscard]] TensorInfo tensor_info(const nlohmann::json& value, const std::string& where);

/// Returns a text such as "(s77, 2*s17, 3)".
[[nodiscard]] std::string to_text(const std::vector<Expression>& sizes);
/// Returns the numbers. Throws Malformed if a size is no number, or below 0.
[[nodiscard]] std::vector<std::int64_t> numbers_of(const std::vector<Expression>& sizes, const std::string& where);

/// Returns a tensor over the bytes of a storage. Throws Malformed if it does not fit in.
[[nodiscard]] at::Tensor view_of(const at::Tensor& storage, const TensorInfo& info, const std::string& where);

}  // namespace heatpp::nn::detail
