#include <heatpp/comm/detail/progress/collective.hpp>
#include <heatpp/comm/detail/settings.hpp>

#include <array>
#include <cstdlib>
#include <sstream>

namespace heatpp::detail {
namespace {

constexpr std::array names{"HEATPP_ALLREDUCE", "HEATPP_TOPOLOGY",      "HEATPP_CALIBRATION",
                           "HEATPP_BACKEND",   "HEATPP_TRACE",         "HEATPP_DEBUG",
                           "HEATPP_TIMEOUT",   "HEATPP_SHARED_MEMORY", "HEATPP_REPRODUCIBLE"};

/// The values of the variables in their order, with a zero behind each.
std::string environment() {
  std::string text;
  for (const char* name : names) {
    const char* const value = std::getenv(name);
    text.append(value ? value : "").push_back('\0');
  }
  return text;
}

}  // namespace

std::shared_ptr<const Settings> settings_of_rank_0(const Communicator& comm) {
  std::istringstream values(text_of_rank_0(comm, environment()));
  auto settings = std::make_shared<Settings>();
  std::string debug, timeout, shared_memory, reproducible;
  for (auto* value : {&settings->allreduce, &settings->topology, &settings->calibration, &settings->backend,
                      &settings->trace, &debug, &timeout, &shared_memory, &reproducible})
    std::getline(values, *value, '\0');
  settings->debug = debug.find("collectives") != std::string::npos;
  settings->shared_memory = shared_memory != "off";
  settings->timeout = std::atof(timeout.c_str());
  settings->reproducible = !reproducible.empty() && reproducible != "0";
  return settings;
}

}  // namespace heatpp::detail
