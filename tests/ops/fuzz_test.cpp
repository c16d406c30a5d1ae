// Compares random expressions on the world, in random layouts, with those on a single rank.
#include "../support.hpp"

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/heatpp.hpp>

#include <fmt/format.h>
#include <random>

namespace {

/// Draws the same numbers for both sides, and chooses layouts for one of them.
class Draw {
 public:
  Draw(std::uint64_t seed, bool alone) : random_(seed), layouts_(seed + 1), alone_(alone) {}

  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool chance() { return number(0, 1) == 1; }
  int axis_of(const ht::DNDarray& x) { return static_cast<int>(number(-x.ndim(), x.ndim() - 1)); }

  /// Returns an array of these elements in a random layout.
  ht::DNDarray lay_out(const at::Tensor& global) {
    const ht::Shape shape(global.sizes().begin(), global.sizes().end());
    if (alone_) return ht::detail::wrap(global.clone(), ht::Layout(shape, std::nullopt, 1), ht::self());
    const auto layouts = every_layout(shape);
    return distribute(global, layouts[std::uniform_int_distribution<std::size_t>(0, layouts.size() - 1)(layouts_)]);
  }

  /// Returns multiples of 1/4, which sum without rounding.
  ht::DNDarray array(const ht::Shape& shape) {
    std::vector<double> values(static_cast<std::size_t>(ht::size_of(shape)));
    for (auto& value : values) value = static_cast<double>(number(-12, 12)) / 4;
    constexpr at::ScalarType types[] = {at::kDouble, at::kFloat, at::kLong, at::kInt, at::kBool};
    return lay_out(at::tensor(values, at::kDouble).reshape(shape).to(types[number(0, 4)]));
  }
  ht::DNDarray positions(std::int64_t extent) {
    const std::int64_t n = number(0, 6);
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < n; ++i) values.push_back(extent > 0 ? number(-extent, extent - 1) : 0);
    return lay_out(at::tensor(values, at::kLong));
  }
  ht::DNDarray positions(const ht::DNDarray& x, int axis) {
    return positions(x.shape().at(static_cast<std::size_t>((axis + x.ndim()) % x.ndim())));
  }
  ht::Index entry(std::int64_t extent) {
    switch (number(0, 5)) {
      case 0: return extent > 0 ? number(-extent, extent - 1) : 0;
      case 1: return ht::slice(number(-4, 4), number(-4, 6), number(1, 3));
      case 2: return ht::slice(std::nullopt, std::nullopt, -number(1, 2));
      case 3: return positions(extent);
      case 4: {
        std::vector<std::int64_t> bits;
        for (std::int64_t i = 0; i < extent; ++i) bits.push_back(number(0, 1));
        return lay_out(at::tensor(bits, at::kLong).to(at::kBool));
      }
      default: return ht::ellipsis;
    }
  }

 private:
  std::mt19937_64 random_, layouts_;
  bool alone_;
};

using Step = ht::DNDarray (*)(const ht::DNDarray&, Draw&);

ht::DNDarray partner(const ht::DNDarray& x, Draw& draw) {
  auto shape = x.shape();
  for (auto& extent : shape) extent = draw.number(0, 3) == 0 ? 1 : extent;
  if (!shape.empty() && draw.chance()) shape.erase(shape.begin());
  return draw.array(shape);
}

