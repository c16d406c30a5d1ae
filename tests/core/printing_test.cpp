#include "../support.hpp"

#include <heatpp/core/printing.hpp>

#include <sstream>

TEST_CASE("an array prints the same from every layout, summarised or not", "[core][printing]") {
  for (const auto& layout : every_layout({2, 3})) {
    const auto text = ht::to_string(distribute(at::arange(6).reshape({2, 3}), layout));
    std::ostringstream stream;
    stream << distribute(at::arange(6).reshape({2, 3}), layout);
    CHECK(stream.str() == text);
    CHECK_THAT(text,
               Catch::StartsWith("DNDarray([[0, 1, 2],\n          [3, 4, 5]], shape=(2, 3), dtype=int64, split="));
  }
  for (const auto& layout : every_layout({2000})) {
    const auto text = ht::to_string(distribute(at::arange(2000), layout));
    CHECK_THAT(text, Catch::StartsWith("DNDarray([   0,    1,    2, ..., 1997, 1998, 1999], shape=(2000,)"));
  }
  for (const auto& layout : every_layout({50, 30})) {
    const auto text = ht::to_string(distribute(at::arange(1500).reshape({50, 30}), layout));
    CHECK_THAT(text, Catch::Contains("[   0,    1,    2, ...,   27,   28,   29],"));
    CHECK_THAT(text, Catch::Contains("[1470, 1471, 1472, ..., 1497, 1498, 1499]]"));
  }
}

TEST_CASE("special values print as NumPy's", "[core][printing]") {
  CHECK(ht::to_string(ht::array({true, false}))
            .starts_with("DNDarray([ True, False], shape=(2,), dtype=bool, split=None)"));
  CHECK(ht::to_string(ht::array({1.0, INFINITY, NAN})).starts_with("DNDarray([1.0000,    inf,    nan]"));
  CHECK(ht::to_string(ht::array(2.5)).starts_with("DNDarray(2.5000, shape=()"));
  CHECK(ht::to_string(ht::array({1e-9})).starts_with("DNDarray([1.0000e-09]"));
  CHECK(ht::to_string(ht::array({std::complex<double>(1, -2)})).starts_with("DNDarray([1.0000-2.0000j]"));
  CHECK(ht::to_string(ht::zeros({0, 3})).starts_with("DNDarray([], shape=(0, 3)"));
}

TEST_CASE("numbers of mixed sizes print with exponents, complex ones too", "[core][printing]") {
  CHECK(ht::to_string(ht::array({0.001, 2.5})).starts_with("DNDarray([1.0000e-03, 2.5000e+00]"));
  CHECK(ht::to_string(ht::array({0.01, 2.5})).starts_with("DNDarray([0.0100, 2.5000]"));
  const auto z = ht::array({std::complex<double>(1e-9, -2), std::complex<double>(INFINITY, NAN)});
  CHECK(ht::to_string(z).starts_with("DNDarray([1.0000e-09-2.0000j,           inf+nanj]"));
}

TEST_CASE("printing separates matrices of a stack, and does not read what it leaves out", "[core][printing]") {
  const auto normal = ht::get_printoptions();
  for (const auto& layout : every_layout({2, 3, 4})) {
    const auto x = distribute(at::arange(24).reshape({2, 3, 4}), layout);
    ht::set_printoptions({.threshold = 5, .edgeitems = 1});
    CHECK(
        ht::to_string(x).starts_with("DNDarray([[[ 0, ...,  3],\n           ...,\n           [ 8, ..., 11]],\n\n"
                                     "          [[12, ..., 15],\n           ...,\n           [20, ..., 23]]], sh"));
    ht::set_printoptions({.threshold = 5, .edgeitems = 0});
    CHECK(ht::to_string(x).starts_with("DNDarray([...], shape=(2, 3, 4)"));
  }
  ht::set_printoptions(normal);
  const auto endless = ht::from_tensor(at::ones({1}, at::kInt).expand({std::int64_t{1} << 50}));
  CHECK(ht::to_string(endless).starts_with("DNDarray([1, 1, 1, ..., 1, 1, 1], shape=(1125899906842624,)"));
  CHECK_THROWS_AS(ht::set_printoptions({.precision = -1}), ht::ValueError);
  CHECK_THROWS_AS(ht::set_printoptions({.edgeitems = -1}), ht::ValueError);
}

TEST_CASE("each rank prints its block if asked", "[core][printing]") {
  const auto x = ht::arange(8, {.split = 0});
  ht::local_printing();
  const auto text = ht::to_string(x);
  ht::global_printing();
  const auto& me = ht::world();
  CHECK_THAT(text, Catch::Contains(std::to_string(me.rank()) + "/" + std::to_string(me.size()) + "] DNDarray(["));
  CHECK_THAT(text, Catch::Contains(std::to_string(x.lshape()[0]) + ",)"));
  CHECK(ht::to_string(x).starts_with("DNDarray([0, 1, 2, 3, 4, 5, 6, 7], shape=(8,)"));
}

TEST_CASE("long rows continue in the next line", "[core][printing]") {
  const auto normal = ht::get_printoptions();
  ht::set_printoptions({.linewidth = 20});
  CHECK(ht::to_string(ht::arange(5)).starts_with("DNDarray([0, 1, 2,\n          3, 4], shape=(5,)"));
  CHECK(ht::to_string(ht::arange(20)).starts_with("DNDarray([ 0,  1,\n           2,  3,\n           4,  5,"));
  ht::set_printoptions({.precision = 1, .sci_mode = true});
  CHECK(ht::to_string(ht::array({1.0, 20.0})).starts_with("DNDarray([1.0e+00, 2.0e+01]"));
  ht::set_printoptions(normal);
}

TEST_CASE("real and imaginary parts are printed with exponents of their own", "[core][printing]") {
  const auto x = ht::array({std::complex<double>(1e9, 1), std::complex<double>(2e9, 3)});
  CHECK(ht::to_string(x).starts_with("DNDarray([1.0000e+09+1.0000j, 2.0000e+09+3.0000j]"));
}

TEST_CASE("arrays that need no other rank are printed without them", "[core][printing]") {
  const auto calls = ht::total_counters().calls;
  const auto x = ht::ones({2});
  if (ht::world().rank() == ht::world().size() - 1) {
    ht::print("text");
    ht::print(x.shape());
    ht::print("a number", 2.5, x.shape());
    ht::print(1);
  }
  CHECK(ht::total_counters().calls == calls);
}

TEST_CASE("shapes go into streams", "[core][printing]") {
  std::ostringstream stream;
  stream << ht::ones({2, 3}).shape() << ht::Shape{4} << ht::Shape{};
  CHECK(stream.str() == "(2, 3)(4,)()");
}
