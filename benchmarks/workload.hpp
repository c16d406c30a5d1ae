#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace bench {

/// A workload whose data are ready.
struct Prepared {
  std::function<void()> run;                   ///< the timed call; keeps its result
  std::function<void()> release;               ///< frees that result, untimed
  std::function<std::vector<double>()> check;  ///< numbers that tell whether it is right, equal on all ranks
};

/// A workload. Peers know it by `name`, or by `name.input` if variants read different inputs.
struct Workload {
  std::string_view name;
  std::string_view variant;
  Prepared (*prepare)();
  std::string_view input = "";
};

/// Times `f()` and checks its result with `check(result)`.
template <class F, class C>
Prepared timed(F f, C check) {
  auto result = std::make_shared<std::optional<std::invoke_result_t<F>>>();
  return {[=] { *result = f(); }, [=] { result->reset(); }, [=] { return check(**result); }};
}

/// These are the families of workloads, each a table at the end of its source.
std::vector<Workload> algebra_workloads();
std::vector<Workload> arithmetic_workloads();
std::vector<Workload> block_workloads();
std::vector<Workload> layout_workloads();
std::vector<Workload> learning_workloads();
std::vector<Workload> linear_workloads();
std::vector<Workload> lookup_workloads();
std::vector<Workload> sparse_workloads();
std::vector<Workload> statistics_workloads();
std::vector<Workload> transform_workloads();
std::vector<Workload> tree_workloads();
std::vector<Workload> io_workloads();

}  // namespace bench