const Step steps[] = {
    [](const ht::DNDarray& x, Draw& d) { return x + partner(x, d); },
    [](const ht::DNDarray& x, Draw& d) { return ht::maximum(x, partner(x, d)); },
    [](const ht::DNDarray& x, Draw& d) { return ht::where(x > 0, partner(x, d), x); },
    [](const ht::DNDarray& x, Draw& d) { return ht::floor_divide(x, partner(x, d)); },
    [](const ht::DNDarray& x, Draw&) { return ht::abs(x) * 2 - 1; },
    [](const ht::DNDarray& x, Draw& d) { return ht::sum(x, {.axis = d.axis_of(x), .keepdims = d.chance()}); },
    [](const ht::DNDarray& x, Draw& d) { return ht::max(x, {.axis = d.axis_of(x), .keepdims = d.chance()}); },
    [](const ht::DNDarray& x, Draw& d) { return ht::mean(x, d.axis_of(x)); },
    [](const ht::DNDarray& x, Draw& d) { return ht::var(x, d.axis_of(x)); },
    [](const ht::DNDarray& x, Draw& d) { return ht::argmin(x, {.axis = d.axis_of(x), .keepdims = d.chance()}); },
    [](const ht::DNDarray& x, Draw& d) { return ht::cumsum(x, d.axis_of(x)); },
    [](const ht::DNDarray& x, Draw& d) { return ht::median(x, d.axis_of(x)); },
    [](const ht::DNDarray& x, Draw& d) { return ht::diff(x, {.axis = d.axis_of(x)}); },
    [](const ht::DNDarray& x, Draw& d) { return ht::flip(x, d.axis_of(x)); },
    [](const ht::DNDarray& x, Draw& d) { return ht::roll(x, d.number(-7, 7), d.axis_of(x)); },
    [](const ht::DNDarray& x, Draw& d) { return ht::swapaxes(x, d.axis_of(x), d.axis_of(x)); },
    [](const ht::DNDarray& x, Draw& d) {
      return ht::concatenate({x, x + 1, x}, d.axis_of(x));
    },
    [](const ht::DNDarray& x, Draw& d) { return ht::repeat(x, d.number(0, 2), d.axis_of(x)); },
    [](const ht::DNDarray& x, Draw& d) {
      return ht::pad(x, {{d.number(0, 2), d.number(0, 2)}},
                     {.mode = d.chance() ? ht::PadMode::constant : ht::PadMode::reflect});
    },
    [](const ht::DNDarray& x, Draw&) { return ht::reshape(x, {-1}); },
    [](const ht::DNDarray& x, Draw&) {
      return ht::reshape(x, {2, -1});
    },
    [](const ht::DNDarray& x, Draw& d) { return ht::expand_dims(x, static_cast<int>(d.number(0, x.ndim()))); },
    [](const ht::DNDarray& x, Draw&) { return ht::squeeze(x); },
    [](const ht::DNDarray& x, Draw& d) { return ht::tril(x, d.number(-2, 2)); },
    [](const ht::DNDarray& x, Draw& d) { return ht::diagonal(x, {.offset = d.number(-1, 1)}); },
    [](const ht::DNDarray& x, Draw& d) { return x.index({d.entry(x.shape()[0])}); },
    [](const ht::DNDarray& x, Draw& d) {
      return x.ndim() > 1 ? x.index({d.entry(x.shape()[0]), d.entry(x.shape()[1])}) : x;
    },
    [](const ht::DNDarray& x, Draw& d) {
      return x.index({ht::ellipsis, d.entry(x.shape().back())});
    },
    [](const ht::DNDarray& x, Draw&) { return x.index({x > 0}); },
    [](const ht::DNDarray& x, Draw& d) { return ht::sort(x, {.axis = d.axis_of(x), .descending = d.chance()}); },
    [](const ht::DNDarray& x, Draw& d) {
      const auto axis = d.axis_of(x);
      return ht::take_along_axis(x, ht::argsort(x, {.axis = axis}), axis);
    },
    [](const ht::DNDarray& x, Draw& d) {
      return ht::sum(x, {.axis = d.axis_of(x), .keepdims = d.chance(), .where = partner(x, d) > 0});
    },
    [](const ht::DNDarray& x, Draw& d) { return ht::prod(x, {.axis = d.axis_of(x), .initial = 2}); },
    [](const ht::DNDarray& x, Draw& d) { return ht::any(x, d.axis_of(x)); },
    [](const ht::DNDarray& x, Draw& d) { return ht::ptp(x, d.axis_of(x)); },
    [](const ht::DNDarray& x, Draw& d) { return ht::cumsum(x, {.axis = d.axis_of(x), .include_initial = d.chance()}); },
    [](const ht::DNDarray& x, Draw& d) { return ht::average(x, {.axis = d.axis_of(x), .weights = ht::abs(x) + 1}); },
    [](const ht::DNDarray& x, Draw& d) {
      return ht::nanquantile(ht::where(x > 2, std::nan(""), x), 0.6, {.axis = d.axis_of(x)});
    },
    [](const ht::DNDarray& x, Draw& d) {
      const auto axis = d.axis_of(x);
      return ht::insert(x, d.positions(x, axis), 3, axis);
    },
    [](const ht::DNDarray& x, Draw& d) {
      const auto axis = d.axis_of(x);
      return ht::delete_(x, d.positions(x, axis), axis);
    },
    [](const ht::DNDarray& x, Draw& d) { return ht::take(x, d.positions(x.size())); },
    [](const ht::DNDarray& x, Draw& d) { return x.ndim() > 1 ? ht::rot90(x, static_cast<int>(d.number(-3, 3))) : x; },
    [](const ht::DNDarray& x, Draw& d) {
      return ht::tile(x, {d.number(0, 2), d.number(1, 2)});
    },
    [](const ht::DNDarray& x, Draw& d) { return ht::moveaxis(x, {d.axis_of(x)}, {d.axis_of(x)}); },
    [](const ht::DNDarray& x, Draw& d) { return ht::searchsorted(ht::sort(d.array({d.number(0, 9)})), x); },
    [](const ht::DNDarray& x, Draw& d) { return ht::isin(x, partner(x, d)); },
    [](const ht::DNDarray& x, Draw& d) {
      return ht::interp(x, {ht::arange(5, {.comm = x.comm()}), ht::arange(5, {.comm = x.comm()}) * d.number(1, 3)});
    },
    [](const ht::DNDarray& x, Draw&) { return ht::histogram(x, {.bins = 5}).first; },
    [](const ht::DNDarray& x, Draw& d) { return ht::trapezoid(x, {.axis = d.axis_of(x)}); },
    [](const ht::DNDarray& x, Draw& d) { return x.ndim() == 1 ? ht::convolve(x, d.array({d.number(1, 9)})) : x; },
    [](const ht::DNDarray& x, Draw&) { return ht::unique(x); },
    [](const ht::DNDarray& x, Draw& d) { return ht::topk(x, d.number(0, 3), {.axis = d.axis_of(x)}).values; },
    [](const ht::DNDarray& x, Draw& d) { return ht::quantile(x, 0.3, {.axis = d.axis_of(x)}); },
    [](const ht::DNDarray& x, Draw&) {
      return ht::matmul(x.astype(ht::float64), ht::swapaxes(x, -1, -2).astype(ht::float64));
    },
    [](const ht::DNDarray& x, Draw&) { return ht::map([](float v) { return v * v - 1; }, x); },
    [](const ht::DNDarray& x, Draw&) { return ht::gradient(x); },
    [](const ht::DNDarray& x, Draw& d) {
      auto y = ht::copy(x);
      if (x.ndim() > 1) y.index_put({d.entry(x.shape()[0]), d.entry(x.shape()[1])}, d.number(-9, 9));
      return y;
    },
    [](const ht::DNDarray& x, Draw& d) {
      auto y = ht::copy(x);
      const auto p = d.positions(x.shape().back());
      y.index_put({ht::ellipsis, p}, d.array({p.size()}).astype(x.dtype()));
      return y;
    },
};

