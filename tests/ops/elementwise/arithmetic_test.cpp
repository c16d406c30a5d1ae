#include "../../support.hpp"

#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/reductions/arg.hpp>
#include <heatpp/ops/reductions/moments.hpp>
#include <heatpp/ops/reductions/nan.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>

#include <bit>
#include <cmath>

namespace {

constexpr std::int64_t length = 5000;  // several runs of elements on each of four ranks

/// Returns random numbers, equal on all ranks: `bits` of each, spread over the signed numbers of that width.
at::Tensor random_bits(std::int64_t n, int bits, std::uint64_t stream) {
  auto result = at::empty({n}, at::kLong);
  auto state = stream;
  for (std::int64_t i = 0; i < n; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    result.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(state ^ (state >> 31)) >> (64 - bits);
  }
  return result;
}
/// Returns numbers of every exponent, also subnormal and infinite ones and NaN.
at::Tensor random_floats(at::ScalarType type, std::uint64_t stream) {
  if (type == at::kDouble) return random_bits(length, 64, stream).view(at::kDouble);
  return random_bits(length, 32, stream).to(at::kInt).view(at::kFloat);
}

/// Returns f of every element, or pair of elements, in C++.
template <class R, class T, class F>
at::Tensor each(const at::Tensor& x, F f) {
  auto result = at::empty(x.sizes(), c10::CppTypeToScalarType<R>::value);
  std::transform(x.data_ptr<T>(), x.data_ptr<T>() + x.numel(), result.template data_ptr<R>(), f);
  return result;
}
template <class R, class T, class U, class F>
at::Tensor each(const at::Tensor& x, const at::Tensor& y, F f) {
  auto result = at::empty(x.sizes(), c10::CppTypeToScalarType<R>::value);
  std::transform(x.data_ptr<T>(), x.data_ptr<T>() + x.numel(), y.data_ptr<U>(), result.template data_ptr<R>(), f);
  return result;
}

/// Whether the elements differ by at most the distance to the next number.
bool within_one_place(const at::Tensor& x, const at::Tensor& expected) {
  const auto beyond = at::nextafter(at::abs(expected), at::full({}, INFINITY, expected.options()));
  const auto near = at::abs(x - expected) <= beyond - at::abs(expected);
  return near.logical_or(at::eq(x, expected))
      .logical_or(at::isnan(x).logical_and(at::isnan(expected)))
      .all()
      .item<bool>();
}

template <class T>
void check_division(const at::Tensor& a, const at::Tensor& b) {
  using Bits = std::make_unsigned_t<T>;
  const auto quotient = [](T x, T y, bool down) {
    if (y == 0) return T(0);
    const auto wide = static_cast<__int128>(x) / y;
    return static_cast<T>(wide - (down && wide * y != x && (x < 0) != (y < 0)));
  };
  const auto rest = [&](T x, T y, bool down) {
    const auto part = static_cast<std::uint64_t>(quotient(x, y, down)) * static_cast<std::uint64_t>(y);
    return y == 0 ? T(0) : static_cast<T>(static_cast<Bits>(static_cast<std::uint64_t>(x) - part));
  };
  const auto quotients = each<T, T, T>(a, b, [&](T x, T y) { return quotient(x, y, true); });
  const auto modulo = each<T, T, T>(a, b, [&](T x, T y) { return rest(x, y, true); });
  const auto remainders = each<T, T, T>(a, b, [&](T x, T y) { return rest(x, y, false); });
  for (const auto& layout : every_layout({a.numel()})) {
    const auto x = distribute(a, layout), y = distribute(b, layout);
    CHECK(same(ht::floor_divide(x, y), quotients));
    CHECK(same(ht::remainder(x, y), modulo));
    CHECK(same(ht::fmod(x, y), remainders));
  }
}

}  // namespace

