// This runs with HEATPP_DEBUG=collectives, which a program reads once.
#include "../support.hpp"

#include <functional>
#include <heatpp/comm/detail/progress/caller.hpp>
#include <heatpp/heatpp.hpp>

namespace {

using Call = std::function<void(const ht::DNDarray&)>;
const std::vector<std::pair<std::string, Call>> calls{
    {"sum", [](const auto& x) { (void)ht::sum(x); }},
    {"mean", [](const auto& x) { (void)ht::mean(x, 0); }},
    {"max", [](const auto& x) { (void)ht::max(x); }},
    {"argmax", [](const auto& x) { (void)ht::argmax(x); }},
    {"sort", [](const auto& x) { (void)ht::sort(x, 0); }},
    {"matmul", [](const auto& x) { (void)ht::matmul(x, ht::transpose(x)); }},
    {"resplit", [](const auto& x) { (void)ht::resplit(x, 1); }},
    {"print", [](const auto& x) { (void)ht::to_string(x); }},
    {"take", [](const auto& x) { (void)x.index({ht::arange(3)}); }},
    {"unique", [](const auto& x) { (void)ht::unique(x); }},
};

}  // namespace

TEST_CASE("arrays that differ by rank are an error on all ranks", "[.debug_by_environment]") {
  const bool first = ht::world().rank() == 0;
  const auto a = ht::ones({6, 4}, {.split = 0});
  const std::vector<std::pair<std::string, ht::DNDarray>> others{
      {"shape", ht::ones({9, 4}, {.split = 0})},
      {"dtype", ht::ones({6, 4}, {.dtype = ht::int32, .split = 0})},
      {"cut", ht::redistribute(a, {1, 2, 3})},
  };
  for (const auto& [name, call] : calls) {
    INFO(name);
    CHECK(message_of<ht::CommError>([&] { call(a); }).empty());
    for (const auto& [difference, b] : others) {
      INFO(difference);
      CHECK_THAT(message_of<ht::CommError>([&] { call(first ? a : b); }),
                 Catch::Contains(" on rank 0 and ") || Catch::Contains("expected the same arguments on all ranks"));
    }
  }
}

// These functions of the program are not inlined.
[[gnu::noinline]] double mean_energy(const ht::DNDarray& x) { return ht::sum(x).item<double>() / 2; }
[[gnu::noinline]] double largest(const ht::DNDarray& x) { return ht::max(x).item<double>() + 1; }

TEST_CASE("calls that differ between ranks are named with the program's lines", "[.debug_by_environment]") {
  const auto x = ht::ones({6, 4}, {.split = 0});
  const auto message = message_of<ht::CommError>([&] { ht::world().rank() == 0 ? mean_energy(x) : largest(x); });
  // The text has the line with debugging information, else the function, and neither without GCC's libbacktrace.
  const auto by = [](const std::string& name) { return "called by ([^ ]*debug_test.cpp:[0-9]+|" + name + ".*)"; };
  const bool told = !heatpp::detail::caller().empty();
  CHECK_THAT(message,
             told ? Catch::Matches(".*" + by("mean_energy") + " on rank 0 and .*" + by("largest") + " on rank 1.*")
                  : Catch::Matches(".* on rank 0 and .* on rank 1.*"));
}
