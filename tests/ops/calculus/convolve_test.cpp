#include "../../support.hpp"

#include <heatpp/ops/calculus/convolve.hpp>

using ht::ConvolveMode;

namespace {

at::Tensor numbers(std::int64_t n, double shift) { return (at::arange(n, at::kDouble) * 0.7 - shift).sin() * 5; }

/// Computes NumPy's definition, term by term.
at::Tensor full_convolution(const at::Tensor& a, const at::Tensor& v) {
  auto result = at::zeros({a.size(0) + v.size(0) - 1}, a.options());
  for (std::int64_t i = 0; i < v.size(0); ++i) result.narrow(0, i, a.size(0)).add_(a * v[i]);
  return result;
}

at::Tensor convolution(const at::Tensor& a, const at::Tensor& v, ConvolveMode mode, std::int64_t stride = 1) {
  const auto n = std::max(a.size(0), v.size(0)), m = std::min(a.size(0), v.size(0));
  auto full = full_convolution(a, v);
  if (mode == ConvolveMode::same) full = full.narrow(0, (m - 1) / 2, n);
  if (mode == ConvolveMode::valid) full = full.narrow(0, m - 1, n - m + 1);
  return full.slice(0, 0, full.size(0), stride);
}

constexpr ConvolveMode modes[] = {ConvolveMode::full, ConvolveMode::same, ConvolveMode::valid};

}  // namespace

TEST_CASE("convolve equals NumPy's for every layout, mode and stride", "[ops][convolve][host]") {
  for (const std::int64_t n : {1, 5, 13})
    for (const std::int64_t m : {1, 2, 3, 8}) {
      const auto a = numbers(n, 0.3), v = numbers(m, 1.1);
      for (const auto& layout : every_layout({n}))
        for (const auto mode : modes)
          for (const std::int64_t stride : {1, 3}) {
            const auto y =
                ht::convolve(distribute(a, layout), ht::from_tensor(v, {.split = 0}), {.mode = mode, .stride = stride});
            CHECK(close(y, convolution(a, v, mode, stride)));
          }
    }
}

TEST_CASE("same keeps the cut, and long blocks meet at their ends", "[ops][convolve][host]") {
  const auto a = numbers(3000, 0.3), v = numbers(65, 1.1);
  for (const auto type : {at::kFloat, at::kDouble})
    for (const auto& layout : every_layout({3000})) {
      const auto x = distribute(a.to(type), layout);
      const auto y = ht::convolve(x, ht::from_tensor(v.to(type)), {.mode = ConvolveMode::same});
      CHECK(y.layout() == layout);
      CHECK(close(y, convolution(a, v, ConvolveMode::same).to(type), type == at::kFloat ? 1e-3 : 1e-10));
    }
}

TEST_CASE("whole and complex numbers", "[ops][convolve][host]") {
  const auto a = at::arange(9, at::kInt) - 3, v = at::tensor({2, -1, 5}, at::kInt);
  const auto z = at::complex(numbers(9, 0.1), numbers(9, 0.7)), w = at::complex(numbers(3, 0.2), numbers(3, 0.9));
  for (const auto& layout : every_layout({9})) {
    CHECK(same(ht::convolve(distribute(a, layout), ht::from_tensor(v)), full_convolution(a, v)));
    CHECK(close(ht::convolve(distribute(z, layout), ht::from_tensor(w)), full_convolution(z, w)));
    CHECK(close(ht::correlate(distribute(z, layout), ht::from_tensor(w), {.mode = ConvolveMode::full}),
                full_convolution(z, w.flip(0).conj().resolve_conj())));
  }
  CHECK(ht::convolve(ht::ones({3}, {.dtype = ht::float16}), ht::ones({2}, {.dtype = ht::float16})).dtype() ==
        ht::float16);
}

TEST_CASE("infinite taps meet no elements beyond the ends", "[ops][convolve][host]") {
  const auto inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const auto a = numbers(9, 0.3);
  for (const auto& v : {at::tensor({inf, 1., nan}), at::tensor({2., -inf, 1., 3.}), at::tensor({1., 2., 3., nan})})
    for (const auto& layout : every_layout({9}))
      for (const auto mode : modes)
        CHECK(close(ht::convolve(distribute(a, layout), ht::from_tensor(v), {.mode = mode, .stride = 2}),
                    convolution(a, v, mode, 2)));
}

