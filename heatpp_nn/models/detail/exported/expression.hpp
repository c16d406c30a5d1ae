#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace heatpp::nn::detail {

/// A whole number in an exported program: a constant, a symbol whose value is known in a call, or what follows from
/// them, e.g. 2*s17.
struct Expression {
  enum class Kind { number, symbol, call, text };
  Kind kind = Kind::number;
  std::int64_t number = 0;
  std::string name = {};               ///< of a symbol or of SymPy's function; for `text`, what could not be read
  std::vector<Expression> parts = {};  ///< the function's arguments

  [[nodiscard]] bool is_number() const { return kind == Kind::number; }
};

/// Reads what SymPy's srepr writes: "Mul(Integer(2), Symbol('s17', positive=True))". Other text is kept as it is.
[[nodiscard]] Expression expression_of(const std::string& text);
/// Returns it as Python writes it: "2*s17", which is also its name in an archive's range_constraints.
[[nodiscard]] std::string to_text(const Expression& expression);
[[nodiscard]] std::set<std::string> symbols_of(const Expression& expression);

using SymbolValues = std::map<std::string, std::int64_t>;
/// Returns the value. Returns nullopt if a symbol or function is unknown, and beyond 64 bits.
[[nodiscard]] std::optional<std::int64_t> value_of(const Expression& expression, const SymbolValues& symbols);

/// factor * symbol + offset, with a positive factor.
struct Linear {
  std::string symbol;
  std::int64_t factor = 1, offset = 0;
  /// Returns the symbol's value for a value of the expression; nullopt if it is no whole number of at least 0.
  [[nodiscard]] std::optional<std::int64_t> solved_for(std::int64_t value) const;
};
/// Returns this form of an expression, which all derived sizes of torch.export.Dim have; nullopt for other forms.
[[nodiscard]] std::optional<Linear> linear_in(const Expression& expression);

}  // namespace heatpp::nn::detail
