#include "../../support.hpp"

#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/reductions/moments.hpp>
#include <heatpp/ops/reductions/nan.hpp>
#include <heatpp/ops/statistics/order.hpp>

namespace {

/// Returns numbers that are not symmetric about their mean, by a fixed rule.
at::Tensor skewed(const ht::Shape& shape) {
  return (at::arange(ht::size_of(shape), at::kDouble).reshape(shape) * 0.618).frac().exp();
}

struct Reference {
  at::Tensor mean, var, skew, kurtosis;
  Reference(const at::Tensor& x, at::IntArrayRef axes, bool keepdims) {
    const auto m = x.mean(axes, true), d = x - m;
    const auto power = [&](int k) { return d.pow(k).mean(axes, keepdims); };
    mean = x.mean(axes, keepdims);
    var = power(2);
    skew = power(3) / var.pow(1.5);
    kurtosis = power(4) / var.square() - 3;
  }
};

}  // namespace

TEST_CASE("moments equal the textbook's for every layout and set of axes", "[ops][moments]") {
  const ht::Shape shape = GENERATE(ht::Shape{7, 3}, ht::Shape{600, 2}, ht::Shape{3, 5, 20}, ht::Shape{300, 17});
  const auto global = skewed(shape);
  for (const auto& layout : every_layout(shape)) {
    const auto x = distribute(global, layout);
    std::vector<std::vector<int>> choices{{0}, {1}, {0, 1}};
    if (shape.size() == 3) choices.insert(choices.end(), {{2}, {0, 2}, {0, 1, 2}});
    for (const auto& axes : choices) {
      const std::vector<std::int64_t> dims(axes.begin(), axes.end());
      const Reference expected(global, dims, true);
      const auto [mean, var, skew, kurtosis] = ht::moments(x, {.axis = axes, .keepdims = true});
      CHECK(close(mean, expected.mean));
      CHECK(close(var, expected.var));
      CHECK(close(skew, expected.skew, 1e-10));
      CHECK(close(kurtosis, expected.kurtosis, 1e-10));
    }
    CHECK(close(ht::mean(x), global.mean()));
    CHECK(close(ht::std(x, {.axis = 0, .ddof = 1}), global.std(0)));
    CHECK(close(ht::skew(x, 1), Reference(global, {1}, false).skew, 1e-9));
  }
}

TEST_CASE("every width of a row gives the same as one column at a time", "[ops][moments]") {
  for (std::int64_t width = 1; width <= 40; ++width) {
    const auto global = skewed({123, width});
    CHECK(close(ht::var(distribute(global, ht::Layout({123, width}, 0, ht::world().size())), 0), global.var(0, false)));
  }
}

TEST_CASE("float32 moments are computed in float64", "[ops][moments]") {
  const auto global = (at::arange(200000, at::kDouble) * 0.618).frac().to(at::kFloat) + 4096;
  const auto x = distribute(global, ht::Layout({200000}, 0, ht::world().size()));
  const auto exact = global.to(at::kDouble);
  CHECK(ht::mean(x).dtype() == ht::float32);
  CHECK(ht::mean(x).item<double>() == Approx(exact.mean().item<double>()).epsilon(1e-7));
  CHECK(ht::var(x).item<double>() == Approx(exact.var(false).item<double>()).epsilon(1e-6));
}

TEST_CASE("the mean of float64 and of whole numbers is float64, of short ones float32, of complex numbers complex",
          "[ops][moments]") {
  const auto p = ht::world().size();
  const auto x = ht::full({2 * p}, 1e9 + 0.25, {.dtype = ht::float64, .split = 0});
  CHECK(ht::mean(x).item<double>() == 1e9 + 0.25);
  CHECK(ht::mean(ht::arange(5, {.split = 0})).dtype() == ht::float64);
  CHECK(ht::mean(ht::arange(5, {.dtype = ht::int16, .split = 0})).dtype() == ht::float32);
  CHECK(ht::mean(ht::array({1700000001, 1700000003}, {.split = 0})).item<double>() == 1700000002);
  const auto z = ht::full({2 * p}, std::complex<double>(1, 2), {.split = 0});
  CHECK(ht::mean(z).item<std::complex<float>>() == std::complex<float>(1, 2));
  CHECK_THROWS_AS(ht::skew(z), ht::TypeError);
  CHECK(close(ht::var(z), at::var(gathered(z), /*unbiased=*/false).to(gathered(ht::var(z)).scalar_type()), 1e-6));
}

