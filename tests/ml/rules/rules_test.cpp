#include "estimators.hpp"

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ml/estimator.hpp>

// Tests the rules that hold for every estimator.
namespace {

using Catch::Contains;
using Catch::StartsWith;

/// Every second flower, in mm: (75, 4) whole numbers, which all dtypes represent exactly.
at::Tensor flowers() { return at::round(10 * iris()).slice(0, 0, c10::nullopt, 2).contiguous(); }

at::Tensor targets(Targets of) {
  if (of == Targets::labels) return species().slice(0, 0, c10::nullopt, 2) - 1;
  const auto x = flowers();
  return 0.3 * x.select(1, 0) - 0.1 * x.select(1, 2) + at::remainder(at::arange(75, at::kDouble), 7.0);
}

ht::DNDarray cut(const at::Tensor& x) {
  return distribute(x, ht::Layout({x.sizes().begin(), x.sizes().end()}, 0, ht::world().size()));
}

ht::DNDarray on(const ht::Communicator& comm, const at::Tensor& x) {
  const ht::Layout layout({x.sizes().begin(), x.sizes().end()}, 0, comm.size());
  const auto first = layout.offset(comm.rank());
  return ht::detail::wrap(x.slice(0, first, first + layout.count(comm.rank())).clone(), layout, comm);
}

Given given(const Estimator& e, ht::DNDarray rows) {
  if (e.targets == Targets::none) return {std::move(rows)};
  return {std::move(rows), beside(targets(e.targets))};
}
Given given_on(const ht::Communicator& comm, const Estimator& e, const at::Tensor& x) {
  if (e.targets == Targets::none) return {on(comm, x)};
  return {on(comm, x), on(comm, targets(e.targets))};
}

std::unique_ptr<Model> fitted(const Estimator& e, const Given& data) {
  auto model = e.unfitted->copy();
  model->fit(data);
  return model;
}

at::Tensor rows_for(const Estimator& e) { return e.whole_numbers ? flowers().to(at::kLong) : flowers(); }

/// Checks that all methods give equal results: whole numbers exactly, others relative to the largest of them.
void check_same(const std::vector<Model::Result>& found, const std::vector<Model::Result>& expected, double tolerance) {
  REQUIRE(found.size() == expected.size());
  REQUIRE(!expected.empty());
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO(expected[i].method);
    const auto a = found[i].value, b = expected[i].value;
    const auto wide = a.is_complex() || b.is_complex() ? at::kComplexDouble : at::kDouble;
    REQUIRE(a.sizes() == b.sizes());
    if (at::isFloatingType(b.scalar_type())) {
      const auto size = at::where(b.isfinite(), b, at::zeros({}, b.options())).abs().max().item<double>();
      CHECK(near_to(a.to(wide), b.to(wide), 0, tolerance * size, /*equal_nan=*/true));
    } else {
      CHECK(equals(a, b));
    }
  }
}

/// Returns the beginning of errors.
std::string start(const Estimator& e, const std::string& method) {
  if (e.composed) return "[";
  return "[" + e.name + "." + (e.name == "Laplacian" ? "construct" : method) + "] got ";
}

/// Calls f(estimator) for each one, and names it if a check fails.
template <class F>
void for_all(F f) {
  for (const auto& e : estimators()) {
    INFO(e.name);
    f(e);
  }
}

}  // namespace

TEST_CASE("an estimator learns the same from rows of any layout and dtype", "[ml][rules]") {
  for_all([](const Estimator& e) {
    const auto x = rows_for(e);
    const auto all = ht::Layout({75, 4}, std::nullopt, ht::world().size());
    const auto expected = fitted(e, given(e, distribute(x, all)))->of(distribute(x, all));
    if (!e.by_cut)
      for (const auto& layout : every_layout({75, 4})) {
        INFO("split " << layout.split().value_or(-1) << ", " << (layout.split() ? layout.count(0) : 75)
                      << " on rank 0");
        const auto rows = distribute(x, layout);
        check_same(fitted(e, given(e, rows))->of(rows), expected, e.tolerance);
      }
    for (const auto type : {at::kFloat, at::kDouble, at::kLong, at::kShort}) {
      if (e.whole_numbers && at::isFloatingType(type)) continue;
      INFO(type);
      const auto rows = e.by_cut ? distribute(x.to(type), all) : cut(x.to(type));
      // 16-bit numbers are processed in float32, whose last bit is 6e-8 of distances and products of some numbers.
      const bool narrow = type == at::kFloat || type == at::kShort;
      check_same(fitted(e, given(e, rows))->of(rows), expected, narrow ? std::max(e.tolerance, 3e-6) : e.tolerance);
    }
  });
}

