// The bits of an element, which depend neither on how many elements its rank has nor on the number of threads.
#include "../../support.hpp"
#include "fusing.hpp"

#include <heatpp/core/detail/host/threads.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/elementwise/in_place.hpp>
#include <heatpp/ops/elementwise/operators.hpp>
#include <heatpp/ops/operands/index.hpp>

#include <fmt/format.h>

namespace {

using Blocks = std::vector<ht::DNDarray>;
struct Case {
  std::string_view name;
  ht::DNDarray (*of)(const Blocks&);
};

template <ht::DNDarray& (*f)(ht::DNDarray&, const ht::Operand&)>
ht::DNDarray written(const Blocks& x) {
  auto result = ht::copy(x[0]);
  return f(result, x[1]);
}

#define HEATPP_UNARY(name, function) {#name, [](const Blocks& x) { return ht::name(x[0]); }},
#define HEATPP_BINARY(name, function, numbers) {#name, [](const Blocks& x) { return ht::name(x[0], x[1]); }},
const Case cases[] = {
#include <heatpp/ops/elementwise/elementwise.inc>
    {"clip", [](const Blocks& x) { return ht::clip(x[0], x[1], std::nullopt); }},
    {"nan_to_num", [](const Blocks& x) { return ht::nan_to_num(x[0]); }},
    {"modf", [](const Blocks& x) { return ht::modf(x[0]).first; }},
    {"frexp", [](const Blocks& x) { return ht::frexp(x[0]).first; }},
    {"where", [](const Blocks& x) { return ht::where(x[0] == x[1], x[0], x[1]); }},
    {"number * x", [](const Blocks& x) { return 1.7 * x[0]; }},
    {"x / number", [](const Blocks& x) { return x[0] / 1.7; }},
    {"number ** x", [](const Blocks& x) { return ht::power(1.7, x[0]); }},
    {"x ** number", [](const Blocks& x) { return ht::power(x[0], 1.7); }},
    {"hypot_", [](const Blocks& x) { return written<ht::hypot_>(x); }},
    {"multiply_", [](const Blocks& x) { return written<ht::multiply_>(x); }},
    {"divide_", [](const Blocks& x) { return written<ht::divide_>(x); }},
    {"power_", [](const Blocks& x) { return written<ht::power_>(x); }},
    {"formula", [](const Blocks& x) { return ht::sinh(x[0] * 2) - ht::cosh(x[0]) * ht::exp2(ht::arctanh(x[0])); }}};
#undef HEATPP_UNARY
#undef HEATPP_BINARY

/// Returns numbers of many magnitudes, of which a tenth is beyond the domains of arcsin and arctanh.
at::Tensor numbers(const ht::Shape& shape, at::ScalarType type, int seed) {
  const auto n = ht::size_of(shape);
  const auto wave = [&](double step) { return at::sin(at::arange(n, at::kDouble) * step + seed); };
  const auto real = wave(0.731) * at::exp2(wave(0.417) * 3 - 1);
  return (at::isComplexType(type) ? at::complex(real, wave(1.313) * 2) : real).reshape(shape).to(type);
}

/// Returns the bits, in which every NaN is the same.
at::Tensor bits_of(const at::Tensor& x) {
  const auto parts = (x.is_complex() ? at::view_as_real(x.resolve_conj()) : x).contiguous();
  if (!parts.is_floating_point()) return parts;
  const auto type = parts.element_size() == 8 ? at::kLong : parts.element_size() == 4 ? at::kInt : at::kShort;
  return parts.view(type).masked_fill(parts.isnan(), -1);
}

/// Returns f of the blocks, or nullopt if the function does not take this dtype.
std::optional<ht::DNDarray> value(const Case& function, const Blocks& operands) {
  try {
    return function.of(operands);
  } catch (const ht::TypeError&) {
    return std::nullopt;
  }
}

bool is_of_whole_numbers(std::string_view name) {
  return name.starts_with("bitwise_") || name.ends_with("_shift") || name == "gcd" || name == "lcm" || name == "ldexp";
}

/// Whether this rank's block has the bits of its part of `expected`.
bool has_bits(const ht::DNDarray& x, const at::Tensor& expected) {
  return at::equal(bits_of(x.larray()), bits_of(distribute(expected.reshape(x.shape()), x.layout()).larray()));
}

/// Returns the functions of which elements have other bits in these layouts than in a long array.
std::string differing(at::ScalarType type, const ht::Shape& shape) {
  const auto n = ht::size_of(shape);
  const auto layouts = every_layout(shape);
  const auto a = numbers({4096}, type, 1), b = numbers({4096}, type, 2);
  std::string names;
  for (const auto& function : cases) {
    const auto whole = value(function, {on_all(a), on_all(b)});
    for (const auto& layout : layouts) {
      const auto stored = [&](const at::Tensor& x) { return distribute(x.narrow(0, 0, n).reshape(shape), layout); };
      const auto cut = value(function, {stored(a), stored(b)});
      if (cut.has_value() != whole.has_value() || (cut && !has_bits(*cut, whole->larray().narrow(0, 0, n))))
        names += fmt::format(" {}", function.name);
    }
  }
  return names;
}

constexpr at::ScalarType types[] = {at::kFloat,        at::kDouble,        at::kHalf, at::kBFloat16,
                                    at::kComplexFloat, at::kComplexDouble, at::kInt};

}  // namespace

TEST_CASE("elements have the same bits in blocks of any length", "[ops][whole_vectors]") {
  for (const auto type : types)
    for (const std::int64_t n : {1, 3, 31, 63, 64, 65, 130, 259}) {
      CAPTURE(at::toString(type), n);
      CHECK(differing(type, {n}) == "");
    }
}

TEST_CASE("elements have the same bits in every layout of two axes", "[ops][whole_vectors]") {
  for (const auto type : types) CHECK(differing(type, {37, 7}) == "");
}

TEST_CASE("elements have the same bits on several threads, at once and in formulas", "[ops][whole_vectors][host]") {
  constexpr std::int64_t n = 66'005;  // enough for three threads
  for (const auto type : types) {
    const auto a = numbers({n}, type, 1), b = numbers({n}, type, 2);
    for (const auto& function : cases) {
      CAPTURE(at::toString(type), function.name);
      const auto some = [&](bool fused, int threads, std::int64_t first, std::int64_t count) {
        const Fusing fusing(fused);
        const ht::detail::ThreadsInScope several(threads);
        const auto result = value(function, {on_all(a.narrow(0, first, count)), on_all(b.narrow(0, first, count))});
        CHECK((result || type != at::kDouble || is_of_whole_numbers(function.name)));
        return result ? bits_of(result->larray()) : at::zeros({count});
      };
      const auto all = some(false, 1, 0, n);
      CHECK(at::equal(some(false, 3, 0, n), all));
      CHECK(at::equal(some(true, 3, 0, n), all));
      CHECK(at::equal(some(true, 1, 0, n), all));
      CHECK(at::equal(some(true, 1, 41, 10'001), all.narrow(0, 41, 10'001)));
      CHECK(at::equal(some(false, 1, 41, 41), all.narrow(0, 41, 41)));
    }
  }
}