TEST_CASE("moments of empty arrays and of NaN are NaN, of equal elements 0 and NaN", "[ops][moments]") {
  CHECK(same(ht::mean(ht::zeros({0, 2}, {.split = 0}), 0), at::full({2}, NAN)));
  CHECK(same(ht::var(ht::zeros({0, 2}, {.split = 1}), 0), at::full({2}, NAN)));
  CHECK(same(ht::mean(ht::array({1.0, NAN}, {.split = 0})), at::full({}, NAN)));
  const auto [mean, var, skew, kurtosis] = ht::moments(ht::ones({9}, {.split = 0}));
  CHECK(var.item<float>() == 0);
  CHECK(std::isnan(skew.item<float>()));
  CHECK(std::isnan(ht::var(ht::ones({1}), {.ddof = 1}).item<float>()));
}

TEST_CASE("all four moments are one call", "[ops][moments]") {
  const auto x = ht::ones({8, 4}, {.split = 0});
  const auto before = ht::comm_report().calls;
  static_cast<void>(ht::moments(x, 0));
  CHECK(ht::comm_report().calls - before == (ht::world().size() > 1));
}

TEST_CASE("moments of the elements that a mask selects", "[ops][moments]") {
  const auto global = skewed({6, 5, 4});
  const auto mask = at::arange(20).reshape({5, 4}).remainder(3) != 1;
  const auto kept = [&](const at::Tensor& x, int row) { return x[row].masked_select(mask); };
  for (const auto& layout : every_layout({6, 5, 4})) {
    const auto x = distribute(global, layout),
               where = distribute(mask, ht::Layout({5, 4}, std::nullopt, ht::world().size()));
    const auto mean = gathered(ht::mean(x, {.axis = {1, 2}, .where = where}));
    const auto std = gathered(ht::std(x, {.axis = {1, 2}, .ddof = 1, .where = where}));
    for (int row = 0; row < 6; ++row) {
      CHECK(near_to(mean[row], kept(global, row).mean(), 1e-12));
      CHECK(near_to(std[row], kept(global, row).std(), 1e-12));
    }
    CHECK(close(ht::var(x, {.axis = 0, .where = where}), global.var(0, false).masked_fill(mask.logical_not(), NAN)));
    CHECK(close(
        ht::mean(distribute(at::complex(global, -global), layout), {.axis = 0, .where = where}),
        at::complex(global.mean(0), -global.mean(0)).masked_fill(mask.logical_not(), c10::complex<double>(NAN, NAN))));
  }
}

TEST_CASE("correction is another name of ddof", "[ops][moments]") {
  const auto x = ht::arange(7, {.split = 0});
  CHECK(ht::var(x, {.correction = 1}).item<float>() == ht::var(x, {.ddof = 1}).item<float>());
  CHECK_THROWS_AS(ht::var(x, {.ddof = 1, .correction = 1}), ht::ValueError);
}

TEST_CASE("averages with weights of several axes, and their sums", "[ops][moments][host]") {
  const auto global = skewed({3, 4, 2});
  const auto weights = at::arange(12, at::kDouble).reshape({3, 4});
  for (const auto& layout : every_layout({3, 4, 2})) {
    const auto x = distribute(global, layout), w = ht::from_tensor(weights, {.split = 1});
    const auto expected = (global * weights.unsqueeze(2)).sum(at::IntArrayRef{0, 1}) / 66;
    CHECK(close(ht::average(x, {.axis = {0, 1}, .weights = w}), expected));
    CHECK(close(ht::average(x, {.axis = {1, 0}, .weights = ht::from_tensor(weights.t(), {})}), expected));
    const auto [average, sums] = ht::average_returned(x, {.axis = {0, 1}, .weights = w, .keepdims = true});
    CHECK(close(average, expected.reshape({1, 1, 2})));
    CHECK(same(sums, at::full({1, 1, 2}, 66., at::kDouble)));
    CHECK(same(ht::average_returned(x, {.axis = 1}).weights, at::full({3, 2}, 4., at::kDouble)));
    CHECK_THROWS_AS(ht::average(x, {.weights = w}), ht::TypeError);
    CHECK_THROWS_AS(ht::average(x, {.axis = {0, 2}, .weights = w}), ht::ValueError);
    const auto zero_once = x * ht::from_tensor(at::tensor({1., 0., 1.}).reshape({3, 1, 1}).to(at::kDouble), {});
    CHECK_THROWS_AS(ht::average(x, {.axis = 2, .weights = zero_once}), ht::ValueError);
  }
}