TEST_CASE("an estimator that is not fitted says so by its name", "[ml][rules]") {
  for_all([](const Estimator& e) {
    if (e.learns_nothing) return;
    const auto calls = e.unfitted->calls();
    CHECK(!calls.empty());
    for (const auto& [method, takes_rows, call] : calls) {
      const auto rows = cut(rows_for(e)), y = beside(targets(e.targets));
      const auto text = message_of<ht::NotFittedError>([&] { call(*e.unfitted, rows, y); });
      CHECK_THAT(text, StartsWith(start(e, method)));
    }
  });
}

TEST_CASE("rows with another number of features than the fit are refused with both numbers", "[ml][rules]") {
  for_all([](const Estimator& e) {
    if (e.learns_nothing || e.of_labels) return;
    const auto x = rows_for(e);
    const auto model = fitted(e, given(e, cut(x)));
    const auto wrong = cut(e.fields ? x.slice(0, 0, 74) : x.slice(1, 0, 3));
    for (const auto& [method, takes_rows, call] : model->calls()) {
      if (!takes_rows || method == "inverse_transform") continue;
      const auto text = message_of<ht::ValueError>([&] { call(*model, wrong, beside(targets(e.targets))); });
      CHECK_THAT(text, StartsWith(start(e, method)));
      CHECK_THAT(text,
                 Contains(e.fields ? "(74," : "got 3 features") && Contains(e.fields ? "(75," : "the 4 of the fit"));
    }
  });
}

TEST_CASE("a number that a fit refuses is an error on all ranks with its global row", "[ml][rules]") {
  for_all([](const Estimator& e) {
    if (e.whole_numbers || e.any_numbers) return;
    auto x = flowers();
    x[40][1] = x[60][0] = e.missing ? INFINITY : NAN;
    for (const auto& layout : every_layout({75, 4})) {
      const auto rows = distribute(x, layout);
      const auto text = message_of<ht::ValueError>([&] { static_cast<void>(fitted(e, given(e, rows))); });
      CHECK_THAT(text, StartsWith(start(e, "fit")));
      if (!e.fields && !e.learns_nothing && !e.composed) CHECK_THAT(text, Contains("in row 40"));
      if (!e.checks_rows) continue;
      const auto model = fitted(e, given(e, distribute(flowers(), layout)));
      const auto method = model->of(distribute(flowers(), layout)).front().method;
      CHECK_THAT(message_of<ht::ValueError>([&] { static_cast<void>(model->of(rows)); }),
                 StartsWith(start(e, method)) && Contains("in row 40"));
    }
  });
}

TEST_CASE("a fit refuses no rows and no features", "[ml][rules]") {
  for_all([](const Estimator& e) {
    if ((e.learns_nothing && e.any_numbers) || e.of_labels) return;
    for (const auto& shape : {std::pair(0, 4), std::pair(75, 0), std::pair(0, 0)}) {
      if (e.of_no_rows && shape.first == 0) continue;
      INFO(shape.first << " rows of " << shape.second);
      const auto x = rows_for(e).slice(0, 0, shape.first).slice(1, 0, shape.second);
      auto data = given(e, cut(x));
      if (data.targets) data.targets = beside(targets(e.targets).slice(0, 0, shape.first));
      const auto text = message_of<ht::ValueError>([&] { static_cast<void>(fitted(e, data)); });
      CHECK_THAT(text, StartsWith(start(e, "fit")));
    }
  });
}

