#include "daso_choices.hpp"

#include <heatpp/comm/error.hpp>

#include <array>
#include <cmath>

namespace heatpp::python {
namespace {

using DasoValue = DasoSettings::mapped_type;

[[noreturn]] void refuse_daso(const std::string& name, const std::string& expected) {
  throw ValueError("[Trainer] got another value of daso_options[\"" + name + "\"]; expected " + expected);
}

double daso_number(const std::string& name, const DasoValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  refuse_daso(name, "a number");
}

std::int64_t daso_count(const std::string& name, const DasoValue& value) {
  const auto number = daso_number(name, value);
  if (std::trunc(number) != number || !(std::abs(number) < 9007199254740992.0)) refuse_daso(name, "a whole number");
  return static_cast<std::int64_t>(number);
}

/// Returns the choice with this name. `names` are in the order of the enumeration, which counts from 0.
template <class Choice, std::size_t n>
Choice daso_choice(const std::string& name, const DasoValue& value, const std::array<const char*, n>& names) {
  const auto* text = std::get_if<std::string>(&value);
  std::string known;
  for (std::size_t i = 0; i < n; ++i) {
    if (text && *text == names[i]) return static_cast<Choice>(i);
    known += (i == 0 ? "" : i + 1 == n ? " or " : ", ") + std::string(names[i]);
  }
  refuse_daso(name, known);
}

std::optional<nn::DasoOptions> daso_named(const std::optional<std::string>& name, std::int64_t batches) {
  if (!name) return std::nullopt;
  if (*name == "default") return nn::DasoOptions();
  if (*name == "automatic") return nn::DasoOptions::automatic();
  if (*name == "published") return nn::DasoOptions::published(batches, {});
  throw ValueError("[Trainer] got daso=\"" + *name + "\"; expected default, automatic, published or None");
}

}  // namespace

std::optional<nn::DasoOptions> daso_of(const DasoChoice& choice, std::int64_t batches) {
  auto options = daso_named(choice.name, batches);
  if (!options && !choice.settings.empty())
    throw ValueError("[Trainer] got daso_options without daso; expected both or neither");
  for (const auto& [name, value] : choice.settings) {
    if (name == "wire")
      options->wire = daso_choice<Wire>(name, value, std::array{"float32", "bfloat16", "int8", "int4", "float4"});
    else if (name == "partners") options->partners = daso_choice<nn::Partners>(name, value, std::array{"all", "pairs"});
    else if (name == "fragments") options->fragments = daso_count(name, value);
    else if (name == "patience") options->patience = daso_number(name, value);
    else if (name == "quorum") options->quorum = daso_number(name, value);
    else
      throw ValueError("[Trainer] got daso_options[\"" + name +
                       "\"]; expected wire, partners, fragments, patience or quorum");
  }
  return options;
}

}  // namespace heatpp::python
