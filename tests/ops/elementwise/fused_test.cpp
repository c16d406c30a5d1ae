// Formulas that are computed in one pass, beside the same calls one by one.
#include "../../scarce_memory.hpp"
#include "../../support.hpp"
#include "fusing.hpp"

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/elementwise/in_place.hpp>
#include <heatpp/ops/elementwise/operators.hpp>
#include <heatpp/ops/operands/detail/align_pending.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/reductions/describe.hpp>
#include <heatpp/ops/reductions/moments.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>

#include <fmt/format.h>
#include <random>

namespace {

namespace fused = ht::detail::fused;

bool is_pending(const ht::DNDarray& x) { return fused::is_pending(ht::detail::pending_block(x)); }

constexpr std::int64_t rows = 400, columns = 120;  // enough for formulas on each of four ranks

/// Returns numbers of both signs, with zeros, infinities and NaN if the dtype has them.
at::Tensor numbers(at::IntArrayRef shape, at::ScalarType type, std::int64_t seed) {
  const auto n = c10::multiply_integers(shape);
  auto values = ((at::arange(n, at::kDouble) + static_cast<double>(seed)) * 0.7390851).sin() * 3;
  values = at::where(at::arange(n) % 97 == 5, at::zeros({}, at::kDouble), values);
  values = at::where(at::arange(n) % 89 == 7, -at::zeros({}, at::kDouble), values);
  if (!at::isIntegralType(type, true)) {
    values = at::where(at::arange(n) % 193 == 3, at::full({}, INFINITY, at::kDouble), values);
    values = at::where(at::arange(n) % 211 == 4, at::full({}, NAN, at::kDouble), values);
  }
  return (type == at::kBool ? values > 0 : values).reshape(shape).to(type);
}

/// The arrays that random calls read and write.
class Pool {
 public:
  Pool(std::uint64_t seed, const ht::Layout& layout) : random_(seed) {
    std::int64_t next = 0;
    for (const auto type : {at::kFloat, at::kDouble, at::kLong, at::kBool, at::kFloat, at::kInt})
      arrays_.push_back(distribute(numbers({rows, columns}, type, ++next), layout));
    arrays_.push_back(on_all(numbers({columns}, at::kFloat, 20)));
    arrays_.push_back(on_all(numbers({rows, 1}, at::kFloat, 21)));
    arrays_.push_back(on_all(numbers({1}, at::kDouble, 22).squeeze(0)));
    arrays_.push_back(ht::mean(ht::where(ht::isfinite(arrays_[0]), arrays_[0], 0.0F)));
  }

  void change() {
    const auto n = draw(0, 45);
    history += fmt::format(" {}", n);
    try {
      if (n < 31) add(result(n));
      else if (n < 41) add(reduced(result(draw(0, 30))));
      else write(n);
    } catch (const ht::Error& error) {
      history += error.what();
    }
  }

  std::vector<ht::DNDarray> arrays_;
  std::string history;

