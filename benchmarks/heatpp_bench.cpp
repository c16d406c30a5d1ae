// Runs one workload: `heatpp_bench moments`. Prints JSON for the driver `benchmarks/run`, one object a line.
#include "turns.hpp"

#include <heatpp/heatpp.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwy/targets.h>
#include <cstdlib>
#include <iterator>

namespace {

namespace ht = heatpp;

std::vector<bench::Workload> all_workloads() {
  std::vector<bench::Workload> all;
  for (const auto family :
       {bench::io_workloads, bench::statistics_workloads, bench::layout_workloads, bench::block_workloads,
        bench::arithmetic_workloads, bench::algebra_workloads, bench::learning_workloads, bench::linear_workloads,
        bench::lookup_workloads, bench::sparse_workloads, bench::transform_workloads, bench::tree_workloads})
    std::ranges::copy(family(), std::back_inserter(all));
  return all;
}

template <class... Args>
void print_on_first(fmt::format_string<Args...> text, Args&&... args) {
  if (ht::world().rank() > 0) return;
  fmt::print(text, std::forward<Args>(args)...);
  std::fflush(stdout);
}

void list_workloads() {
  for (const auto& w : all_workloads())
    print_on_first("{{\"workload\": \"{}\", \"variant\": \"{}\", \"input\": \"{}\"}}\n", w.name, w.variant, w.input);
}

/// The whole program from its start to a first result; timed from outside.
void start_up() { print_on_first("{}\n", ht::sum(ht::arange(10, {.split = 0})).item<std::int64_t>()); }

void print_ready(const bench::Workload& workload, double seconds, const std::vector<double>& check) {
  print_on_first(
      "{{\"workload\": \"{}\", \"variant\": \"{}\", \"ranks\": {}, \"warm_up\": {:.6f}, \"check\": [{:.17g}]}}\n",
      workload.name, workload.variant, ht::world().size(), seconds, fmt::join(check, ", "));
}

void run(const bench::Workload& workload, int repeats) {
  const auto prepared = workload.prepare();
  const auto warm_up = bench::take_turn(prepared);
  print_ready(workload, warm_up.seconds, prepared.check());
  for (int turn = 0; repeats > 0 ? turn < repeats : bench::another_turn(); ++turn) {
    const auto [seconds, bytes] = bench::take_turn(prepared);
    print_on_first("{{\"seconds\": {:.6f}, \"bytes\": {:.0f}}}\n", seconds, bytes);
  }
}

void run(const std::string& name, const std::string& variant, int repeats) {
  if (name == "startup") return start_up();
  const auto all = all_workloads();
  const auto found = std::ranges::find_if(
      all, [&](const auto& w) { return w.name == name && (variant.empty() || w.variant == variant); });
  if (found == all.end())
    throw ht::ValueError(fmt::format("[heatpp_bench] got workload {} {}; see --list", name, variant));
  run(*found, repeats);
}

/// Holds Highway, by which we sort, to AVX2 if the driver asks for it; other libraries read variables of their own.
void hold_to_avx2() {
  const auto* const asked = std::getenv("HEATPP_BENCH_ISA");
  if (asked && std::string_view(asked) == "avx2") hwy::DisableTargets(HWY_AVX2 - 1);  // those before it are wider
}

}  // namespace

int main(int argc, char** argv) {
  ht::Environment env(argc, argv);
  hold_to_avx2();
  CLI::App app("Times one workload of heatpp");
  std::string name, variant;
  int repeats = 0;
  bool list = false;
  app.add_flag("--list", list, "Print the workloads");
  app.add_option("workload", name, "Name of the workload");
  app.add_option("--variant", variant, "Variant of the workload; default: the first");
  app.add_option("--repeat", repeats, "Timed calls; default: one for each line \"turn\" on standard input");
  CLI11_PARSE(app, argc, argv);
  try {
    list ? list_workloads() : run(name, variant, repeats);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
