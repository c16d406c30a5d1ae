#pragma once

#include <heatpp/comm/communicator.hpp>
#include <string>

namespace heatpp::nn::detail {

/// What has to be the same on all ranks, as a text.
struct Setting {
  const char* name;
  std::string value;
};

/// Throws on all ranks what `check` throws on any, and ValueError where one of the settings, of which each rank has as
/// many, differs between ranks. Collective: one all-reduce of 16 bytes for each.
void check_agreed(const char* op, const Communicator& comm, const std::vector<Setting>& settings,
                  const std::function<void()>& check);

/// The names of a map's entries, as the value of a setting.
[[nodiscard]] std::string names_of(const auto& map) {
  std::string names;
  for (const auto& [name, value] : map) names += (names.empty() ? "\"" : ", \"") + name + "\"";
  return "{" + names + "}";
}

/// Throws CommError where `what` lies on other ranks than the model, or on the same in another order. Local.
void check_same_ranks(const char* op, const char* what, const Communicator& its, const Communicator& model);

}  // namespace heatpp::nn::detail
