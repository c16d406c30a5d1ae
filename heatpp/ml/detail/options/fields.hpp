#pragma once

#include <heatpp/core/detail/fields.hpp>
#include <heatpp/ml/detail/classes.hpp>
#include <heatpp/ml/detail/state.hpp>

namespace heatpp::detail {

template <>
struct FieldText<ClassWeights> {
  static std::string of(const ClassWeights& weights) { return ml::detail::text_of(weights); }
};

}  // namespace heatpp::detail

namespace heatpp::ml::detail {

using Texts = std::map<std::string, std::string>;

/// Returns numbers separated by spaces, each as text_of writes it.
template <class T>
[[nodiscard]] std::string text_of(const std::vector<T>& numbers) {
  std::string text;
  for (const auto& number : numbers) {
    if (!text.empty()) text.push_back(' ');
    text += text_of(number);
  }
  return text;
}

/// How a field is written to a model's state and read from it. A type that takes more than one text, or another one,
/// has a specialization.
template <class Value>
struct StateField {
  static void write(Texts& texts, const char* name, const Value& value) {
    if constexpr (heatpp::detail::Named<Value>) texts.emplace(name, heatpp::detail::field_text(value));
    else texts.emplace(name, text_of(value));
  }
  static Value read(const StateReader& read, const char* name) {
    if constexpr (heatpp::detail::Named<Value>) return read.choice<Value>(name, heatpp::detail::choice_names<Value>);
    else return read.option<Value>(name);
  }
};

/// "none", or the value. Older states have 0 for no whole number, and -1 for no choice.
template <class T>
struct StateField<std::optional<T>> {
  static void write(Texts& texts, const char* name, const std::optional<T>& value) {
    if (value) StateField<T>::write(texts, name, *value);
    else texts.emplace(name, "none");
  }
  static std::optional<T> read(const StateReader& read, const char* name) {
    const auto& text = read.text(name);
    constexpr auto older = heatpp::detail::Named<T> ? "-1" : std::same_as<T, std::int64_t> ? "0" : "none";
    if (text == "none" || text == older) return std::nullopt;
    return StateField<T>::read(read, name);
  }
};

template <class T>
struct StateField<std::vector<T>> {
  static void write(Texts& texts, const char* name, const std::vector<T>& numbers) {
    texts.emplace(name, text_of(numbers));
  }
  static std::vector<T> read(const StateReader& read, const char* name) { return read.numbers<T>(name); }
};

/// Two numbers separated by a space.
template <>
struct StateField<std::pair<double, double>> {
  static void write(Texts& texts, const char* name, const std::pair<double, double>& pair) {
    texts.emplace(name, text_of(std::vector{pair.first, pair.second}));
  }
  static std::pair<double, double> read(const StateReader& read, const char* name) {
    const auto numbers = read.numbers<double>(name);
    if (numbers.size() != 2)
      heatpp::detail::raise<ValueError>(read.op(), "got \"{}\" for {}; expected two numbers", read.text(name), name);
    return {numbers[0], numbers[1]};
  }
};

template <>
struct StateField<ClassWeights> {
  static void write(Texts& texts, const char* name, const ClassWeights& weights) {
    texts.emplace(name, text_of(weights));
  }
  static ClassWeights read(const StateReader& read, const char* name) {
    return class_weights_from(read.op(), read.text(name));
  }
};

/// Returns the options as a model's state has them, except `own` fields.
[[nodiscard]] Texts texts_of(const heatpp::detail::Described auto& options) {
  Texts texts;
  heatpp::detail::for_each_field(options, [&]<class Value>(const auto& field, const Value& value) {
    if constexpr (!std::remove_cvref_t<decltype(field)>::own) StateField<Value>::write(texts, field.name, value);
  });
  return texts;
}

/// Reads the options that texts_of has written. `own` fields get their defaults, and so do those of `later` that an
/// older state lacks. Throws ValueError as StateReader.
template <heatpp::detail::Described Options>
[[nodiscard]] Options options_from(const StateReader& read, std::initializer_list<std::string_view> later = {}) {
  Options options;
  heatpp::detail::for_each_field(options, [&]<class Value>(const auto& field, Value& value) {
    if constexpr (std::remove_cvref_t<decltype(field)>::own) return;
    else if (read.has_option(field.name) || std::ranges::find(later, field.name) == later.end())
      value = StateField<Value>::read(read, field.name);
  });
  return options;
}

/// Throws ValueError on all ranks if a field of the options, except `own` ones, differs between ranks that learn from
/// data that is cut among them: rows, or an array or a matrix. Collective for these: one all-reduce of 24 bytes.
void check_agreed(const char* op, const auto& data, const heatpp::detail::Described auto& options) {
  bool cut;
  if constexpr (requires { data.distributed(); }) cut = data.distributed();
  else cut = data.split().has_value();
  if (cut && data.comm().size() > 1)
    heatpp::detail::check_agreed(op, data.comm(), heatpp::detail::settings_of(options), [] {});
}

}  // namespace heatpp::ml::detail
