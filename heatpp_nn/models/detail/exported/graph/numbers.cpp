#include <heatpp_nn/models/detail/exported/graph/numbers.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>

namespace heatpp::nn::detail {
namespace {

using c10::IValue;
using NumberArguments = std::vector<IValue>;

double real(const IValue& value) { return value.toScalar().toDouble(); }
std::int64_t whole(const IValue& value) { return value.toScalar().toLong(); }
bool truth(const IValue& value) { return value.toScalar().toDouble() != 0; }
bool is_real(const IValue& value) { return value.isDouble(); }

[[noreturn]] void beyond() { throw std::domain_error("a whole number beyond 64 bits"); }

std::int64_t whole_part(double value) {
  if (!(std::abs(value) < 0x1p63)) beyond();
  return static_cast<std::int64_t>(value);
}

/// Computes with whole numbers by `exact`, which tells whether they overflow, and with others by `rounded`.
template <class Exact, class Rounded>
NumberFunction arithmetic(Exact exact, Rounded rounded) {
  return [=](const NumberArguments& a) -> IValue {
    if (is_real(a[0]) || is_real(a[1])) return rounded(real(a[0]), real(a[1]));
    std::int64_t result = 0;
    if (exact(whole(a[0]), whole(a[1]), &result)) beyond();
    return result;
  };
}

template <class Compare>
NumberFunction comparison(Compare compare) {
  return [=](const NumberArguments& a) -> IValue {
    if (is_real(a[0]) || is_real(a[1])) return compare(real(a[0]), real(a[1]));
    return compare(whole(a[0]), whole(a[1]));
  };
}

template <class Round>
NumberFunction rounding(Round round) {
  return
      [=](const NumberArguments& a) -> IValue { return is_real(a[0]) ? IValue(whole_part(round(real(a[0])))) : a[0]; };
}

/// Divides and rounds down, as Python does.
std::int64_t quotient(std::int64_t a, std::int64_t b) {
  if (b == 0) throw std::domain_error("a division by zero");
  if (b == -1 && a == INT64_MIN) beyond();
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

std::int64_t remainder(std::int64_t a, std::int64_t b) { return b == -1 ? 0 : a - b * quotient(a, b); }

bool power(std::int64_t base, std::int64_t exponent, std::int64_t* result) {
  *result = 1;
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(*result, base, result)) return true;
    if (*result == 0 || *result == 1) return false;
  }
  return false;
}

IValue power_of(const NumberArguments& a) {
  if (is_real(a[0]) || is_real(a[1]) || whole(a[1]) < 0) return std::pow(real(a[0]), real(a[1]));
  std::int64_t result = 0;
  if (whole(a[0]) == -1) return whole(a[1]) % 2 ? std::int64_t{-1} : std::int64_t{1};
  if (power(whole(a[0]), whole(a[1]), &result)) beyond();
  return result;
}

IValue true_quotient(const NumberArguments& a) {
  if (real(a[1]) == 0) throw std::domain_error("a division by zero");
  return real(a[0]) / real(a[1]);
}

IValue negative(const NumberArguments& a) {
  if (is_real(a[0])) return -real(a[0]);
  std::int64_t result = 0;
  if (__builtin_sub_overflow(std::int64_t{0}, whole(a[0]), &result)) beyond();
  return result;
}

IValue shifted(const NumberArguments& a, bool left) {
  const auto by = whole(a[1]);
  if (by < 0 || by > 62) throw std::domain_error("a shift by less than 0 or more than 62 bits");
  if (!left) return whole(a[0]) >> by;
  std::int64_t result = 0;
  if (__builtin_mul_overflow(whole(a[0]), std::int64_t{1} << by, &result)) beyond();
  return result;
}

using Functions = std::map<std::pair<std::string, std::size_t>, NumberFunction>;

void add_arithmetic(Functions& all) {
  using I = std::int64_t;
  all[{"_operator.add", 2}] = arithmetic([](I a, I b, I* c) { return __builtin_add_overflow(a, b, c); }, std::plus<>());
  all[{"_operator.sub", 2}] =
      arithmetic([](I a, I b, I* c) { return __builtin_sub_overflow(a, b, c); }, std::minus<>());
  all[{"_operator.mul", 2}] =
      arithmetic([](I a, I b, I* c) { return __builtin_mul_overflow(a, b, c); }, std::multiplies<>());
  all[{"_operator.floordiv", 2}] = arithmetic([](I a, I b, I* c) { return *c = quotient(a, b), false; },
                                              [](double a, double b) { return std::floor(a / b); });
  all[{"_operator.mod", 2}] = arithmetic([](I a, I b, I* c) { return *c = remainder(a, b), false; },
                                         [](double a, double b) { return a - b * std::floor(a / b); });
  all[{"torch.sym_max", 2}] = arithmetic([](I a, I b, I* c) { return *c = std::max(a, b), false; },
                                         [](double a, double b) { return std::max(a, b); });
  all[{"torch.sym_min", 2}] = arithmetic([](I a, I b, I* c) { return *c = std::min(a, b), false; },
                                         [](double a, double b) { return std::min(a, b); });
  all[{"_operator.truediv", 2}] = true_quotient;
  all[{"_operator.pow", 2}] = power_of;
  all[{"_operator.neg", 1}] = negative;
  all[{"_operator.pos", 1}] = [](const NumberArguments& a) { return a[0]; };
  all[{"_operator.lshift", 2}] = [](const NumberArguments& a) { return shifted(a, true); };
  all[{"_operator.rshift", 2}] = [](const NumberArguments& a) { return shifted(a, false); };
}

void add_truths(Functions& all) {
  all[{"_operator.eq", 2}] = comparison(std::equal_to<>());
  all[{"_operator.ne", 2}] = comparison(std::not_equal_to<>());
  all[{"_operator.lt", 2}] = comparison(std::less<>());
  all[{"_operator.le", 2}] = comparison(std::less_equal<>());
  all[{"_operator.gt", 2}] = comparison(std::greater<>());
  all[{"_operator.ge", 2}] = comparison(std::greater_equal<>());
  all[{"_operator.and_", 2}] = [](const NumberArguments& a) -> IValue {
    return a[0].isBool() ? IValue(truth(a[0]) && truth(a[1])) : IValue(whole(a[0]) & whole(a[1]));
  };
  all[{"_operator.or_", 2}] = [](const NumberArguments& a) -> IValue {
    return a[0].isBool() ? IValue(truth(a[0]) || truth(a[1])) : IValue(whole(a[0]) | whole(a[1]));
  };
  all[{"torch.sym_not", 1}] = [](const NumberArguments& a) -> IValue { return !truth(a[0]); };
  all[{"torch.sym_ite", 3}] = [](const NumberArguments& a) { return truth(a[0]) ? a[1] : a[2]; };
}

void add_conversions(Functions& all) {
  all[{"torch.sym_float", 1}] = [](const NumberArguments& a) -> IValue { return real(a[0]); };
  all[{"torch.sym_int", 1}] = rounding([](double a) { return std::trunc(a); });
  all[{"math.trunc", 1}] = all[{"torch.sym_int", 1}];
  all[{"math.floor", 1}] = rounding([](double a) { return std::floor(a); });
  all[{"math.ceil", 1}] = rounding([](double a) { return std::ceil(a); });
  all[{"builtins.round", 1}] = rounding([](double a) { return std::nearbyint(a); });
  const NumberFunction root = [](const NumberArguments& a) -> IValue {
    if (real(a[0]) < 0) throw std::domain_error("a root of a number below 0");
    return std::sqrt(real(a[0]));
  };
  for (const auto* name : {"torch.sym_sqrt", "torch._sym_sqrt", "math.sqrt"}) all[{name, 1}] = root;
}

}  // namespace

NumberFunction number_function(const std::string& name, std::size_t arguments) {
  static const Functions all = [] {
    Functions functions;
    add_arithmetic(functions);
    add_truths(functions);
    add_conversions(functions);
    return functions;
  }();
  const auto found = all.find({name, arguments});
  return found == all.end() ? NumberFunction() : found->second;
}

}  // namespace heatpp::nn::detail