 private:
  std::int64_t draw(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  const ht::DNDarray& any() { return arrays_[static_cast<std::size_t>(draw(0, std::ssize(arrays_) - 1))]; }
  const ht::DNDarray& large() {
    const auto& x = any();
    return x.size() == rows * columns ? x : arrays_[static_cast<std::size_t>(draw(0, 5))];
  }
  ht::DNDarray& writable() { return arrays_[static_cast<std::size_t>(draw(0, std::ssize(arrays_) - 1))]; }
  ht::Scalar number() {
    const ht::Scalar given[] = {2, 0, -3, 0.1, 1000, true, -0.0, 1e300, 2.0};
    return given[draw(0, 8)];
  }

  void add(ht::DNDarray x) {
    constexpr std::ptrdiff_t most = 15;
    if (std::ssize(arrays_) < most) arrays_.push_back(std::move(x));
    else arrays_[static_cast<std::size_t>(draw(6, most - 1))] = std::move(x);
  }

  ht::DNDarray result(std::int64_t n) {
    switch (n) {
      case 0: return large() + any();
      case 1: return any() - large();
      case 2: return large() * any();
      case 3: return large() / any();
      case 4: return large() + number();
      case 5: return number() - large();
      case 6: return large() * number();
      case 7: return large() / number();
      case 8: return ht::sqrt(ht::abs(large())) * large() - large() / (large() * large() + 1);
      case 9: return -large();
      case 10: return ht::where(large() < any(), large(), any());
      case 11: return ht::where(large(), number(), large());
      case 12: return (large() > any()) & (large() <= number());
      case 13: return (large() == number()) | ht::isnan(large());
      case 14:
        return large().astype(std::array{ht::float32, ht::float64, ht::int32}[static_cast<std::size_t>(draw(0, 2))]);
      case 15: return ht::power(large(), 2);
      case 16: return ht::square(large()) + ht::reciprocal(large());
      case 17: return ht::exp(large()) * large() - number();
      case 18: return ht::where(ht::isfinite(large()), large(), 0.0F);
      case 19: return !(large() != number()) ^ ht::isinf(large());
      case 20: return ht::maximum(large(), any()) - ht::minimum(large(), number());
      case 21: return ht::clip(large(), -1, 1.5);
      case 22: return ht::clip(large(), large(), std::nullopt) * ht::sign(large());
      case 23: return ht::exp(large()) + ht::log(large());
      case 24: return ht::sin(large()) * ht::cos(large()) + ht::tanh(large());
      case 25: return ht::floor(large()) + ht::ceil(large()) * ht::trunc(large());
      case 26: return ht::power(large(), 3) - ht::rint(large());
      case 27: return ht::arctan(large()) + ht::arcsinh(large()) * ht::log1p(ht::abs(large()));
      case 28: return ht::arcsin(large()) - ht::arccos(large()) + ht::arccosh(ht::abs(large()) + 1);
      case 29: return ht::sinh(large()) * ht::arctanh(large()) - ht::cosh(large());
      default: return ht::expm1(large()) / ht::exp2(large()) - ht::log10(large()) * ht::log2(large());
    }
  }

  ht::DNDarray reduced(const ht::DNDarray& x) {
    const auto n = draw(0, 8);
    history += fmt::format("r{}", n);
    ht::ReduceOptions along{.keepdims = draw(0, 1) == 0};
    if (const auto axis = draw(-1, 1); axis >= 0) along.axis = static_cast<int>(axis);
    switch (n) {
      case 0: return ht::sum(x, along);
      case 1: return ht::max(x, along);
      case 2: return ht::min(x, along);
      case 3: return ht::any(x, along);
      case 4: return ht::all(x, along);
      case 5: return ht::mean(x, along);
      case 6: return ht::var(x, {.axis = along.axis, .keepdims = along.keepdims});
      case 7: return ht::skew(x, along);
      default: return ht::describe(x, {.axis = along.axis, .keepdims = along.keepdims}).std;
    }
  }

  void write(std::int64_t n) {
    auto& x = writable();
    switch (n) {
      case 41: x += any() * number(); break;
      case 42: x -= large(); break;
      case 43: x *= number(); break;
      case 44: x(ht::slice(1, 3)) = number(); break;
      default: arrays_[0] = x.dtype() == ht::float32 && x.size() == rows * columns ? ht::DNDarray(x) : arrays_[0];
    }
  }

  std::mt19937_64 random_;
};

/// Says where two blocks differ in dtype, shape or bits; NaN is equal to NaN. Empty if they do not.
std::string difference(const at::Tensor& a, const at::Tensor& b) {
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) return a.toString() + " and " + b.toString();
  const auto bits = [](const at::Tensor& x) {
    return x.contiguous().view(x.element_size() == 4 ? at::kInt : x.element_size() == 8 ? at::kLong : at::kByte);
  };
  const auto differs = at::logical_and(bits(a) != bits(b), at::logical_or(a == a, b == b));
  if (!differs.any().item<bool>()) return {};
  const auto x = a.masked_select(differs), y = b.masked_select(differs);
  return fmt::format("{} of {} differ, first {} and {}", x.numel(), a.toString(), x[0].item<double>(),
                     y[0].item<double>());
}

/// Returns square roots that are rounded correctly, as LibTorch's are not always.
at::Tensor roots(const at::Tensor& x) {
  auto result = x.clone();
  auto* const values = result.data_ptr<double>();
  std::transform(values, values + result.numel(), values, [](double value) { return std::sqrt(value); });
  return result;
}

}  // namespace

TEST_CASE("random formulas have the bits of single calls", "[ops][fused][host]") {
  const auto layouts = every_layout({rows, columns});
  std::int64_t seen = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto& layout = layouts[seed % layouts.size()];
    const auto changed = [&](bool enabled) {
      const Fusing fusing(enabled);
      Pool pool(seed, layout);
      for (int i = 0; i < 14; ++i) {
        pool.change();
        seen += is_pending(pool.arrays_.back());
      }
      return pool;
    };
    const auto together = changed(true), alone = changed(false);
    CAPTURE(seed, together.history);
    CHECK(together.history == alone.history);
    REQUIRE(together.arrays_.size() == alone.arrays_.size());
    for (std::size_t i = 0; i < alone.arrays_.size(); ++i) {
      CAPTURE(i, difference(together.arrays_[i].larray(), alone.arrays_[i].larray()));
      CHECK(together.arrays_[i].layout() == alone.arrays_[i].layout());
      CHECK(difference(together.arrays_[i].larray(), alone.arrays_[i].larray()).empty());
    }
  }
  CHECK(seen > 0);
}

