#pragma once

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <c10/util/complex.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdlib>
#include <heatpp_io/csv/detail/csv_fields.hpp>
#include <heatpp_io/csv/detail/short_numbers.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace heatpp::io::detail {

template <class T>
concept NarrowFloat = std::same_as<T, c10::Half> || std::same_as<T, c10::BFloat16>;
template <class T>
concept ComplexNumber = std::same_as<T, c10::complex<float>> || std::same_as<T, c10::complex<double>>;

/// Takes a number from the beginning of `text`. If there is no number that T can hold, returns false and leaves `text`
/// unchanged. Floats out of range become infinite or zero.
template <class T>
bool take_number(std::string_view& text, T& value) {
  if constexpr (ShortNumber<T>)
    if (take_short(text, value)) return true;
  const auto body = text.substr(text.size() > 1 && text[0] == '+' && text[1] != '-' ? 1 : 0);
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  if (error == std::errc::invalid_argument || (error != std::errc() && std::integral<T>)) return false;
  if (*(end - 1) == ')') return false;  // "nan(text)" of C
  if (error != std::errc()) value = static_cast<T>(std::strtod(std::string(body.data(), end).c_str(), nullptr));
  text = std::string_view(end, static_cast<std::size_t>(text.data() + text.size() - end));
  return true;
}

/// Whether all of `text` is a number of type T. If so, `value` is this number.
template <class T>
bool parse_number(std::string_view text, T& value) {
  return take_number(text, value) && text.empty();
}
inline bool parse_number(std::string_view text, bool& value) {
  value = text == "1" || text == "True" || text == "true" || text == "TRUE";
  return value || text == "0" || text == "False" || text == "false" || text == "FALSE";
}
template <NarrowFloat T>
bool parse_number(std::string_view text, T& value) {
  double wide = 0;
  if (!parse_number(text, wide)) return false;
  // If bits are lost, the last bit is set. So the second rounding never sees a false tie.
  auto narrow = static_cast<float>(wide);
  if (narrow != wide && std::isfinite(narrow) && std::bit_cast<std::uint32_t>(narrow) % 2 == 0)
    narrow = std::nextafter(narrow, static_cast<float>(narrow < wide ? INFINITY : -INFINITY));
  value = static_cast<T>(narrow);
  return true;
}
/// Takes a complex number: "1.5", "2j", "1-2j", or "1+-2j" as some programs write it. Parentheses may enclose it, with
/// blanks inside them.
template <ComplexNumber T>
bool parse_number(std::string_view text, T& value) {
  if (text.size() > 2 && text.front() == '(' && text.back() == ')') text = stripped(text.substr(1, text.size() - 2));
  typename T::value_type first = 0, second = 0;
  if (!take_number(text, first)) return false;
  if (text.starts_with("+-")) text.remove_prefix(1);
  if (text == "j") value = T(0, first);
  else if (text.empty()) value = T(first, 0);
  else if (take_number(text, second) && text == "j") value = T(first, second);
  else return false;
  return true;
}

/// Appends the shortest text from which the same number is read, or a text with `decimals` decimals.
template <class T>
void append_number(std::string& text, T value, std::optional<int> decimals) {
  constexpr std::size_t longest = 330;  // digits of the largest double
  const auto before = text.size();
  text.resize(before + longest + static_cast<std::size_t>(decimals.value_or(0)));
  auto* const first = text.data() + before;
  auto* const last = text.data() + text.size();
  std::to_chars_result done{};
  if constexpr (std::integral<T>) done = std::to_chars(first, last, value);
  else
    done = decimals ? std::to_chars(first, last, value, std::chars_format::fixed, *decimals)
                    : std::to_chars(first, last, value);
  text.resize(static_cast<std::size_t>(done.ptr - text.data()));
}
inline void append_number(std::string& text, bool value, std::optional<int>) { text.push_back(value ? '1' : '0'); }
template <NarrowFloat T>
void append_number(std::string& text, T value, std::optional<int> decimals) {
  append_number(text, static_cast<float>(value), decimals);
}
template <ComplexNumber T>
void append_number(std::string& text, T value, std::optional<int> decimals) {
  append_number(text, value.real(), decimals);
  const auto middle = text.size();
  append_number(text, value.imag(), decimals);
  if (text[middle] != '-') text.insert(middle, 1, '+');
  text.push_back('j');
}

}  // namespace heatpp::io::detail
