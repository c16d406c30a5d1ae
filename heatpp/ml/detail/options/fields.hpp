#pragma once

#include <heatpp/core/detail/fields.hpp>
#include <heatpp/ml/detail/classes.hpp>
#include <heatpp/ml/detail/state.hpp>

namespace heatpp::ml::detail {

/// Returns the options as a model's state has them, except `own` fields.
[[nodiscard]] std::map<std::string, std::string> texts_of(const heatpp::detail::Described auto& options) {
  std::map<std::string, std::string> texts;
  heatpp::detail::for_each_field(options, [&]<class Value>(const auto& field, const Value& value) {
    if constexpr (std::remove_cvref_t<decltype(field)>::own) return;
    else if constexpr (heatpp::detail::Named<Value>) texts.emplace(field.name, heatpp::detail::field_text(value));
    else texts.emplace(field.name, text_of(value));
  });
  return texts;
}

/// Reads the options that texts_of has written; `own` fields get their defaults. Throws ValueError as StateReader.
template <heatpp::detail::Described Options>
[[nodiscard]] Options options_from(const StateReader& read) {
  Options options;
  heatpp::detail::for_each_field(options, [&]<class Value>(const auto& field, Value& value) {
    if constexpr (std::remove_cvref_t<decltype(field)>::own) return;
    else if constexpr (std::same_as<Value, ClassWeights>) value = class_weights_from(read.op(), read.text(field.name));
    else if constexpr (heatpp::detail::Named<Value>)
      value = read.choice<Value>(field.name, heatpp::detail::choice_names<Value>);
    else value = read.option<Value>(field.name);
  });
  return options;
}

}  // namespace heatpp::ml::detail
