#pragma once

#include <stdexcept>

namespace heatpp::nn::detail {

/// Inputs that a function from a file does not take, with the reason. LoadedModule makes a ValueError of it that says
/// whether the function is the network, a loss or another one.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace heatpp::nn::detail
