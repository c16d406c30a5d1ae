// Tests the dtype of the result and of the computation for each kind of function.
#include "../support.hpp"

#include <heatpp/heatpp.hpp>

namespace {

constexpr ht::Dtype dtypes[] = {ht::bool_,   ht::uint8,    ht::int8,    ht::int16,   ht::int32,     ht::int64,
                                ht::float16, ht::bfloat16, ht::float32, ht::float64, ht::complex64, ht::complex128};

at::Tensor ones_and_zeros(ht::Dtype dtype) { return at::tensor({1, 0, 1, 1, 0}).to(ht::to_torch(dtype)); }

/// Returns numbers that float32 cannot hold.
at::Tensor large() { return at::tensor({1700000001, 1700000003, 16777217, 33554435, 1234567891}, at::kLong); }

using Unary = ht::DNDarray (*)(const ht::DNDarray&);
using OfDouble = at::Tensor (*)(const at::Tensor&);

/// Functions of large whole numbers, and of numbers up to 1.
constexpr std::pair<Unary, OfDouble> of_large[] = {
    {ht::sqrt, at::sqrt},       {ht::log, at::log},         {ht::log2, at::log2},     {ht::log10, at::log10},
    {ht::log1p, at::log1p},     {ht::sin, at::sin},         {ht::cos, at::cos},       {ht::tan, at::tan},
    {ht::arctan, at::atan},     {ht::tanh, at::tanh},       {ht::arcsinh, at::asinh}, {ht::arccosh, at::acosh},
    {ht::deg2rad, at::deg2rad}, {ht::rad2deg, at::rad2deg}, {ht::sinc, at::sinc},     {ht::fabs, at::abs},
};
constexpr std::pair<Unary, OfDouble> of_small[] = {
    {ht::exp, at::exp},     {ht::exp2, at::exp2},     {ht::expm1, at::expm1},
    {ht::arcsin, at::asin}, {ht::arccos, at::acos},   {ht::sinh, at::sinh},
    {ht::cosh, at::cosh},   {ht::arctanh, at::atanh}, {ht::i0, at::i0},
};

}  // namespace

TEST_CASE("functions that answer in floating point keep whole numbers", "[ops][dtypes]") {
  for (const auto& layout : every_layout({5})) {
    const auto x = distribute(large(), layout), bits = distribute(ones_and_zeros(ht::int64), layout);
    for (const auto& [ours, of_double] : of_large) {
      CHECK(same(ours(x), of_double(large().to(at::kDouble))));
      CHECK(same(ours(x.astype(ht::int32)), of_double(large().to(at::kDouble))));
    }
    for (const auto& [ours, of_double] : of_small) {
      // The vectors of the processor have other bits than the elements that remain at the end.
      const auto in_whole_vectors = [f = of_double, on_host = x.larray().is_cpu()](const at::Tensor& block) {
        return on_host ? f(block.repeat({64})).narrow(0, 0, 5) : f(block);
      };
      const auto doubles = in_whole_vectors(ones_and_zeros(ht::float64)),
                 floats = in_whole_vectors(ones_and_zeros(ht::float32));
      CHECK(same(ours(bits), doubles));
      for (const auto shorter : {ht::bool_, ht::uint8, ht::int8, ht::int16})
        CHECK(same(ours(bits.astype(shorter)), floats));
    }
    for (const auto ours : {ht::cbrt, ht::spacing, static_cast<Unary>(ht::rint), static_cast<Unary>(ht::angle)}) {
      CHECK(same(ours(x), gathered(ours(x.astype(ht::float64)))));
      CHECK(ours(x.astype(ht::int16)).dtype() == ht::float32);
    }
    CHECK(ht::modf(x).first.dtype() == ht::float64);
    CHECK(same(ht::ldexp(ht::frexp(x).first, ht::frexp(x).second), large().to(at::kDouble)));
  }
}

TEST_CASE("divisions and their like answer in floats that hold their operands", "[ops][dtypes][host]") {
  const auto doubles = large().to(at::kDouble);
  for (const auto& layout : every_layout({5})) {
    const auto x = distribute(large(), layout), narrow = x.astype(ht::int32);
    CHECK(same(x / x, at::ones({5}, at::kDouble)));
    CHECK(same(x / 2, doubles / 2));
    CHECK(same(2 / narrow, 2 / doubles));
    CHECK(same(ht::arctan2(x, narrow), at::atan2(doubles, doubles)));
    CHECK(same(ht::hypot(x, 0), doubles));
    CHECK(same(ht::copysign(x, -1), -doubles));
    CHECK(same(ht::logaddexp(x, x), at::logaddexp(doubles, doubles)));
    CHECK(same(ht::nextafter(x, 0), at::nextafter(doubles, at::zeros({}, at::kDouble))));
    CHECK(same(ht::heaviside(x, 0.5), at::ones({5}, at::kDouble)));
    CHECK(same(ht::ldexp(x, 1), doubles * 2));
    CHECK(ht::ldexp(ht::ones({5}), x * 0).dtype() == ht::float32);
    CHECK(same(ht::ldexp(1.5, x * 0), at::full({5}, 1.5, at::kDouble)));
    for (const auto shorter : {ht::bool_, ht::uint8, ht::int8, ht::int16}) {
      const auto y = distribute(ones_and_zeros(shorter), layout);
      CHECK((y / 2).dtype() == ht::float32);
      CHECK((y / 1000000).dtype() == ht::float32);
      CHECK(ht::arctan2(y, y).dtype() == ht::float32);
      CHECK(ht::ldexp(y, x * 0).dtype() == ht::float32);
      CHECK((y / x).dtype() == ht::float64);
    }
  }
}

