#pragma once

#include <heatpp/core/dndarray.hpp>
#include <concepts>
#include <iosfwd>
#include <string_view>

namespace heatpp {

/// How arrays are printed.
struct PrintOptions {
  int precision = 4;                            ///< digits after the decimal point
  std::int64_t threshold = 1000;                ///< arrays with more elements are summarized
  std::int64_t edgeitems = 3;                   ///< elements shown at each end of a summarized axis
  std::size_t linewidth = 100;                  ///< characters of a line, after which a row goes on in the next
  std::optional<bool> sci_mode = std::nullopt;  ///< exponents; nullopt: as NumPy, for large, small and mixed sizes
};
/// Sets how arrays are printed from now on. Throws ValueError for a negative precision or edgeitems.
void set_printoptions(const PrintOptions& options);
/// Returns how arrays are printed.
[[nodiscard]] PrintOptions get_printoptions();

/// Returns the elements in nested brackets with shape, dtype and split behind them, as HeAT prints arrays; the same
/// text on every rank. Collective: only the elements shown are gathered.
[[nodiscard]] std::string to_string(const DNDarray& x);

namespace detail {
[[nodiscard]] inline std::string text_of(const DNDarray& x) { return to_string(x); }
[[nodiscard]] inline std::string text_of(const Shape& shape) { return to_string(shape); }
[[nodiscard]] inline std::string text_of(std::string_view text) { return std::string(text); }
[[nodiscard]] std::string text_of(const Scalar& number);
template <class Value>
[[nodiscard]] const DNDarray* array_in(const Value& value) {
  if constexpr (std::derived_from<Value, DNDarray>) return &value;
  else return nullptr;
}
/// Prints texts with blanks between them on rank 0 of the array's communicator; of the program if it is null.
void print_line(const std::vector<std::string>& texts, const DNDarray* array);
}  // namespace detail

/// Writes to_string to a stream, on every rank. Collective.
std::ostream& operator<<(std::ostream& out, const DNDarray& x);

/// Prints to standard output on rank 0 of the array's communicator. Collective.
void print(const DNDarray& x);
/// Prints a line to standard output on rank 0 of the program. Local.
void print(std::string_view text);
/// Prints arrays, shapes, text and numbers in one line, with blanks between them, on rank 0 of the first array's
/// communicator, or of the program if there is no array. Collective if there is an array.
template <class... Values>
requires requires(const Values&... values) { (detail::text_of(values), ...); }
void print(const Values&... values) {
  const DNDarray* array = nullptr;
  ((array = array ? array : detail::array_in(values)), ...);
  detail::print_line({detail::text_of(values)...}, array);
}

/// Sets what later calls print: `to_string` shows each rank its own block, with the rank in front, and `print` prints
/// on every rank; or, as at the beginning, the whole array. These are HeAT's names.
void local_printing();
void global_printing();
/// Prints on rank 0 alone in both cases. Collective.
void print0(const DNDarray& x);
inline void print0(std::string_view text) { print(text); }

}  // namespace heatpp
