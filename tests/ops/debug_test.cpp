// Runs with HEATPP_DEBUG=collectives, which is looked at once in a program.
#include "../support.hpp"

#include <functional>
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
