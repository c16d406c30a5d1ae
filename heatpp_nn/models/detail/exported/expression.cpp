#include <heatpp_nn/models/detail/exported/expression.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/models/detail/exported/graph/numbers.hpp>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string_view>

namespace heatpp::nn::detail {
namespace {

using heatpp::detail::formatted;

using Kind = Expression::Kind;

constexpr int deepest = 64;
// How tightly the operators bind, as in Python.
constexpr int sum_rank = 1, quotient_rank = 2, product_rank = 3, power_rank = 4, atom_rank = 5;

/// Reads SymPy's srepr from left to right. Throws std::invalid_argument for other text.
class SreprReader {
 public:
  explicit SreprReader(std::string_view text) : rest_(text) {}

  Expression whole() {
    auto expression = call(0);
    if (!rest_.empty()) fail();
    return expression;
  }

 private:
  [[noreturn]] static void fail() { throw std::invalid_argument("no expression"); }

  bool take(std::string_view text) {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  std::string_view until(std::string_view ends) {
    const auto end = std::min(rest_.find_first_of(ends), rest_.size());
    const auto found = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return found;
  }

  Expression call(int depth) {
    if (depth > deepest) fail();
    static_cast<void>(take(""));
    const std::string name(until("(),"));
    if (!take("(")) fail();
    if (name == "Integer") return integer();
    if (name == "Symbol") return symbol();
    Expression made{.kind = Kind::call, .name = name};
    while (!take(")")) {
      made.parts.push_back(call(depth + 1));
      if (!take(",") && !rest_.starts_with(')')) fail();
    }
    return made;
  }

  Expression integer() {
    const auto text = until(")");
    Expression made;
    const auto* const end = text.data() + text.size();
    if (std::from_chars(text.data(), end, made.number).ptr != end || text.empty() || !take(")")) fail();
    return made;
  }

  /// Reads a symbol's name and leaves out its assumptions.
  Expression symbol() {
    if (!take("'")) fail();
    Expression made{.kind = Kind::symbol, .name = std::string(until("'"))};
    static_cast<void>(until(")"));
    if (made.name.empty() || !take(")")) fail();
    return made;
  }

  std::string_view rest_;
};

int rank_of(const Expression& e) {
  if (e.kind == Kind::number) return e.number < 0 ? sum_rank : atom_rank;
  if (e.kind != Kind::call) return atom_rank;
  if (e.name == "Add") return sum_rank;
  if (e.name == "FloorDiv" || e.name == "Mod" || e.name == "PythonMod") return quotient_rank;
  if (e.name == "Mul") return product_rank;
  return e.name == "Pow" ? power_rank : atom_rank;
}

/// Returns the text of a part, in parentheses if it binds less tightly than `rank`.
std::string inside(const Expression& e, int rank) {
  const auto text = to_text(e);
  return rank_of(e) < rank ? formatted("({})", text) : text;
}

std::string joined(const Expression& e, const char* between, int rank) {
  std::string text;
  for (const auto& part : e.parts) text += (text.empty() ? "" : between) + inside(part, rank);
  return text;
}

std::string sum_text(const Expression& e) {
  std::string text;
  for (const auto& part : e.parts) {
    auto term = to_text(part);
    if (text.empty()) text = term;
    else text += term.starts_with('-') ? " - " + term.substr(1) : " + " + term;
  }
  return text;
}

std::string product_text(const Expression& e) {
  const bool negative = e.parts.size() > 1 && e.parts.front().is_number() && e.parts.front().number < 0 &&
                        e.parts.front().number > INT64_MIN;
  if (!negative) return joined(e, "*", product_rank);
  auto positive = e;
  positive.parts.front().number *= -1;
  if (positive.parts.front().number == 1) positive.parts.erase(positive.parts.begin());
  return formatted("-{}", joined(positive, "*", product_rank));
}

std::string call_text(const Expression& e) {
  const bool pair = e.parts.size() == 2;
  if (e.name == "Add" && !e.parts.empty()) return sum_text(e);
  if (e.name == "Mul" && !e.parts.empty()) return product_text(e);
  if (rank_of(e) == quotient_rank && pair)
    return inside(e.parts[0], product_rank) + (e.name == "FloorDiv" ? "//" : " % ") + inside(e.parts[1], power_rank);
  if (e.name == "Pow" && pair) return inside(e.parts[0], atom_rank) + "**" + inside(e.parts[1], atom_rank);
  return formatted("{}({})", e.name, joined(e, ", ", sum_rank));
}

/// Returns the function that a graph's nodes call for the same.
NumberFunction function_of(const std::string& name) {
  static const std::map<std::string, std::string> known{{"Add", "_operator.add"},           {"Mul", "_operator.mul"},
                                                        {"FloorDiv", "_operator.floordiv"}, {"Mod", "_operator.mod"},
                                                        {"PythonMod", "_operator.mod"},     {"Pow", "_operator.pow"},
                                                        {"Max", "torch.sym_max"},           {"Min", "torch.sym_min"}};
  const auto found = known.find(name);
  return found == known.end() ? NumberFunction() : number_function(found->second, 2);
}

std::optional<std::int64_t> result_of(const Expression& e, const SymbolValues& symbols) {
  const auto function = function_of(e.name);
  std::optional<std::int64_t> result;
  for (const auto& part : e.parts) {
    const auto value = value_of(part, symbols);
    if (!value || !function) return std::nullopt;
    if (!result) {
      result = value;
      continue;
    }
    const auto found = function({*result, *value});
    if (!found.isInt()) return std::nullopt;
    result = found.toInt();
  }
  return result;
}

/// Returns the degree as a polynomial of sums and products; for other functions, a degree above 1.
int degree_of(const Expression& e) {
  if (e.kind != Kind::call) return e.kind == Kind::number ? 0 : 1;
  int most = 0, all = 0;
  for (const auto& part : e.parts) {
    most = std::max(most, degree_of(part));
    all = std::min(2, all + degree_of(part));
  }
  if (e.name == "Add") return most;
  return e.name == "Mul" ? all : 2;
}

void add_symbols(const Expression& e, std::set<std::string>& symbols) {
  if (e.kind == Kind::symbol) symbols.insert(e.name);
  for (const auto& part : e.parts) add_symbols(part, symbols);
}

}  // namespace

Expression expression_of(const std::string& text) {
  try {
    return SreprReader(text).whole();
  } catch (const std::invalid_argument&) {
    return {.kind = Kind::text, .name = text};
  }
}

std::string to_text(const Expression& expression) {
  if (expression.kind == Kind::number) return std::to_string(expression.number);
  return expression.kind == Kind::call ? call_text(expression) : expression.name;
}

std::set<std::string> symbols_of(const Expression& expression) {
  std::set<std::string> symbols;
  add_symbols(expression, symbols);
  return symbols;
}

std::optional<std::int64_t> value_of(const Expression& expression, const SymbolValues& symbols) {
  if (expression.kind == Kind::number) return expression.number;
  if (expression.kind == Kind::call) try {
      return result_of(expression, symbols);
    } catch (const std::domain_error&) {
      return std::nullopt;
    }
  const auto found = symbols.find(expression.name);
  return found == symbols.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::int64_t> Linear::solved_for(std::int64_t value) const {
  std::int64_t multiple = 0;
  if (__builtin_sub_overflow(value, offset, &multiple) || multiple < 0 || multiple % factor != 0) return std::nullopt;
  return multiple / factor;
}

std::optional<Linear> linear_in(const Expression& expression) {
  const auto symbols = symbols_of(expression);
  if (symbols.size() != 1 || degree_of(expression) != 1) return std::nullopt;
  const auto& symbol = *symbols.begin();
  const auto offset = value_of(expression, {{symbol, 0}}), next = value_of(expression, {{symbol, 1}});
  std::int64_t factor = 0;
  if (!offset || !next || __builtin_sub_overflow(*next, *offset, &factor) || factor < 1) return std::nullopt;
  return Linear{symbol, factor, *offset};
}

}  // namespace heatpp::nn::detail