TEST_CASE("targets and weights that are not a number for each row are refused", "[ml][rules]") {
  for_all([](const Estimator& e) {
    const auto message = [&](const Given& data) {
      return message_of<ht::ValueError>([&] { static_cast<void>(fitted(e, data)); });
    };
    auto data = given(e, cut(rows_for(e)));
    const auto weights = [&](at::Tensor w) { return Given{data.rows, data.targets, beside(w)}; };
    if (data.targets)
      CHECK_THAT(message({data.rows, beside(targets(e.targets).slice(0, 0, 74))}),
                 StartsWith(start(e, "fit")) && (Contains("75 rows") || Contains("(75, 4)")));
    if (!e.unfitted->takes_weights()) return;
    const auto ones = at::ones({75}, at::kDouble);
    for (const double bad : {-1.0, double{NAN}, double{INFINITY}}) {
      auto w = ones.clone();
      w[70] = bad;
      CHECK_THAT(message(weights(w)), StartsWith(start(e, "fit") + "1 weights that are negative or not"));
    }
    CHECK_THAT(message(weights(ones.slice(0, 0, 74))), StartsWith(start(e, "fit") + "weights of shape (74,)"));
    CHECK_THAT(message(weights(0 * ones)), Contains("a sum of 0"));
  });
}

TEST_CASE("a weight of 2 is the row twice", "[ml][rules]") {
  for_all([](const Estimator& e) {
    if (!e.weight_is_rows) return;
    const auto x = flowers();
    const auto weights = 1 + at::remainder(at::arange(75, at::kLong), 2);
    const auto twice = at::arange(75, at::kLong).repeat_interleave(weights);
    Given weighted = given(e, cut(x)), repeated{cut(x.index_select(0, twice))};
    weighted.weights = beside(weights.to(at::kDouble));
    if (weighted.targets) repeated.targets = beside(targets(e.targets).index_select(0, twice));
    check_same(fitted(e, weighted)->of(cut(x)), fitted(e, repeated)->of(cut(x)), e.tolerance);
  });
}

TEST_CASE("copies and models read from a file behave as the model", "[ml][rules]") {
  for_all([](const Estimator& e) {
    const auto x = rows_for(e);
    const auto rows = cut(x);
    const auto model = fitted(e, given(e, rows));
    const auto expected = model->of(rows);
    const auto copy = model->copy();
    const auto assigned = e.unfitted->copy();
    assigned->assign(*model);
    if (const auto read = model->there_and_back()) check_same(read->of(rows), expected, e.fields ? e.tolerance : 0);
    model->fit(given(e, cut(x.flip(0) + 1)));  // does not change copies
    check_same(copy->of(rows), expected, 0);
    check_same(assigned->of(rows), expected, 0);
  });
}

// Reads states as commit fb3ded20 wrote them.
TEST_CASE("files without newer options are read with the earlier behavior", "[ml][rules]") {
  for_all([](const Estimator& e) {
    const auto rows = cut(rows_for(e));
    const auto model = fitted(e, given(e, rows));
    if (const auto read = model->of_older_state())
      check_same(read->of(rows), model->of(rows), e.fields ? e.tolerance : 0);
  });
}

TEST_CASE("ranks of another communicator learn the same, and are not mixed with others", "[ml][rules]") {
  const auto& world = ht::world();
  const auto half = world.split(world.rank() < (world.size() + 1) / 2 ? 0 : 1).value();
  const auto reversed = world.split(0, -world.rank()).value();
  for_all([&](const Estimator& e) {
    const auto x = rows_for(e);
    const auto expected = fitted(e, given_on(ht::self(), e, x))->of(on(ht::self(), x));
    for (const auto& comm : {half, reversed}) {
      INFO(comm.size() << " ranks");
      const auto data = given_on(comm, e, x);
      const auto model = fitted(e, data);
      if (!e.by_cut) check_same(model->of(data.rows), expected, e.tolerance);
      if (comm.same_ranks(world)) continue;
      if (e.keeps_cut) CHECK_THROWS_AS(model->of(cut(x)), ht::CommError);
      else if (!e.by_cut) check_same(model->of(cut(x)), expected, e.tolerance);
      if (data.targets) CHECK_THROWS_AS(fitted(e, {data.rows, cut(targets(e.targets))}), ht::CommError);
    }
  });
}
