#include <heatpp_io/detail/elements/decoding.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp_io/detail/elements/annotations.hpp>

#include <cmath>
#include <functional>

namespace heatpp::io::detail {
namespace {

using Complex = std::complex<double>;

std::vector<Scalar> numbers_in(const Attribute& attribute) {
  return std::visit(
      []<class T>(const T& held) -> std::vector<Scalar> {
        if constexpr (std::is_arithmetic_v<T>) return {Scalar(held)};
        else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::vector<std::string>>) return {};
        else return {held.begin(), held.end()};
      },
      attribute);
}

/// The attributes of one array, and the decoding that they give.
struct Reading {
  const Attributes& said;
  Decoding& made;
  const std::string& what;
  const char* op;

  /// Returns nullptr if there is no attribute of this name.
  [[nodiscard]] const Attribute* find(const char* name) const {
    const auto found = said.find(name);
    return found == said.end() ? nullptr : &found->second;
  }
  [[nodiscard]] std::vector<Scalar> numbers(const char* name) const {
    const auto* found = find(name);
    return found ? numbers_in(*found) : std::vector<Scalar>{};
  }
  [[nodiscard]] std::string text(const char* name) const {
    const auto* found = find(name);
    const auto* text = found ? std::get_if<std::string>(found) : nullptr;
    return text ? *text : "";
  }
  void apply(const char* name) const { made.applied.emplace_back(name); }
};

void take_sign(const Reading& from) {
  const auto text = from.text("_Unsigned");
  const bool yes = text == "true" || text == "True", no = text == "false" || text == "False";
  if (!(yes || no) || !is_whole(from.made.stored.element.dtype)) return;
  from.made.is_unsigned = yes;
  from.apply("_Unsigned");
}

struct Factor {
  std::optional<double> value;
  bool single = false;  ///< whether the file has it as float32
};
Factor factor(const Reading& from, const char* name) {
  const auto* found = from.find(name);
  if (!found) return {};
  const auto numbers = numbers_in(*found);
  if (numbers.size() != 1)
    heatpp::detail::raise<IoError>(from.op,
                                   "got {} numbers in {} of {}; expected 1, or decode = false, which gives the numbers "
                                   "as they are stored",
                                   numbers.size(), name, from.what);
  from.apply(name);
  return {numbers[0].to<double>(), std::holds_alternative<float>(*found)};
}

/// Returns the dtype that xarray chooses: 32-bit whole numbers with an offset would lose digits in float32.
Dtype packed_dtype(const StoredNumbers& stored, const Factor& scale, const Factor& offset) {
  if (is_complex(stored.element.dtype)) return stored.element.dtype;
  if (!offset.value) return scale.single ? float32 : float64;
  const bool long_numbers = is_whole(stored.element.dtype) && stored.bytes == 4;
  return scale.value && scale.single && offset.single && !long_numbers ? float32 : float64;
}

/// Returns a number as a whole one after _Unsigned. An attribute may also hold it in the file's own type.
std::optional<Scalar> as_whole(const Scalar& number, const Decoding& decoding) {
  const auto bytes = decoding.stored.bytes;
  const auto value = number.to<double>(), all = std::ldexp(1.0, static_cast<int>(8 * bytes));
  if (std::trunc(value) != value) return std::nullopt;
  const bool turned = decoding.is_turned();
  if (decoding.is_unsigned && value < 0 && !turned) return std::nullopt;
  if (decoding.is_unsigned && bytes == 8) return Scalar(value < 0 ? value + all : value);
  const auto shifted = !turned                                     ? 0
                       : decoding.is_unsigned && value < 0         ? all
                       : !decoding.is_unsigned && value >= all / 2 ? -all
                                                                   : 0;
  const auto meant = shifted == 0 ? number : Scalar(value + shifted);
  if (!heatpp::detail::is_in_range(meant, whole_dtype(bytes, decoding.is_unsigned))) return std::nullopt;
  return Scalar(meant.to<std::int64_t>());
}

/// Converts a number of an attribute to the array's type. Returns nullopt if no element can be equal to it.
std::optional<Scalar> as_element(const Scalar& number, const Decoding& decoding) {
  const auto dtype = decoding.stored.element.dtype;
  if (is_whole(dtype)) return as_whole(number, decoding);
  const auto rounded = heatpp::detail::element_of(number, dtype);
  const bool exact = is_complex(dtype) ? Complex(rounded.toComplexDouble()) == number.to<Complex>()
                                       : rounded.toDouble() == number.to<double>();
  return exact ? std::optional(number) : std::nullopt;
}

bool is_nan(const Scalar& number) {
  const auto value = number.to<Complex>();
  return std::isnan(value.real()) || std::isnan(value.imag());
}

/// Adds the numbers that mark missing values. Returns false if there are none except NaN.
bool take_missing(const Reading& from, const char* name) {
  auto numbers = from.numbers(name);
  if (numbers.empty()) return false;
  from.apply(name);
  if (is_complex(from.made.stored.element.dtype) && numbers.size() == 2)
    numbers = {Scalar(Complex(numbers[0].to<double>(), numbers[1].to<double>()))};
  std::erase_if(numbers, is_nan);
  for (const auto& number : numbers)
    if (const auto element = as_element(number, from.made)) from.made.missing.push_back(*element);
  return !numbers.empty();
}

/// Returns a bound that elements can reach; other bounds are ignored.
std::optional<Scalar> bound(const Reading& from, const char* name, std::size_t count, std::size_t at) {
  const auto numbers = from.numbers(name);
  if (numbers.size() != count || is_nan(numbers[at])) return std::nullopt;
  const auto element = as_element(numbers[at], from.made);
  if (element) from.apply(name);
  return element;
}

/// Returns false if there are no bounds. A valid_range has precedence over the others.
bool take_range(const Reading& from) {
  auto& made = from.made;
  if (is_complex(made.stored.element.dtype)) return false;
  made.lowest = bound(from, "valid_range", 2, 0);
  made.highest = bound(from, "valid_range", 2, 1);
  if (!made.lowest && !made.highest) {
    made.lowest = bound(from, "valid_min", 1, 0);
    made.highest = bound(from, "valid_max", 1, 0);
  }
  return made.lowest || made.highest;
}

/// Returns the dtype of numbers without packing: it stays if none can be missing.
Dtype unpacked_dtype(const Decoding& decoding, bool may_miss) {
  const auto& [element, bytes, ignored] = decoding.stored;
  if (!is_whole(element.dtype)) return element.dtype;
  if (!may_miss) return whole_dtype(bytes, decoding.is_unsigned);
  return bytes <= 2 ? float32 : float64;
}

std::int64_t digest_of(const Attributes& said, const Decoding& decoding) {
  std::string text;
  for (const auto& name : decoding.applied) text += name + "=" + to_text(said.at(name)) + ";";
  return text.empty() ? 0 : static_cast<std::int64_t>(std::hash<std::string>()(text) | 1);
}

}  // namespace

