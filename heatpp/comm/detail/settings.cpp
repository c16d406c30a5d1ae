#include <heatpp/comm/detail/settings.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/text.hpp>

#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <sstream>

namespace heatpp::detail {
namespace {

constexpr std::array names{"HEATPP_ALLREDUCE", "HEATPP_TOPOLOGY",      "HEATPP_CALIBRATION",
                           "HEATPP_BACKEND",   "HEATPP_TRACE",         "HEATPP_DEBUG",
                           "HEATPP_TIMEOUT",   "HEATPP_SHARED_MEMORY", "HEATPP_REPRODUCIBLE"};

/// Returns the values of the variables in their order, with a zero behind each.
std::string environment() {
  std::string text;
  for (const char* name : names) {
    const char* const value = std::getenv(name);
    text.append(value ? value : "").push_back('\0');
  }
  return text;
}

/// Returns the number of the value in the list of allowed ones.
std::size_t chosen(const char* name, const std::string& value, std::initializer_list<std::string_view> known) {
  const auto found = std::ranges::find(known, value);
  if (found == known.end())
    raise<ValueError>(name, "got \"{}\"; expected {} or nothing", value,
                      fmt::join(std::span(known).subspan(1), " or "));
  return static_cast<std::size_t>(found - known.begin());
}

double seconds(const char* name, const std::string& value) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (!value.empty() && (error != std::errc() || end != value.data() + value.size() || !(number >= 0)))
    raise<ValueError>(name, "got \"{}\"; expected a number of seconds", value);
  return number;
}

}  // namespace

std::shared_ptr<const Settings> settings_of_rank_0(const Communicator& comm) {
  std::istringstream values(text_of_rank_0(comm, environment()));
  auto settings = std::make_shared<Settings>();
  std::string debug, timeout, shared_memory, reproducible;
  for (auto* value : {&settings->allreduce, &settings->topology, &settings->calibration, &settings->backend,
                      &settings->trace, &debug, &timeout, &shared_memory, &reproducible})
    std::getline(values, *value, '\0');
  settings->debug = chosen("HEATPP_DEBUG", debug, {"", "off", "collectives"}) == 2;
  settings->shared_memory = chosen("HEATPP_SHARED_MEMORY", shared_memory, {"", "on", "off"}) != 2;
  settings->timeout = seconds("HEATPP_TIMEOUT", timeout);
  settings->reproducible = chosen("HEATPP_REPRODUCIBLE", reproducible, {"", "0", "1"}) == 2;
  return settings;
}

}  // namespace heatpp::detail
