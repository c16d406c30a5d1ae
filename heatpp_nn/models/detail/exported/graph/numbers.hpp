#pragma once

#include <ATen/core/ivalue.h>

#include <functional>
#include <string>
#include <vector>

namespace heatpp::nn::detail {

/// A function of numbers and bool, with Python's rules: "_operator.floordiv".
using NumberFunction = std::function<c10::IValue(const std::vector<c10::IValue>& arguments)>;
/// Returns the function of this name and number of arguments; empty if there is none. It throws std::domain_error if
/// Python would raise an error, and for whole numbers beyond 64 bits.
[[nodiscard]] NumberFunction number_function(const std::string& name, std::size_t arguments);

}  // namespace heatpp::nn::detail