bool Decoding::is_active() const {
  return dtype != stored.element.dtype || is_turned() || scale || offset || !missing.empty() || lowest || highest;
}

ElementType Decoding::element() const { return {dtype, dtype == int64 && is_unsigned && stored.bytes == 8}; }

Decoding decoding_of(const Attributes& said, const StoredNumbers& stored, const std::string& what, const char* op) {
  Decoding made{.stored = stored, .dtype = stored.element.dtype, .is_unsigned = stored.is_unsigned};
  const Reading from{said, made, what, op};
  const bool said_bool = from.text("dtype") == "bool" && is_whole(stored.element.dtype);
  if (said_bool) from.apply("dtype");
  if (stored.element.dtype == bool_) return made;
  if (said_bool) {
    made.dtype = bool_;
    made.digest = digest_of(said, made);
    return made;
  }
  take_sign(from);
  const auto scale = factor(from, "scale_factor"), offset = factor(from, "add_offset");
  made.scale = scale.value;
  made.offset = offset.value;
  bool may_miss = false;
  for (const auto* name : {"_FillValue", "missing_value"}) may_miss = take_missing(from, name) || may_miss;
  may_miss = take_range(from) || may_miss;
  const bool packed = made.scale || made.offset;
  made.dtype = packed ? packed_dtype(stored, scale, offset) : unpacked_dtype(made, may_miss);
  made.digest = digest_of(said, made);
  return made;
}

Decoding undecoded(const Decoding& decoding) {
  if (decoding.is_flag()) return decoding;
  return {
      .stored = decoding.stored, .dtype = decoding.stored.element.dtype, .is_unsigned = decoding.stored.is_unsigned};
}

Dtype whole_dtype(std::int64_t bytes, bool is_unsigned) {
  if (bytes == 1) return is_unsigned ? uint8 : int8;
  if (bytes == 2) return is_unsigned ? int32 : int16;
  return bytes == 4 && !is_unsigned ? int32 : int64;
}

}  // namespace heatpp::io::detail
