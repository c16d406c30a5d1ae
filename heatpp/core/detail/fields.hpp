#pragma once

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/alike.hpp>

#include <concepts>
#include <filesystem>
#include <functional>
#include <optional>
#include <ranges>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace heatpp::detail {

/// A field of an options struct. All ranks must give it the same value, unless it is `own`.
template <class Options, class Value, bool is_own = false>
struct Field {
  const char* name;
  Value Options::*member;
  static constexpr bool own = is_own;
};
template <class Options, class Value>
Field(const char*, Value Options::*) -> Field<Options, Value>;
/// Returns a field that may differ between ranks.
template <class Options, class Value>
[[nodiscard]] constexpr Field<Options, Value, true> own_field(const char* name, Value Options::*member) {
  return {name, member};
}

/// The description of the fields of an options struct: a specialization is a tuple of Field, in the order of the
/// struct. What compares, prints, checks or stores the options goes through it. A field that it lacks is an error of
/// the compiler.
template <class Options>
inline constexpr auto fields_of = nullptr;

/// Stands for any value, to count the fields of an aggregate.
struct AnyValue {
  template <class T>
  operator T&() const&& noexcept;  // NOLINT: conversion intended
};
template <class T, std::size_t... i>
[[nodiscard]] consteval bool takes_values(std::index_sequence<i...>) {
  return requires { T{(static_cast<void>(i), AnyValue{})...}; };
}
/// Returns the number of fields of an aggregate.
template <class T, std::size_t n = 0>
[[nodiscard]] consteval std::size_t field_count() {
  if constexpr (takes_values<T>(std::make_index_sequence<n + 1>())) return field_count<T, n + 1>();
  else return n;
}

/// The names of the values of an enumeration that counts from 0: a specialization is an array of texts.
template <class Enumeration>
inline constexpr auto choice_names = nullptr;

template <class T>
concept Named = !std::same_as<std::remove_cvref_t<decltype(choice_names<T>)>, std::nullptr_t>;
template <class T>
concept Described = !std::same_as<std::remove_cvref_t<decltype(fields_of<std::remove_cvref_t<T>>)>, std::nullptr_t>;

/// Calls `visit(field, value)` for each field.
template <class Options>
requires Described<Options>
void for_each_field(Options&& options, auto&& visit) {
  using Plain = std::remove_cvref_t<Options>;
  static_assert(std::tuple_size_v<std::remove_cvref_t<decltype(fields_of<Plain>)>> == field_count<Plain>(),
                "fields_of lacks a field of the options, or has too many");
  std::apply([&](const auto&... field) { (visit(field, options.*field.member), ...); }, fields_of<Plain>);
}

/// How values of a type are written that has no function `name` and no description; specializations have `of(value)`.
template <class T>
struct FieldText;

template <class T>
[[nodiscard]] std::string field_text(const T& value);

/// Returns the values of options as "(patience 3, mode min)".
[[nodiscard]] std::string fields_text(const Described auto& options) {
  std::string text;
  for_each_field(options, [&](const auto& field, const auto& value) {
    text += formatted("{}{} {}", text.empty() ? "" : ", ", field.name, field_text(value));
  });
  return "(" + text + ")";
}

/// Returns a text in quotes; quotes inside are doubled, so that lists of other texts differ.
[[nodiscard]] inline std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const auto c : text) result.append(c == '"' ? 2 : 1, c);
  return result + "\"";
}

/// Returns the value of a field for messages and comparisons; equal texts mean equal values. Functions and pointers are
/// "some" or "none".
template <class T>
std::string field_text(const T& value) {
  if constexpr (requires { FieldText<T>::of(value); }) return FieldText<T>::of(value);
  else if constexpr (Named<T>) return choice_names<T>.at(static_cast<std::size_t>(value));
  else if constexpr (requires { std::string(name(value)); }) return std::string(name(value));
  else if constexpr (Described<T>) return fields_text(value);
  else if constexpr (std::same_as<T, std::string>) return quoted(value);
  else if constexpr (std::same_as<T, char>) return value == '\0' ? "none" : quoted({value});
  else if constexpr (std::same_as<T, std::filesystem::path>) return formatted("\"{}\"", value.string());
  else if constexpr (requires {
                       value.has_value();
                       *value;
                     })
    return value ? field_text(*value) : "none";
  else if constexpr (std::ranges::range<T>) {
    std::string text;
    for (const auto& each : value) text += (text.empty() ? "" : ", ") + field_text(each);
    return "[" + text + "]";
  } else if constexpr (std::is_arithmetic_v<T>) return formatted("{}", value);
  else return static_cast<bool>(value) ? "some" : "none";
}

template <class T>
struct OptionalOf;
template <class T>
struct OptionalOf<std::optional<T>> {
  using Value = T;
};
template <class T>
concept DescribedOptional = requires {
  typename OptionalOf<T>::Value;
}
&&Described<typename OptionalOf<T>::Value>;

/// Appends the fields that must be equal on all ranks, always the same number. Those of options in options are named
/// "merge.alpha".
void add_settings(const Described auto& options, const std::string& prefix, std::vector<Setting>& settings) {
  for_each_field(options, [&]<class Value>(const auto& field, const Value& value) {
    const auto name = prefix + field.name;
    if constexpr (std::remove_cvref_t<decltype(field)>::own) return;
    else if constexpr (Described<Value>) add_settings(value, name + ".", settings);
    else if constexpr (DescribedOptional<Value>) {
      settings.push_back({name, value ? "some" : "none"});
      add_settings(value.value_or(typename OptionalOf<Value>::Value()), name + ".", settings);
    } else settings.push_back({name, field_text(value)});
  });
}

/// Returns the fields that must be equal on all ranks, for check_agreed.
[[nodiscard]] std::vector<Setting> settings_of(const Described auto& options) {
  std::vector<Setting> settings;
  add_settings(options, "", settings);
  return settings;
}

/// Returns the names of the fields whose values differ from the defaults.
template <Described Options>
[[nodiscard]] std::vector<std::string> fields_given(const Options& options) {
  const Options defaults{};
  std::vector<std::string> names;
  for_each_field(options, [&](const auto& field, const auto& value) {
    if (field_text(value) != field_text(defaults.*field.member)) names.emplace_back(field.name);
  });
  return names;
}

/// Copies the fields of `from` that `to` has under the same name with the same type.
template <Described From, Described To>
void copy_fields(const From& from, To& to) {
  for_each_field(from, [&](const auto& field, const auto& value) {
    for_each_field(to, [&](const auto& target, auto& into) {
      if constexpr (std::same_as<std::remove_cvref_t<decltype(into)>, std::remove_cvref_t<decltype(value)>>)
        if (std::string_view(field.name) == target.name) into = value;
    });
  });
}

}  // namespace heatpp::detail