TEST_CASE("arrays of any two dtypes give a dtype that holds both", "[ops][dtypes][host]") {
  const ht::Layout cut({5}, 0, ht::world().size()), whole = cut.replicated({5});
  for (const auto a : dtypes)
    for (const auto b : dtypes) {
      const auto type = ht::promote_types(a, b);
      const auto left = ones_and_zeros(a), right = ones_and_zeros(b).flip(0);
      const auto l = left.to(ht::to_torch(type)), r = right.to(ht::to_torch(type));
      for (const auto& layout : {cut, whole}) {
        const auto x = distribute(left, cut), y = distribute(right, layout);
        CHECK(same(x + y, l + r));
        CHECK(same(x * y, l * r));
        CHECK(same(ht::maximum(x, y), at::where(l == 1, l, r)));
        CHECK(same(ht::where(x == 1, x, y), at::where(l == 1, l, r)));
        CHECK(same(ht::concatenate({x, y}, 0), at::cat({l, r})));
        CHECK((x / y).dtype() == ht::inexact_type(type));
        CHECK((x + ht::full({}, 1, {.dtype = b})).dtype() == type);
        CHECK(ht::matmul(x, y).dtype() == type);
        CHECK(ht::convolve(x, y).dtype() == type);
      }
    }
}

TEST_CASE("numbers change the dtype only by their kind", "[ops][dtypes][host]") {
  const std::vector<ht::Scalar> numbers{true, 2, 1.5, std::complex<double>(1, 2)};
  for (const auto dtype : dtypes)
    for (const auto& number : numbers)
      for (const auto& layout : every_layout({5})) {
        const auto x = distribute(ones_and_zeros(dtype), layout);
        const auto type = ht::result_type(dtype, number), inexact = ht::result_type(ht::inexact_type(dtype), number);
        CAPTURE(ht::name(dtype), ht::name(number.default_dtype()));
        CHECK((x + number).dtype() == type);
        CHECK((number * x).dtype() == type);
        CHECK((x / number).dtype() == inexact);
        CHECK(ht::where(x == 1, x, number).dtype() == type);
        CHECK(same(x * number, gathered(x.astype(type) * ht::full({}, number, {.dtype = type}))));
      }
  const auto x = distribute(large(), ht::Layout({5}, 0, ht::world().size()));
  CHECK(same(x + 0.5, large().to(at::kDouble) + 0.5));
  CHECK(same(ht::power(x, 1.0), large().to(at::kDouble)));
  CHECK(same(x + ht::zeros({5}), large().to(at::kDouble)));
  CHECK(ht::where(x > 0, 1, 1.5).dtype() == ht::float32);
  CHECK(ht::where(x > 0, 1.5, 1).dtype() == ht::float32);
}

TEST_CASE("statistics of whole numbers are float64", "[ops][dtypes][host]") {
  const auto doubles = large().to(at::kDouble);
  for (const auto& layout : every_layout({5})) {
    const auto x = distribute(large(), layout);
    CHECK(close(ht::mean(x), doubles.mean(), 1e-15));
    CHECK(close(ht::var(x), doubles.var(false), 1e-14));
    CHECK(close(ht::std(x), doubles.std(false), 1e-14));
    CHECK(same(ht::median(x), doubles.median()));
    CHECK(same(ht::percentile(x, 50), doubles.median()));
    CHECK(close(ht::average(x, {.weights = x}), (doubles * doubles).sum() / doubles.sum(), 1e-15));
    CHECK(close(ht::average(x, {.weights = ht::ones({5})}), doubles.mean(), 1e-15));
    CHECK(close(ht::cov(x), at::cov(doubles), 1e-14));
    CHECK(same(ht::gradient(x), gathered(ht::gradient(x.astype(ht::float64)))));
    CHECK(same(ht::trapezoid(x), at::trapezoid(doubles)));
    CHECK(
        same(ht::interp(x, {x.astype(ht::float64) * 0 + ht::arange(5), ht::arange(5)}), at::full({5}, 4, at::kDouble)));
    CHECK(ht::histogram(x).second.dtype() == ht::float64);
    CHECK(close(ht::linalg::norm(x), at::linalg_vector_norm(doubles), 1e-15));
    CHECK(ht::fft::fft(x).dtype() == ht::complex128);
    CHECK(ht::fft::fft(x.astype(ht::int16)).dtype() == ht::complex64);
    for (const auto shorter : {ht::uint8, ht::int8, ht::int16}) {
      const auto y = distribute(ones_and_zeros(shorter), layout);
      for (const auto& result : {ht::mean(y), ht::var(y), ht::median(y), ht::percentile(y, 30), ht::average(y),
                                 ht::gradient(y), ht::linalg::norm(y)})
        CHECK(result.dtype() == ht::float32);
      CHECK(ht::cov(y).dtype() == ht::float64);
    }
  }
}

