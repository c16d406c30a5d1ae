#include "../support.hpp"

#include <functional>
#include <heatpp/heatpp.hpp>
#include <heatpp/interop/mpi.hpp>

TEST_CASE("arrays on duplicates of one communicator meet on that of the first", "[ops][communicators][host]") {
  const auto numbers = at::arange(12, at::kDouble).reshape({4, 3});
  const auto copy = ht::from_mpi(MPI_COMM_WORLD);
  for (const auto& layout : every_layout({4, 3})) {
    const auto x = distribute(numbers, layout);
    const auto y = ht::from_tensor(numbers, {.split = 1, .comm = copy});

    auto sum = x + y;
    CHECK(sum.comm() == x.comm());
    CHECK(same(sum, numbers + numbers));
    CHECK(same(ht::matmul(x, ht::transpose(y)), numbers.matmul(numbers.t())));
    sum += y;
    sum(0) = y(1);
    auto expected = numbers * 3;
    expected[0] = numbers[1];
    CHECK(same(sum, expected));
    CHECK(ht::array_equal(ht::concatenate({x, y}), ht::concatenate({y, x})));
  }
}

TEST_CASE("arrays on different communicators do not meet", "[ops][communicators][host]") {
  using Call = std::function<void(const ht::DNDarray&, const ht::DNDarray&)>;
  const auto square = [](const ht::DNDarray& v) { return ht::expand_dims(v, 1) * v; };
  const std::vector<std::pair<std::string, Call>> calls{
      {"add", [](const auto& x, const auto& y) { (void)(x + y); }},
      {"concatenate",
       [](const auto& x, const auto& y) {
         (void)ht::concatenate({x, y});
       }},
      {"isin", [](const auto& x, const auto& y) { (void)ht::isin(x, y); }},
      {"searchsorted", [](const auto& x, const auto& y) { (void)ht::searchsorted(x, y); }},
      {"convolve", [](const auto& x, const auto& y) { (void)ht::convolve(x, y); }},
      {"interp",
       [](const auto& x, const auto& y) {
         (void)ht::interp(x, {x, y});
       }},
      {"index", [](const auto& x, const auto& y) { (void)x.index({y.astype(ht::int64)}); }},
      {"index", [](const auto& x, const auto& y) { (void)x.index({ht::any(y > 0)}); }},
      {"bincount", [](const auto& x, const auto& y) { (void)ht::bincount(x.astype(ht::int64), {.weights = y}); }},
      {"histogram", [](const auto& x, const auto& y) { (void)ht::histogram(x, {.weights = y}); }},
      {"histogram", [](const auto& x, const auto& y) { (void)ht::histogram(x, {.edges = y}); }},
      {"histogram2d", [](const auto& x, const auto& y) { (void)ht::histogram2d(x, y); }},
      {"histogramdd", [](const auto& x, const auto& y) { (void)ht::histogramdd(x, {.weights = y}); }},
      {"polyfit", [](const auto& x, const auto& y) { (void)ht::polyfit(x, y, 1); }},
      {"polyfit", [](const auto& x, const auto& y) { (void)ht::polyfit(x, x, 1, {.weights = y}); }},
      {"polyval", [](const auto& x, const auto& y) { (void)ht::polyval(x, y); }},
      {"polyadd", [](const auto& x, const auto& y) { (void)ht::polyadd(x, y); }},
      {"polysub", [](const auto& x, const auto& y) { (void)ht::polysub(x, y); }},
      {"polymul", [](const auto& x, const auto& y) { (void)ht::polymul(x, y); }},
      {"polydiv", [](const auto& x, const auto& y) { (void)ht::polydiv(x, y); }},
      {"gradient", [](const auto& x, const auto& y) { (void)ht::gradient(x, {.coordinates = y}); }},
      {"broadcast_arrays",
       [](const auto& x, const auto& y) {
         (void)ht::broadcast_arrays({x, y});
       }},
      {"meshgrid",
       [](const auto& x, const auto& y) {
         (void)ht::meshgrid({x, y});
       }},
      {"ix_",
       [](const auto& x, const auto& y) {
         (void)ht::ix_({x.astype(ht::int64), y.astype(ht::int64)});
       }},
      {"array_equal", [&](const auto& x, const auto& y) { (void)ht::array_equal(x, ht::flatten(square(y))); }},
      {"array_equiv", [](const auto& x, const auto& y) { (void)ht::array_equiv(x, y); }},
      {"matmul", [](const auto& x, const auto& y) { (void)ht::matmul(x, y); }},
      {"solve", [&](const auto& x, const auto& y) { (void)ht::linalg::solve(square(x), y); }},
      {"solve_triangular", [&](const auto& x, const auto& y) { (void)ht::linalg::solve_triangular(square(x), y); }},
      {"lanczos", [&](const auto& x, const auto& y) { (void)ht::linalg::lanczos(square(x), 2, y); }},
      {"choice", [](const auto& x, const auto& y) { (void)ht::random::choice(x, {2}, {.p = y / 10.0}); }},
      {"multivariate_normal",
       [&](const auto& x, const auto& y) { (void)ht::random::multivariate_normal(x, square(y)); }},
  };
  const auto numbers = at::arange(1, 5, at::kDouble);
  for (const auto& layout : every_layout({4}))
    for (const bool swapped : {false, true}) {
      const auto x = distribute(numbers, layout), alone = ht::from_tensor(numbers, {.comm = ht::self()});
      for (const auto& [name, call] : calls) {
        INFO(name);
        const auto text = message_of<ht::CommError>([&] { swapped ? call(alone, x) : call(x, alone); });
        CHECK_THAT(text, Catch::StartsWith("[" + name + "] got arrays on different communicators"));
      }
    }
}