TEST_CASE("whole numbers of every width divide exactly", "[ops][elementwise]") {
  const auto bytes = at::arange(-128, 128).to(at::kChar);
  const auto all = bytes.repeat_interleave(256), others = bytes.repeat(256);
  check_division<std::int8_t>(all, others);
  check_division<std::uint8_t>(all.view(at::kByte), others.view(at::kByte));
  const auto a = random_bits(length, 64, 1), b = random_bits(length, 64, 2), shifts = random_bits(length, 8, 3) & 63;
  const auto small = at::bitwise_right_shift(b, shifts);  // of every magnitude
  check_division<std::int16_t>(a.to(at::kShort), small.to(at::kShort));
  check_division<std::int32_t>(a.to(at::kInt), small.to(at::kInt));
  check_division<std::int64_t>(a, small);
  check_division<std::int64_t>(at::bitwise_right_shift(a, 11), at::bitwise_right_shift(small, 11));
  const auto low = std::numeric_limits<std::int64_t>::min(), end = std::int64_t{1} << 52;
  const auto edges =
      at::tensor({low, low + 1, -end - 1, -end, 1 - end, -1L, 0L, 1L, end - 1, end, end + 1, -(low + 1)});
  check_division<std::int64_t>(edges.repeat_interleave(12), edges.repeat(12));
  const auto near = at::cat({at::arange(end - 40, end), at::arange(-end, -end + 40)});
  check_division<std::int64_t>(near.repeat_interleave(9),
                               at::tensor({-3, -2, -1, 1, 2, 3, 5, 7, 1 << 30}, at::kLong).repeat(80));
}

TEST_CASE("functions of floats are exact to the last place for numbers of every size", "[ops][elementwise][host]") {
  const auto check = [&]<class T>(T) {
    const auto type = c10::CppTypeToScalarType<T>::value;
    const auto x = random_floats(type, 11), y = random_floats(type, 12);
    const auto exponents = at::remainder(random_bits(length, 64, 13), 4400) - 2200;
    const auto larger = each<T, T, T>(x, y, [](T a, T b) { return a >= b || b != b ? a : b; });
    const auto smaller = each<T, T, T>(x, y, [](T a, T b) { return a <= b || b != b ? a : b; });
    const auto sign = each<T, T>(x, [](T a) { return a != a ? a : T(a > 0) - T(a < 0); });
    const auto scaled =
        each<T, T, std::int64_t>(x, exponents, [](T a, std::int64_t n) { return std::ldexp(a, static_cast<int>(n)); });
    const auto root = each<T, T>(x, [](T a) { return static_cast<T>(std::cbrt(static_cast<long double>(a))); });
    const auto size = each<T, T, T>(x, y, [](T a, T b) {
      return static_cast<T>(std::hypot(static_cast<long double>(a), static_cast<long double>(b)));
    });
    const auto z = at::complex(x, y), near = at::complex(x.clamp(-1, 1), at::zeros_like(y));
    for (const auto& layout : every_layout({length})) {
      const auto a = distribute(x, layout), b = distribute(y, layout);
      CHECK(same(ht::fmax(a, b), larger));
      CHECK(same(ht::fmin(a, b), smaller));
      CHECK(same(ht::sign(a), sign));
      CHECK(same(ht::ldexp(a, distribute(exponents, layout)), scaled));
      CHECK(within_one_place(gathered(ht::cbrt(a)), root));
      CHECK(within_one_place(gathered(ht::abs(distribute(z, layout))), size));
      // The bits equal those of a single rank.
      CHECK(same(ht::cbrt(a), ht::cbrt(ht::from_tensor(x)).larray()));
      CHECK(same(ht::abs(distribute(z, layout)), ht::abs(ht::from_tensor(z)).larray()));
      CHECK(same(ht::abs(distribute(near, layout)), x.clamp(-1, 1).abs()));
      CHECK(same(ht::nansum(ht::where(ht::isfinite(a), NAN, a)), at::where(at::isfinite(x), NAN, x).nansum()));
    }
  };
  check(float{});
  check(double{});
}

TEST_CASE("bits are counted for whole numbers of every width", "[ops][elementwise]") {
  const auto bits = random_bits(length, 64, 21);
  const auto check = [&]<class T>(T) {
    const auto x = bits.to(c10::CppTypeToScalarType<T>::value);
    const auto expected = each<std::uint8_t, T>(x, [](T v) {
      const auto wide = static_cast<std::int64_t>(v);
      const auto size = static_cast<std::uint64_t>(wide);
      return static_cast<std::uint8_t>(std::popcount(wide < 0 ? 0 - size : size));
    });
    for (const auto& layout : every_layout({length})) CHECK(same(ht::bitwise_count(distribute(x, layout)), expected));
  };
  check(std::uint8_t{});
  check(std::int8_t{});
  check(std::int16_t{});
  check(std::int32_t{});
  check(std::int64_t{});
}