TEST_CASE("large elementwise results are pending until their elements are used", "[ops][fused][host]") {
  const auto x = ht::full({rows, columns}, 3, {.dtype = ht::float32, .split = 0});
  const auto before = fused::pending_count.load();
  {
    const auto y = x * x + 1;
    CHECK(is_pending(y));
    CHECK(y.dtype() == ht::float32);
    CHECK(y.device() == ht::cpu);
    CHECK(y.shape() == ht::Shape{rows, columns});
    CHECK(is_pending(y));
    CHECK(y.larray().max().item<float>() == 10);
    CHECK_FALSE(is_pending(y));
    const auto dropped = y + 1;
    CHECK(fused::pending_count == before + 1);
  }
  CHECK(fused::pending_count == before);
  CHECK_FALSE(is_pending(ht::ones({10}) + 1));
  CHECK(is_pending(ht::arctan(x) + ht::arcsinh(x) * ht::log1p(x)));
  CHECK(is_pending(ht::copy(x.astype(ht::int32)) * 2 + 1));
  const Fusing off(false);
  CHECK_FALSE(is_pending(x + 1));
}

TEST_CASE("a reduction computes a formula that it alone uses without storing it", "[ops][fused][host]") {
  const auto x = ht::full({rows, columns}, 3, {.dtype = ht::float32, .split = 0});
  const auto y = x * x + 1;
  CHECK(ht::sum(y).item<float>() == 10 * rows * columns);
  CHECK(is_pending(y));  // no memory was taken
  CHECK(ht::max(y).item<float>() == 10);
  CHECK_FALSE(is_pending(y));  // but a second reduction finds it stored
  const auto z = x * 2, kept = z;
  CHECK(ht::mean(z).item<float>() == 6);
  CHECK_FALSE(is_pending(kept));
  CHECK(same(ht::sum(x * 2, {.axis = 1}), at::full({rows}, 6.0F * columns)));
  CHECK(same(ht::sum(x * 2, {.axis = 0}), at::full({columns}, 6.0F * rows)));
  CHECK(ht::all(x * 2 > 5).item<bool>());
  CHECK_FALSE(ht::any(x * 2 > 6).item<bool>());
  CHECK(ht::sum(x * 2 > 5).item<std::int64_t>() == rows * columns);
  const auto e = ht::exp(x - 3);
  CHECK(ht::sum(e).item<float>() == rows * columns);
  CHECK_FALSE(is_pending(e));  // slow functions are not computed again
  CHECK(same(e, at::ones({rows, columns})));
}

TEST_CASE("a write to an operand does not change a pending result", "[ops][fused][host]") {
  auto x = ht::full({rows, columns}, 3, {.dtype = ht::float32, .split = 0});
  const auto* memory = x.larray().const_data_ptr();
  const auto y = x + 1, row = x(2) * 2;
  x(ht::slice(0, 5)) = 7;
  CHECK_FALSE(is_pending(y));
  CHECK(x.larray().const_data_ptr() == memory);
  CHECK(same(y, at::full({rows, columns}, 4.0F)));
  CHECK(same(row, at::full({columns}, 6.0F)));

  const auto z = x * 2;
  x += 1;
  CHECK(same(z(0), at::full({columns}, 14.0F)));
  CHECK(same(x(0), at::full({columns}, 8.0F)));

  auto w = x - 1;  // itself pending
  const auto kept = w;
  w += 5;
  CHECK(same(kept(0), at::full({columns}, 7.0F)));
  CHECK(same(w(0), at::full({columns}, 12.0F)));
}

TEST_CASE("results in place are computed together with their operands", "[ops][fused][host]") {
  const auto a = ht::full({rows, columns}, 3, {.dtype = ht::float32, .split = 0});
  auto x = ht::full({rows, columns}, 1, {.dtype = ht::float32, .split = 0});
  const auto* memory = x.larray().const_data_ptr();
  x += a * a;
  CHECK_FALSE(is_pending(x));
  CHECK(x.larray().const_data_ptr() == memory);
  CHECK(same(x, at::full({rows, columns}, 10.0F)));
  x += x * 2;
  CHECK(same(x, at::full({rows, columns}, 30.0F)));

  auto y = a + 1;
  y *= a;
  y -= 2;
  CHECK(is_pending(y));
  CHECK(same(y, at::full({rows, columns}, 10.0F)));
}