TEST_CASE("a number is a kernel of one tap", "[ops][convolve][host]") {
  for (const auto& layout : every_layout({9}))
    CHECK(same(ht::convolve(distribute(numbers(9, 0.3), layout), ht::full({}, 2.0)), 2 * numbers(9, 0.3)));
}

TEST_CASE("correlate equals NumPy's", "[ops][convolve]") {
  const auto a = at::tensor({1.0, 2.0, 3.0}, at::kDouble), v = at::tensor({0.0, 1.0, 0.5}, at::kDouble);
  const auto longer = at::tensor({0.0, 1.0, 0.5, 2.0, 3.0}, at::kDouble), two = at::tensor({1.0, 2.0}, at::kDouble);
  const auto check = [](const at::Tensor& x, const at::Tensor& y, ConvolveMode mode, std::vector<double> expected) {
    for (const auto& l : every_layout({x.size(0)}))
      for (const auto& m : every_layout({y.size(0)}))
        CHECK(ht::correlate(distribute(x, l), distribute(y, m), {.mode = mode}).to_vector<double>() == expected);
  };
  check(a, v, ConvolveMode::valid, {3.5});
  check(a, v, ConvolveMode::same, {2, 3.5, 3});
  check(a, v, ConvolveMode::full, {0.5, 2, 3.5, 3, 0});
  check(two, longer, ConvolveMode::full, {3, 8, 4.5, 2, 2, 0});
  check(two, longer, ConvolveMode::same, {8, 4.5, 2, 2, 0});
  check(two, longer, ConvolveMode::valid, {8, 4.5, 2, 2});
}

TEST_CASE("rows are convolved with one kernel or their own", "[ops][convolve][host]") {
  const auto a = numbers(4 * 11, 0.2).reshape({4, 11}), v = numbers(4 * 3, 0.5).reshape({4, 3});
  for (const auto& layout : every_layout({4, 11}))
    for (const auto mode : modes) {
      std::vector<at::Tensor> own, one;
      for (std::int64_t i = 0; i < 4; ++i) {
        own.push_back(convolution(a[i], v[i], mode));
        one.push_back(convolution(a[i], v[0], mode));
      }
      CHECK(
          close(ht::convolve(distribute(a, layout), ht::from_tensor(v, {.split = 0}), {.mode = mode}), at::stack(own)));
      CHECK(close(ht::convolve(distribute(a, layout), ht::from_tensor(v[0].contiguous()), {.mode = mode}),
                  at::stack(one)));
    }
}

TEST_CASE("convolving costs one exchange of the ends", "[ops][convolve]") {
  const auto p = ht::world().size();
  const auto x = ht::ones({1000 * p}, {.split = 0}), v = ht::ones({65});
  const auto before = ht::comm_report();
  static_cast<void>(ht::convolve(x, v, {.mode = ConvolveMode::same}));
  const auto after = ht::comm_report();
  CHECK(after.calls - before.calls <= 2);
  CHECK(after.bytes - before.bytes <= 2 * 32 * 4);
}

TEST_CASE("arrays that cannot be convolved are an error on all ranks", "[ops][convolve]") {
  const auto x = ht::ones({4}, {.split = 0});
  CHECK_THROWS_AS(ht::convolve(x, ht::ones({0})), ht::ValueError);
  CHECK_THROWS_AS(ht::convolve(x, x, {.stride = 0}), ht::ValueError);
  CHECK_THROWS_AS(ht::convolve(ht::ones({2, 3}), ht::ones({3, 2})), ht::ValueError);
  CHECK_THROWS_AS(ht::convolve(ht::ones({2, 3}), ht::ones({5})), ht::ValueError);
  CHECK_THROWS_AS(ht::convolve(x, ht::ones({2}, {.comm = ht::self()})), ht::CommError);
}
