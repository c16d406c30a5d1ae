#include "../support.hpp"

#include <limits>
#include <sstream>

namespace {

std::string report_of(const Agreement& found) {
  std::ostringstream text;
  text << found;
  return text.str();
}

}  // namespace

TEST_CASE("a comparison that fails names rank, cut, index and both values", "[core][support]") {
  auto expected = at::arange(12, at::kDouble).reshape({6, 2});
  const auto x = distribute(expected, ht::Layout({6, 2}, 0, ht::world().size()));
  CHECK(report_of(same(x, expected)) == "agrees");
  expected = expected.clone();
  expected[4][1] = 9.5;
  expected[5][0] = -1;
  const auto differs = "2 of 12 elements differ, first that at (4, 1): got 9; expected 9.5";
  CHECK_THAT(report_of(same(x, expected)),
             Catch::StartsWith("rank " + std::to_string(ht::world().rank()) + ", split 0, cut at 0") &&
                 Catch::EndsWith(differs));
  CHECK_FALSE(close(x, expected, 1e-3));
  CHECK(close(x, expected, 100));
  CHECK_THAT(report_of(same(x, expected.to(at::kFloat))),
             Catch::EndsWith("got Double of shape [6, 2]; expected Float of shape [6, 2]"));
  CHECK(report_of(equal({expected}, {})) == "got 1 tensors; expected 0");
}

TEST_CASE("comparisons of tensors name index and values, and NaN differs from NaN", "[core][support]") {
  const auto x = at::tensor({1.0, 2.0, std::numeric_limits<double>::quiet_NaN()}, at::kDouble);
  const auto finite = x.narrow(0, 0, 2);
  CHECK(report_of(equals(finite, finite)) == "agrees");
  CHECK(report_of(equals(x, x)) == "1 of 3 elements differ, first that at (2): got nan; expected nan");
  CHECK(report_of(near_to(x, x)) == "1 of 3 elements differ, first that at (2): got nan; expected nan");
  CHECK(near_to(x, x, 0, 0, /*equal_nan=*/true));
  CHECK(near_to(finite, finite + 0.01, 0, 0.011));
  CHECK(report_of(near_to(finite, finite + 0.5, 0, 0.25)) ==
        "2 of 2 elements differ, first that at (0): got 1; expected 1.5");
  CHECK(near_to(at::stack({finite, finite}), finite));
  CHECK(report_of(near_to(finite, x)) == "got Double of shape [2]; expected Double of shape [3]");
  CHECK_THAT(report_of(equals(even(finite), finite + 1)), Catch::StartsWith("rank ") && Catch::EndsWith("expected 2"));
}

TEST_CASE("conditions on all elements name the first that breaks them", "[core][support]") {
  const auto x = at::tensor({1.0, 2.0, std::numeric_limits<double>::quiet_NaN()}, at::kDouble).reshape({3, 1});
  CHECK(report_of(each_is(x, 1)) == "2 of 3 elements differ, first that at (1, 0): got 2; expected 1");
  CHECK(each_is(x[2], NAN));
  CHECK(report_of(for_all(x, x < 2)) == "2 of 3 elements break the condition, first that at (1, 0): got 2");
  CHECK(report_of(all_finite(x)) == "1 of 3 elements break the condition, first that at (2, 0): got nan");
  CHECK(all_finite(x.narrow(0, 0, 2)));
  CHECK(report_of(for_all(x, x[0] < 2)) == "got Double of shape [3, 1] and Bool of shape [1]");
}
