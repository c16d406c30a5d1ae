#pragma once

#include <heatpp/core/detail/alike.hpp>

namespace heatpp::nn::detail {

using heatpp::detail::check_agreed;
using heatpp::detail::Setting;

/// Returns the names of a map's entries, as the value of a setting.
[[nodiscard]] std::string names_of(const auto& map) {
  std::string names;
  for (const auto& [name, value] : map) names += (names.empty() ? "\"" : ", \"") + name + "\"";
  return "{" + names + "}";
}

/// Throws CommError if `what` lies on other ranks than the model, or in another order of ranks. Local.
void check_same_ranks(const char* op, const char* what, const Communicator& its, const Communicator& model);

}  // namespace heatpp::nn::detail
