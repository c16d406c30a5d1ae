#include "../../exact_oracle.hpp"
#include "../../support.hpp"

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/linalg/products/product.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/reductions/moments.hpp>
#include <heatpp/ops/reductions/nan.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>

#include <bit>

namespace {

const ht::ReduceOptions exactly{.reproducible = true};

template <class T>
at::Tensor tensor_of(const std::vector<T>& values, const ht::Shape& shape) {
  return at::tensor(values, c10::CppTypeToScalarType<T>::value).reshape(shape);
}

/// Returns the oracle's sums over the last axis of a matrix.
template <class T>
at::Tensor exact_sums(const at::Tensor& rows) {
  const auto matrix = rows.contiguous();
  std::vector<T> sums;
  const auto n = static_cast<std::size_t>(matrix.size(1));
  for (std::int64_t i = 0; i < matrix.size(0); ++i)
    sums.push_back(exact_sum_of<T>({matrix.const_data_ptr<T>() + i * matrix.size(1), n}));
  return tensor_of(sums, {matrix.size(0)});
}

/// Whether all bits are equal, also the signs of zeros.
bool same_bits(const ht::DNDarray& x, const at::Tensor& expected) {
  return same(x, expected) && at::equal(at::signbit(gathered(x)), at::signbit(expected));
}

template <class T>
at::Tensor hostile_tensor(int kind, const ht::Shape& shape) {
  return tensor_of(hostile<T>(kind, static_cast<std::size_t>(ht::size_of(shape)), 1), shape);
}

/// Whether the oracle overflows for this kind of numbers.
template <class T>
bool overflows_in_oracle(int kind) {
  return kind == 5 && sizeof(T) == sizeof(double);
}

}  // namespace

TEMPLATE_TEST_CASE("reproducible sums are exact for every layout and axis", "[ops][reproducible]", float, double) {
  // The shapes have whole tiles and remainders, few and many columns, short and long rows.
  const ht::Shape shape = GENERATE(ht::Shape{9001}, ht::Shape{700, 3}, ht::Shape{530, 37}, ht::Shape{3, 1400},
                                   ht::Shape{90, 5, 7}, ht::Shape{2, 3});
  for (int kind = 0; kind < hostile_kinds; ++kind) {
    if (overflows_in_oracle<TestType>(kind)) continue;
    const auto global = hostile_tensor<TestType>(kind, shape);
    const auto all = exact_sums<TestType>(global.reshape({1, -1})).squeeze(0);
    std::vector<at::Tensor> along;
    for (std::int64_t axis = 0; axis < global.dim(); ++axis) {
      const auto moved = global.movedim(axis, -1);
      along.push_back(
          exact_sums<TestType>(moved.reshape({-1, global.size(axis)})).reshape(moved.select(-1, 0).sizes()));
    }
    for (const auto& layout : every_layout(shape)) {
      const auto x = distribute(global, layout);
      CHECK(same_bits(ht::sum(x, exactly), all));
      CHECK(same_bits(ht::sum(x, {.keepdims = true, .reproducible = true}),
                      all.reshape(std::vector<std::int64_t>(shape.size(), 1))));
      for (int axis = 0; axis < x.ndim() && x.ndim() > 1; ++axis) {
        const auto& expected = along[static_cast<std::size_t>(axis)];
        CHECK(same_bits(ht::sum(x, {.axis = axis, .reproducible = true}), expected));
        CHECK(same_bits(
            ht::sum(ht::transpose(x), {.axis = x.ndim() - 1 - axis, .keepdims = true, .reproducible = true}),
            expected.unsqueeze(axis).permute(x.ndim() == 2 ? at::IntArrayRef{1, 0} : at::IntArrayRef{2, 1, 0})));
      }
      if (x.ndim() == 3)
        CHECK(same_bits(ht::sum(x, {.axis = {0, 2}, .reproducible = true}),
                        exact_sums<TestType>(global.movedim(1, 0).reshape({shape[1], -1}))));
    }
  }
}

TEST_CASE("a million numbers of all sizes", "[ops][reproducible]") {
  const auto global = hostile_tensor<double>(1, {1'000'000});
  const auto narrow = hostile_tensor<float>(1, {1'000'000});
  const auto expected = exact_sums<double>(global.view({1, -1})).squeeze(0);
  const auto expected_narrow = exact_sums<float>(narrow.view({1, -1})).squeeze(0);
  for (const auto& layout : every_layout({1'000'000})) {
    CHECK(same_bits(ht::sum(distribute(global, layout), exactly), expected));
    CHECK(same_bits(ht::sum(distribute(narrow, layout), exactly), expected_narrow));
  }
}