TEST_CASE("decompositions of whole numbers are float64", "[ops][dtypes][host]") {
  namespace la = ht::linalg;
  const auto a = at::tensor({4, 1, 2, 1, 5, 3, 2, 3, 6}).reshape({3, 3}), doubles = a.to(at::kDouble);
  for (const auto& layout : every_layout({3, 3})) {
    const auto x = distribute(a, layout);
    CHECK(close(la::inv(x), at::linalg_inv(doubles), 1e-12));
    CHECK(close(la::det(x), at::linalg_det(doubles), 1e-12));
    CHECK(close(la::svdvals(x), at::linalg_svdvals(doubles), 1e-12));
    CHECK(close(la::eigvalsh(x), at::linalg_eigvalsh(doubles), 1e-12));
    CHECK(close(la::qr(x).r, std::get<1>(at::linalg_qr(doubles)), 1e-12));
    CHECK(close(la::solve(x, ht::arange(3)), at::linalg_solve(doubles, at::arange(3, at::kDouble)), 1e-12));
    CHECK(la::cholesky(x.astype(ht::int16)).dtype() == ht::float32);
    CHECK(la::svdvals(x.astype(ht::float16)).dtype() == ht::float32);
  }
}

namespace {

/// Sets another default dtype while the object lives.
class Default {
 public:
  explicit Default(ht::Dtype dtype) { ht::set_default_dtype(dtype); }
  ~Default() { ht::set_default_dtype(ht::float32); }
};

}  // namespace

TEST_CASE("codes in doubles set the default dtype", "[ops][dtypes]") {
  CHECK(ht::get_default_dtype() == ht::float32);
  for (const auto other : {ht::float16, ht::int64, ht::complex128})
    CHECK_THROWS_WITH(ht::set_default_dtype(other), Catch::StartsWith("[set_default_dtype] got "));
  const Default doubles(ht::float64);
  CHECK(ht::get_default_dtype() == ht::float64);
  for (const auto split : {std::optional<int>(), std::optional(0)}) {
    for (const auto& x : {ht::zeros({5}, {.split = split}), ht::ones({5}, {.split = split}),
                          ht::empty({5}, {.split = split}), ht::full({5}, 0.1, {.split = split}),
                          ht::eye(5, std::nullopt, {.split = split}), ht::linspace(0, 1, 5, {.split = split}),
                          ht::logspace(0, 1, 5, {.split = split}), ht::geomspace(1, 2, 5, {.split = split}),
                          ht::arange(0.5, {.split = split}), ht::array({0.1, 2}, {.split = split}),
                          ht::random::random({5}, {.split = split}), ht::random::normal(0, 1, {5}, {.split = split}),
                          ht::random::exponential(1, {5}, {.split = split}), ht::fft::fftfreq(5, 1, {.split = split})})
      CHECK(x.dtype() == ht::float64);
    const auto x = ht::array({0.1, 0.2, 0.3}, {.split = split});
    CHECK(same(x, at::tensor({0.1, 0.2, 0.3}, at::kDouble)));
    CHECK(same(ht::full({2}, 0.1), at::full({2}, 0.1, at::kDouble)));
    CHECK(ht::full({2}, std::complex<double>(0, 1), {.split = split}).dtype() == ht::complex128);
    CHECK(ht::arange(5, {.split = split}).dtype() == ht::int64);
    for (const auto shorter : {ht::bool_, ht::uint8, ht::int8, ht::int16}) {
      const auto y = ht::ones({5}, {.dtype = shorter, .split = split});
      CHECK(ht::sqrt(y).dtype() == ht::float64);
      CHECK((y * 0.1).dtype() == ht::float64);
      CHECK((y / 3).dtype() == ht::float64);
      CHECK((y * std::complex<double>(0, 1)).dtype() == ht::complex128);
      CHECK(ht::mean(y).dtype() == ht::float64);
    }
    CHECK((x.astype(ht::float32) * 0.1).dtype() == ht::float32);
    CHECK(ht::where(x > 0.2, 0.1, 0).dtype() == ht::float64);
    const auto chosen = ht::where(x > 0.2, 0.1, 16777217.0);
    CHECK(chosen.dtype() == ht::float64);
    CHECK(double(ht::sum(chosen)) == 16777217.0 * 2 + 0.1);
  }
  ht::set_default_dtype(ht::float32);
  CHECK(ht::zeros({5}).dtype() == ht::float32);
}