TEST_CASE("extremes are found along long, short and many lines of every dtype", "[ops][arg]") {
  const auto type =
      GENERATE(at::kBool, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf, at::kFloat, at::kDouble);
  const ht::Shape shape =
      GENERATE(ht::Shape{9, 600, 2}, ht::Shape{300, 7, 3}, ht::Shape{5, 3, 520}, ht::Shape{2, 2, 9000});
  auto global = random_bits(ht::size_of(shape), 8, 31).to(type).reshape(shape);
  const bool with_nan = GENERATE(true, false);
  if (at::isFloatingType(type)) {  // sums of infinities are NaN, too
    global.flatten().slice(0, 5, std::nullopt, 701).fill_(INFINITY);
    global.flatten().slice(0, 9, std::nullopt, 803).fill_(-INFINITY);
    if (with_nan) global.flatten().slice(0, 0, std::nullopt, 1013).fill_(NAN);
  } else if (with_nan) return;
  const auto read = global.to(at::kDouble);
  for (const auto& layout : every_layout(shape)) {
    const auto x = distribute(global, layout);
    for (int axis = 0; axis < 3; ++axis) {
      // LibTorch's argmax need not return the first one: here the first position of the largest, or of NaN.
      const auto first_of = [&](const at::Tensor& best) {
        const auto is_best = at::eq(read, best).logical_or(at::isnan(read));
        return at::where(is_best.logical_and(at::isnan(read).logical_or(at::isnan(best).logical_not())), 1, 0)
            .cumsum(axis)
            .gt(0)
            .logical_not()
            .sum(axis);
      };
      CHECK(same(ht::argmax(x, axis), first_of(read.amax(axis, true))));
      CHECK(same(ht::argmin(x, axis), first_of(read.amin(axis, true))));
    }
    const auto flat = read.flatten();
    const auto nan = at::isnan(flat).any().item<bool>();
    const auto best = nan ? at::isnan(flat) : flat == flat.max();
    CHECK(ht::argmax(x).item<std::int64_t>() == at::nonzero(best)[0].item<std::int64_t>());
  }
}

TEST_CASE("moments of long, short and many lines of every dtype are those of float64", "[ops][moments]") {
  const auto type = GENERATE(at::kBool, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kFloat, at::kDouble);
  const ht::Shape shape =
      GENERATE(ht::Shape{9, 600, 2}, ht::Shape{300, 7, 3}, ht::Shape{5, 3, 40}, ht::Shape{40, 1, 5});
  const auto global = random_bits(ht::size_of(shape), 7, 41).to(type).reshape(shape), wide = global.to(at::kDouble);
  const double tolerance = type == at::kDouble ? 1e-12 : 1e-6;
  for (const auto& layout : every_layout(shape)) {
    const auto x = distribute(global, layout);
    for (int axis = 0; axis < 3; ++axis) {
      CHECK(close(ht::mean(x, axis).astype(ht::float64), wide.mean(axis), tolerance));
      CHECK(close(ht::var(x, axis).astype(ht::float64), wide.var(axis, 0), tolerance));
    }
    const auto centered = wide - wide.mean();
    CHECK(close(ht::skew(x).astype(ht::float64), centered.pow(3).mean() / centered.pow(2).mean().pow(1.5), tolerance));
  }
}

TEST_CASE("the largest number beside NaN is found wherever NaN and infinities lie", "[ops][nan]") {
  auto global = at::arange(60, at::kDouble).reshape({12, 5}) - 30;
  global.select(1, 1).fill_(NAN);
  global.select(1, 2).fill_(-INFINITY);
  global[3][2] = NAN;
  global[7][3] = NAN;
  const auto expected = at::tensor({25., double{NAN}, -double{INFINITY}, 28., 29.}, at::kDouble);
  for (const auto& layout : every_layout({12, 5})) {
    const auto x = distribute(global, layout);
    CHECK(same(ht::nanmax(x, 0), expected));
    CHECK(same(ht::nanmax(x(ht::all_of, 0)), global.select(1, 0).max()));
    CHECK(same(ht::nanmax(x(ht::all_of, 1)), at::full({}, NAN, at::kDouble)));
    CHECK(same(ht::nanmin(x(ht::all_of, 2)), at::full({}, -INFINITY, at::kDouble)));
    CHECK(same(ht::nanmin(x(ht::all_of, 3)), at::full({}, -27., at::kDouble)));
  }
}