struct Outcome {
  std::optional<ht::DNDarray> value;
  std::string history, error;
};

Outcome evaluate(std::uint64_t seed, bool alone) {
  Draw draw(seed, alone);
  Outcome outcome;
  try {
    ht::Shape shape;
    for (std::int64_t axes = draw.number(1, 3); axes > 0; --axes) shape.push_back(draw.number(0, 7));
    auto x = draw.array(shape);
    for (int i = 0; i < 4; ++i) {
      const auto n = draw.number(0, std::size(steps) - 1);
      outcome.history += fmt::format(" {}", n);
      if (x.ndim() > 0) x = steps[n](x, draw);
    }
    outcome.value = x;
  } catch (const ht::Error& error) {
    outcome.error = error.what();
  }
  return outcome;
}

Agreement agree(const ht::DNDarray& together, const ht::DNDarray& alone) {
  const auto& expected = alone.larray();
  if (!at::isFloatingType(expected.scalar_type())) return equals(together, expected);
  return close(together, expected, expected.scalar_type() == at::kDouble ? 1e-10 : 1e-4);
}

}  // namespace

TEST_CASE("random expressions do not depend on ranks and layouts", "[ops][fuzz][host]") {
  const char* given = std::getenv("HEATPP_FUZZ_SEEDS");
  const std::uint64_t seeds = given ? std::strtoull(given, nullptr, 10) : 400;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto together = evaluate(seed, false), alone = evaluate(seed, true);
    CAPTURE(seed, alone.history, together.error, alone.error);
    CHECK(together.value.has_value() == alone.value.has_value());
    if (together.value && alone.value) CHECK(agree(*together.value, *alone.value));
  }
}
