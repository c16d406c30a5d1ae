#pragma once

#include <heatpp/ml/detail/fitted.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>

namespace heatpp::ml::detail {

/// Returns a number as text that reads back exactly, "true" or "false", or a dtype's name.
template <class T>
[[nodiscard]] std::string text_of(T value) {
  if constexpr (std::same_as<T, Dtype>) return std::string(name(value));
  else return heatpp::detail::formatted("{}", value);
}

template <class T>
[[nodiscard]] std::string text_of(const std::optional<T>& value) {
  return value ? text_of(*value) : "none";
}

/// Reads the state of an estimator of this class. Throws ValueError for parts that are missing or wrong, since a state
/// may come from a file. Options that older states lack ("converged", "class_weight") get the value of the earlier
/// behavior.
class StateReader {
 public:
  StateReader(const char* kind, const ModelState& state);
  [[nodiscard]] const Method& op() const { return op_; }  ///< "Class.from_state"
  // Whether the state has this option. States of earlier versions lack newer options.
  [[nodiscard]] bool has_option(const char* name) const { return state_.options.contains(name); }
  [[nodiscard]] bool has_array(const char* name) const { return state_.arrays.contains(name); }

  template <class T>
  [[nodiscard]] T option(const char* name) const {
    const auto& text = text_of_option(name);
    if constexpr (std::same_as<T, bool>) {
      if (text != "true" && text != "false") refuse(name, text);
      return text == "true";
    } else if constexpr (std::same_as<T, Dtype>) {
      if (text != "float32" && text != "float64") refuse(name, text);
      return text == "float32" ? float32 : float64;
    } else return number<T>(name, text);
  }
  [[nodiscard]] const std::string& text(const char* name) const { return text_of_option(name); }
  /// Returns the choice whose name the option has; older states have its position among the names.
  template <class Choice, std::size_t n>
  [[nodiscard]] Choice choice(const char* name, const std::array<const char*, n>& names) const {
    const auto& text = text_of_option(name);
    for (std::size_t i = 0; i < n; ++i)
      if (text == names[i] || text == std::to_string(i)) return static_cast<Choice>(i);
    refuse(name, text);
  }
  /// Returns numbers that are separated by spaces.
  template <class T>
  [[nodiscard]] std::vector<T> numbers(const char* name) const {
    return numbers_in<T>(name, text_of_option(name));
  }
  template <class T>
  [[nodiscard]] std::vector<T> numbers_in(const char* name, std::string_view text) const {
    std::vector<T> numbers;
    while (!text.empty()) {
      const auto length = std::min(text.find(' '), text.size());
      numbers.push_back(number<T>(name, std::string(text.substr(0, length))));
      text.remove_prefix(std::min(length + 1, text.size()));
    }
    return numbers;
  }
  /// Returns floating numbers of this shape, on every rank; -1 stands for any extent. Collective if they are split.
  [[nodiscard]] DNDarray array(const char* name, const Shape& shape) const;
  /// Returns whole numbers of this shape as int64, on every rank.
  [[nodiscard]] DNDarray whole_numbers(const char* name, const Shape& shape) const;
  /// Returns floating numbers whose last axis has this extent, cut as they are.
  [[nodiscard]] DNDarray fields(const char* name, std::int64_t last) const;

 private:
  template <class T>
  [[nodiscard]] T number(const char* name, const std::string& text) const {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) refuse(name, text);
    return value;
  }
  [[nodiscard]] const DNDarray& found(const char* name) const;
  [[nodiscard]] DNDarray checked(const char* name, const Shape& shape, bool floating) const;
  [[nodiscard]] const std::string& text_of_option(const char* name) const;
  [[noreturn]] void refuse(const char* name, const std::string& text) const;
  const char* kind_;
  Method op_;
  const ModelState& state_;
};

}  // namespace heatpp::ml::detail