TEST_CASE("sums that overflow on the way, or are not finite", "[ops][reproducible]") {
  const double largest = std::numeric_limits<double>::max();
  for (const auto& layout : every_layout({5000})) {
    auto global = at::zeros({5000}, at::kDouble);
    const auto sum = [&] { return ht::sum(distribute(global, layout), exactly).item<double>(); };
    global.slice(0, 0, 2500) = largest;
    CHECK(sum() == INFINITY);
    // The sum is rounded before it is divided.
    CHECK(ht::mean(distribute(global, layout), exactly).item<double>() ==
          std::ldexp(std::ldexp(largest, -20) * 2500 / 5000, 20));
    global.slice(0, 2500, 4999) = -largest;
    CHECK(sum() == largest);
    global[4999] = -largest;
    global[17] = std::numeric_limits<double>::denorm_min();
    CHECK(sum() == -largest);
    global[4000] = -INFINITY;
    CHECK(sum() == -INFINITY);
    global[3] = INFINITY;
    CHECK(std::isnan(sum()));
    global[3] = NAN;
    CHECK(std::isnan(sum()));
    CHECK(ht::nansum(distribute(global, layout), exactly).item<double>() == -INFINITY);
  }
}

TEST_CASE("groups of any number of ranks get the same bits", "[ops][reproducible]") {
  const auto& world = ht::world();
  const auto global = hostile_tensor<float>(7, {20'011, 3});
  const auto other = hostile_tensor<float>(1, {20'011, 3});
  std::vector<std::vector<float>> found;
  for (int ranks = 1; ranks <= world.size(); ++ranks) {
    const auto group = world.split(world.rank() < ranks ? 0 : 1);
    if (world.rank() >= ranks) continue;
    for (const std::optional<int> split : {std::optional<int>(), std::optional(0), std::optional(1)}) {
      const ht::Layout none({20'011, 3}, std::nullopt, ranks);
      const auto on_group = [&](const at::Tensor& data) {
        return ht::resplit(ht::detail::wrap(data, none, *group), split);
      };
      const auto x = on_group(global), y = on_group(other);
      std::vector<float> values{ht::sum(x, exactly).item<float>(), ht::mean(x, exactly).item<float>(),
                                ht::vdot(x, y, {.reproducible = true}).item<float>()};
      const auto columns = gathered(ht::mean(x, {.axis = 0, .reproducible = true})).contiguous();
      values.insert(values.end(), columns.const_data_ptr<float>(), columns.const_data_ptr<float>() + 3);
      found.push_back(values);
    }
  }
  for (const auto& values : found)
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(::same_bits(values[i], found.front()[i]));
}

TEST_CASE("options of reproducible sums and means", "[ops][reproducible]") {
  const ht::Shape shape{300, 7};
  const auto global = hostile_tensor<float>(7, shape);
  const auto mask = at::arange(2100).reshape({300, 7}) % 3 > 0;
  const auto masked = at::where(mask, global, at::zeros({}, at::kFloat));
  const auto column_sums = exact_sums<double>(masked.to(at::kDouble).t());
  const auto counts = mask.sum(0);
  for (const auto& layout : every_layout(shape)) {
    const auto x = distribute(global, layout), where = distribute(mask, layout);
    CHECK(same_bits(ht::sum(x, {.axis = 0, .where = where, .reproducible = true}), exact_sums<float>(masked.t())));
    CHECK(same_bits(ht::sum(x, {.axis = 0, .initial = 1e20, .reproducible = true}),
                    exact_sums<float>(at::cat({global, at::full({1, 7}, 1e20, at::kFloat)}).t())));
    CHECK(same_bits(ht::sum(x, {.axis = 0, .dtype = ht::float64, .reproducible = true}),
                    exact_sums<double>(global.to(at::kDouble).t())));
    CHECK(same_bits(ht::mean(x, {.axis = 0, .where = where, .reproducible = true}),
                    (column_sums / counts).to(at::kFloat)));
    CHECK(same_bits(ht::mean(x, exactly),
                    (exact_sums<double>(global.to(at::kDouble).view({1, -1})).squeeze(0) / 2100).to(at::kFloat)));
    CHECK(same_bits(ht::mean(x, {.axis = 1, .dtype = ht::float64, .keepdims = true, .reproducible = true}),
                    exact_sums<double>(global.to(at::kDouble)).unsqueeze(1) / 7));
    CHECK_THROWS_AS(ht::prod(x, exactly), ht::ValueError);
    CHECK_THROWS_AS(ht::skew(x, exactly), ht::ValueError);
    CHECK_THROWS_AS(ht::mean(x, {.initial = 1, .reproducible = true}), ht::ValueError);
  }
  const auto nothing = ht::zeros({0}, {.dtype = ht::float32, .split = 0});
  CHECK(same_bits(ht::sum(nothing, exactly), at::zeros({}, at::kFloat)));
  CHECK(same(ht::mean(nothing, exactly), at::full({}, NAN, at::kFloat)));
  CHECK(same(ht::sum(ht::ones({5}, {.dtype = ht::int64, .split = 0}), exactly), at::full({}, 5, at::kLong)));
}

TEST_CASE("complex numbers and 16-bit floats have reproducible sums and means", "[ops][reproducible]") {
  const ht::Shape shape{400, 3};
  const auto re = hostile_tensor<double>(7, shape), im = hostile_tensor<double>(0, shape), global = at::complex(re, im);
  const auto sums = at::complex(exact_sums<double>(re.t()), exact_sums<double>(im.t()));
  const auto half = (im * 100).to(at::kHalf), brain = im.to(at::kBFloat16);
  const auto mask = at::arange(1200).reshape({400, 3}) % 4 > 0;
  const auto counts = mask.sum(0).to(at::kDouble);
  const auto part = [&](const at::Tensor& x) {
    return exact_sums<double>(at::where(mask, x, at::zeros({}, x.options())).t()) / counts;
  };
  for (const auto& layout : every_layout(shape)) {
    const auto x = distribute(global, layout);
    CHECK(same(ht::sum(x, {.axis = 0, .reproducible = true}), sums));
    CHECK(
        same(ht::mean(x, {.axis = 0, .reproducible = true}), at::complex(at::real(sums) / 400, at::imag(sums) / 400)));
    CHECK(same(ht::mean(x, {.axis = 0, .where = distribute(mask, layout), .reproducible = true}),
               at::complex(part(re), part(im))));
    // Their exact sums have so few bits that float64 holds them.
    CHECK(same(ht::sum(distribute(half, layout), exactly), half.to(at::kDouble).sum().to(at::kHalf)));
    CHECK(same(ht::sum(distribute(brain, layout), {.axis = 1, .reproducible = true}),
               brain.to(at::kDouble).sum(1).to(at::kBFloat16)));
  }
}

TEMPLATE_TEST_CASE("reproducible products of vectors are exact", "[ops][reproducible]", float, double) {
  using T = TestType;
  const std::int64_t n = GENERATE(5, 9001);
  for (const int kind : {0, 2, 4, 6, 7, 1}) {
    // Products of numbers of all sizes leave the range of the oracle; their roots do not.
    auto x = hostile_tensor<T>(kind, {n}), y = hostile_tensor<T>(7, {n});
    if (kind == 1) x = x.sign() * x.abs().sqrt(), y = y.flip(0) * x;
    ExactOracle oracle;
    for (std::int64_t i = 0; i < n; ++i) {
      const double a = x[i].template item<double>(), b = y[i].template item<double>();
      oracle.add(a * b);
      oracle.add(std::fma(a, b, -(a * b)));
    }
    const auto expected = at::full({}, oracle.template rounded<T>(), x.options());
    for (const auto& layout : every_layout({n})) {
      const auto a = distribute(x, layout), b = distribute(y, ht::Layout({n}, 0, ht::world().size()));
      CHECK(same_bits(ht::dot(a, b, {.reproducible = true}), expected));
      CHECK(same_bits(ht::inner(b, a, {.reproducible = true}), expected));
      CHECK(same_bits(ht::vdot(a, b, {.reproducible = true}), expected));
    }
  }
}

TEST_CASE("other reproducible products", "[ops][reproducible]") {
  const double largest = std::numeric_limits<double>::max(), smallest = std::numeric_limits<double>::denorm_min();
  const auto x = tensor_of<double>({largest, smallest, smallest, largest, 3}, {5});
  const auto y = tensor_of<double>({largest, smallest, -smallest, -largest, smallest}, {5});
  const auto z = at::complex(at::arange(20, at::kDouble) / 3, at::arange(20, at::kDouble) / 7 - 1).view({4, 5});
  const auto sums = at::vdot(z.flatten(), z.flatten() + 1);
  for (const auto& layout : every_layout({5})) {
    const auto product = ht::dot(distribute(x, layout), distribute(y, layout), {.reproducible = true});
    CHECK(product.item<double>() == 3 * smallest);
  }
  for (const auto& layout : every_layout({4, 5})) {
    const auto a = distribute(z, layout), b = distribute(z + 1, layout);
    CHECK(close(ht::vdot(a, b, {.reproducible = true}), sums));
    CHECK(close(ht::vdot(ht::real(a), b, {.reproducible = true}),
                at::vdot(at::complex(at::real(z), at::zeros_like(at::real(z))).flatten(), (z + 1).flatten())));
    CHECK_THROWS_AS(ht::dot(a, ht::transpose(b), {.reproducible = true}), ht::ValueError);
  }
}

// This runs alone, with HEATPP_REPRODUCIBLE=1.
TEST_CASE("HEATPP_REPRODUCIBLE makes sums, means and products of vectors exact", "[.reproducible_by_environment]") {
  const auto global = hostile_tensor<float>(7, {5000}), other = hostile_tensor<float>(2, {5000});
  for (const auto& layout : every_layout({5000})) {
    const auto x = distribute(global, layout), y = distribute(other, layout);
    CHECK(same_bits(ht::sum(x), exact_sums<float>(global.view({1, -1})).squeeze(0)));
    CHECK(same_bits(ht::sum(y), exact_sums<float>(other.view({1, -1})).squeeze(0)));
    CHECK(same_bits(ht::mean(x), gathered(ht::mean(x, exactly))));
    CHECK(same_bits(ht::vdot(x, y), gathered(ht::vdot(x, y, {.reproducible = true}))));
  }
}