TEST_CASE("an infinite element makes the mean infinite and leaves no variance", "[ops][moments]") {
  const auto global = at::tensor({1., INFINITY, 3., -2.}, at::kDouble);
  for (const auto& layout : every_layout({4})) {
    const auto x = distribute(global, layout);
    CHECK(same(ht::mean(x), at::full({}, INFINITY, at::kDouble)));
    CHECK(same(ht::var(x), at::full({}, NAN, at::kDouble)));
    CHECK(same(ht::mean(ht::abs(x) - x), at::full({}, NAN, at::kDouble)));
  }
  CHECK(std::isnan(ht::std(ht::array({INFINITY})).item<float>()));
}

TEST_CASE("the mean of finite numbers is finite", "[ops][moments]") {
  for (const auto& layout : every_layout({4})) {
    const auto balanced = ht::mean(distribute(at::tensor({1e308, 1e308, -1e308, -1e308}, at::kDouble), layout));
    CHECK(std::abs(balanced.item<double>()) < 1e293);
    const auto x = distribute(at::tensor({-1e308, 1e308, 1e308, 1e308}, at::kDouble), layout);
    CHECK(close(ht::mean(x) / 1e308, at::full({}, 0.5, at::kDouble)));
  }
}

TEST_CASE("numbers have no axis for means and medians", "[ops][moments]") {
  for (const auto& x : {ht::full({}, 2.0), ht::full({}, std::complex<double>(2, 1))})
    for (const int axis : {0, -1}) {
      CHECK_THROWS_AS(ht::mean(x, axis), ht::IndexError);
      CHECK_THROWS_AS(ht::var(x, axis), ht::IndexError);
      CHECK_THROWS_AS(ht::std(x, axis), ht::IndexError);
      CHECK_THROWS_AS(ht::median(x, axis), ht::IndexError);
      CHECK_THROWS_AS(ht::average(x, {.axis = axis}), ht::IndexError);
      CHECK_THROWS_AS(ht::average(x, {.axis = axis, .weights = x}), ht::IndexError);
      CHECK(same(ht::nanmean(x, axis), x.larray()));
    }
  CHECK_THROWS_AS(ht::quantile(ht::full({}, 2.0), 0.5, {.axis = 0}), ht::IndexError);
}

TEST_CASE("the variance of few complex numbers is infinite if one part varies", "[ops][moments]") {
  const auto global = at::complex(at::tensor({1., 1., 3.}, at::kDouble), at::tensor({1., 0., 2.}, at::kDouble));
  for (const auto& layout : every_layout({3})) {
    const auto x = distribute(global, layout), pair = x.index({ht::slice(0, 2)});
    CHECK(same(ht::var(pair, {.ddof = 2}), at::full({}, INFINITY, at::kDouble)));
    CHECK(same(ht::std(pair), at::full({}, 0.5, at::kDouble)));
    CHECK(close(ht::var(x, {.dtype = ht::complex64, .ddof = 1}), at::full({}, 7. / 3, at::kComplexFloat), 1e-6));
  }
}

