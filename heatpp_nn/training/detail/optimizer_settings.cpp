#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/training/detail/settings.hpp>
#include <heatpp_nn/training/detail/training_archive.hpp>

#include <torch/optim/optimizer.h>
#include <torch/serialize.h>

#include <sstream>
#include <typeinfo>

namespace heatpp::nn::detail {
namespace {

using heatpp::detail::formatted;

std::string text(const c10::IValue& value) {
  if (value.isDouble()) return formatted("{}", value.toDouble());
  std::ostringstream text;
  text << value;
  return text.str();
}

/// Returns the rate of options that cannot be saved, as it may be in a class of the caller.
std::vector<Setting> rate_of(const torch::optim::OptimizerOptions& options, const std::string& of_group) {
  try {
    return {{"lr" + of_group, formatted("{}", options.get_lr())}};
  } catch (const c10::Error&) {
    return {};
  }
}

/// Returns the options of a group under the names that LibTorch uses when it saves them.
std::vector<Setting> settings_of(const torch::optim::OptimizerOptions& options, const std::string& of_group) {
  torch::serialize::OutputArchive written;
  try {
    options.serialize(written);
  } catch (const c10::Error&) {
    return rate_of(options, of_group);
  }
  auto archive = opened(saved(written));
  std::vector<Setting> settings;
  for (const auto& name : archive.keys()) {
    c10::IValue value;
    archive.read(name, value);
    settings.push_back({name + of_group, text(value)});
  }
  return settings;
}

}  // namespace

std::vector<Setting> settings_of(const torch::optim::Optimizer& optimizer, bool shared) {
  const auto& groups = optimizer.param_groups();
  std::vector<Setting> settings{{"an optimizer of class", c10::demangle(typeid(optimizer).name())},
                                {"groups of parameters", formatted("{}", groups.size())}};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto of_group = groups.size() > 1 ? formatted(" of group {}", i) : "";
    if (!shared) settings.push_back({"parameters" + of_group, formatted("{}", groups[i].params().size())});
    for (auto& setting : settings_of(groups[i].options(), of_group)) settings.push_back(std::move(setting));
  }
  return settings;
}

}  // namespace heatpp::nn::detail