TEST_CASE("memory that others may write is read before a call returns", "[ops][fused][host]") {
  const std::int64_t n = 50'000;
  std::vector<float> host(static_cast<std::size_t>(n), 2);
  const auto adopted = ht::from_local(host, {.split = 0});
  const auto own = ht::full(adopted.shape(), 5, {.dtype = ht::float32, .split = 0});
  const auto y = (own + 1) * adopted;
  CHECK_FALSE(is_pending(y));
  std::ranges::fill(host, 100);
  CHECK(ht::max(y).item<float>() == 12);

  auto given = ht::full({n * 4}, 2, {.dtype = ht::float32, .split = 0});
  const auto elements = given.local<float>();
  const auto z = given * 3;
  CHECK_FALSE(is_pending(z));
  std::ranges::fill(elements, 100.0F);
  CHECK(ht::max(z).item<float>() == 6);
  CHECK(ht::min(given).item<float>() == 100);

  auto tensor = at::full({n}, 2.0F);
  auto shared = ht::from_tensor(tensor);
  const auto w = shared + 1;
  CHECK_FALSE(is_pending(w));
  tensor.fill_(100);
  CHECK(ht::max(w).item<float>() == 3);
  shared += 1;  // takes memory of its own
  CHECK(tensor.max().item<float>() == 100);
  CHECK(ht::max(shared).item<float>() == 101);
}

TEST_CASE("values that are used again are computed once", "[ops][fused][host]") {
  const auto x = ht::full({rows, columns}, 3, {.dtype = ht::float32, .split = 0});
  const auto y = x + 1;
  const auto z = y * 2;
  CHECK(is_pending(y));
  const auto w = y * y + y;  // parts of one formula
  const auto v = y - 1;
  CHECK_FALSE(is_pending(y));
  CHECK(same(z, at::full({rows, columns}, 8.0F)));
  CHECK(same(w, at::full({rows, columns}, 20.0F)));
  CHECK(same(v, at::full({rows, columns}, 3.0F)));
  auto sum = x;
  for (int i = 0; i < 100; ++i) sum = sum + x * x;  // longer than a formula may be
  CHECK(same(sum, at::full({rows, columns}, 903.0F)));
  std::vector<ht::DNDarray> many;
  for (int i = 0; i < 40; ++i) many.push_back(x + i);
  CHECK(fused::pending_count <= 20);
  for (int i = 0; i < 40; ++i)
    CHECK(ht::max(many[static_cast<std::size_t>(i)]).item<float>() == static_cast<float>(3 + i));
}

TEST_CASE("errors of fused calls come at the call and name it", "[ops][fused][host]") {
  const auto x = ht::ones({rows, columns}, {.split = 0}), y = x * 2;
  CHECK(message_of<ht::ValueError>([&] { return y + ht::ones({7}); }).starts_with("[add] got"));
  CHECK(message_of<ht::TypeError>([&] {
          return (x > 0) - (y > 1);
        }).starts_with("[subtract] got operands of bool, bool"));
  auto whole = ht::ones({rows, columns}, {.dtype = ht::int64, .split = 0});
  CHECK(message_of<ht::TypeError>([&] { whole += y; }).starts_with("[add_] got"));
  CHECK(same(y, at::full({rows, columns}, 2.0F)));
}

TEST_CASE("a pending result that gets no memory names its function", "[ops][fused][host]") {
  const auto x = ht::zeros({64 << 20}, {.dtype = ht::float32});
  const auto y = ht::sqrt(x + 1);
  std::string message;
  {
    const ScarceMemory scarce;
    message = message_of<ht::MemoryError>([&] { return y.larray(); });
  }
  const bool last = ht::world().rank() + 1 == ht::world().size();
  CHECK((last ? message.starts_with("[sqrt] got no memory for a result") : message.empty()));
  CHECK(y.larray()[5].item<float>() == 1);  // it can be computed later
}

TEST_CASE("square roots are rounded correctly, at once and later", "[ops][fused][host]") {
  const auto global = at::arange(20000, at::kDouble) * 0.37;
  for (const auto& layout : every_layout({20000})) {
    const auto x = distribute(global, layout);
    CHECK(same(ht::sqrt(x), roots(global)));
    CHECK(same(ht::sqrt(x + 1), roots(global + 1)));
    CHECK(same(ht::sqrt(x(ht::slice(0, 10))), roots(global.narrow(0, 0, 10))));
  }
}