TEST_CASE("numbers far from 0 have the moments of those near it", "[ops][moments]") {
  const auto near = (at::arange(9001, at::kDouble) * 0.618).frac();
  const auto far = near + 1e9, back = far - 1e9;  // exactly
  for (const auto& layout : every_layout({9001})) {
    const auto x = distribute(far, layout), y = distribute(back, layout);
    CHECK(close(ht::var(x), back.var(false), 1e-13));
    CHECK(std::abs(ht::skew(x).item<double>() - ht::skew(y).item<double>()) < 1e-12);
    CHECK(std::abs(ht::kurtosis(x).item<double>() - ht::kurtosis(y).item<double>()) < 1e-12);
    const auto few = x.index({ht::slice(0, 15)});
    CHECK(close(ht::var(few), back.slice(0, 0, 15).var(false), 1e-13));
  }
}

TEST_CASE("whole numbers whose sum is 0 have the mean 0", "[ops][moments]") {
  const auto global = at::tensor({-128, 127, 5, -1, 127, 0, -128, 3, 2, -7}).to(at::kChar);
  for (const auto& layout : every_layout({10})) {
    const auto mean = ht::mean(distribute(global, layout));
    CHECK(mean.item<float>() == 0);
    CHECK(same(ht::signbit(mean), at::zeros({}, at::kBool)));
  }
}

TEST_CASE("variances have the dtype that is asked for", "[ops][moments]") {
  CHECK(ht::var(ht::array({1.0, 2.0}), {.dtype = ht::complex64}).dtype() == ht::complex64);
  CHECK(ht::std(ht::array({1.0, 2.0}), {.dtype = ht::float64}).dtype() == ht::float64);
}

TEST_CASE("a number that counts has a mean along axis 0", "[ops][moments]") {
  const ht::DNDarray x = ht::full({}, 2.5), yes = ht::full({}, true);
  CHECK(ht::mean(x, {.axis = 0, .where = yes}).item<float>() == 2.5f);
  CHECK(ht::var(x, {.axis = -1, .where = yes}).item<float>() == 0);
}

TEST_CASE("a variance is no whole number", "[ops][moments]") {
  const auto x = ht::array({1, 2, 3, 127}, {.dtype = ht::int8, .split = 0});
  for (const auto dtype : {ht::int8, ht::int64, ht::bool_}) {
    CHECK_THROWS_AS(ht::var(x, {.dtype = dtype}), ht::TypeError);
    CHECK_THROWS_AS(ht::std(x, {.dtype = dtype}), ht::TypeError);
    CHECK_THROWS_AS(ht::nanvar(x, {.dtype = dtype}), ht::TypeError);
    CHECK_THROWS_WITH(ht::nanstd(x, {.dtype = dtype}), Catch::StartsWith("[nanstd] got the dtype"));
  }
}

TEST_CASE("lines and columns of every length, with outliers and far from 0", "[ops][moments]") {
  const auto width = GENERATE(1, 2, 5, 127, 128, 513, 530);
  for (const auto n : {15, 16, 17, 300, 1025}) {
    auto global = skewed({n, width});
    global.select(0, 0).mul_(1e6);  // the first element, about which others are summed
    for (const double far : {0.0, 1e8}) {
      const auto shifted = global + far, mean = (shifted - far).mean(0), var = (shifted - far).var(0, false);
      const auto columns = distribute(shifted, ht::Layout({n, width}, 0, ht::world().size()));
      CHECK(close(ht::var(columns, 0), var, 1e-11));
      CHECK(close(ht::mean(columns, 0) - far, mean, 1e-7));
      const auto lines = distribute(shifted.t().contiguous(), ht::Layout({width, n}, 0, ht::world().size()));
      CHECK(close(ht::var(lines, 1), var, 1e-11));
      CHECK(close(ht::mean(lines, 1) - far, mean, 1e-7));
    }
  }
}

TEST_CASE("lines and columns with infinite and missing elements", "[ops][moments]") {
  const auto width = GENERATE(1, 5, 130);
  auto global = skewed({90, width});
  global[0][0] = INFINITY;
  global[80][width / 2] = -INFINITY;
  global[7][width - 1] = NAN;
  for (const auto& layout : every_layout({90, width})) {
    CHECK(close(ht::var(distribute(global, layout), 0), global.var(0, false)));
    CHECK(close(ht::mean(distribute(global, layout), 0), global.mean(0)));
  }
  for (const auto& layout : every_layout({width, 90}))
    CHECK(close(ht::mean(distribute(global.t().contiguous(), layout), 1), global.mean(0)));
}
