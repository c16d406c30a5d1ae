#pragma once

#include <concepts>
#include <functional>

namespace heatpp {

/// From which threads MPI may be called, where heatpp starts it. Below `multiple` there is no `ProgressThread`: what is
/// under way makes progress in heatpp's calls only.
enum class Threads { multiple, serialized, funneled };

/// Options of Environment.
struct EnvironmentOptions {
  Threads threads = Threads::multiple;
  /// Large blocks of arrays lie in huge pages, and freed ones are kept for reuse. This replaces LibTorch's allocator
  /// for the whole program; HEATPP_ALLOCATOR=torch leaves it in place.
  bool allocator = true;
};

/// Starts MPI if the host code has not, and ends it again only if this object started it. One per program, in main.
/// Without mpirun the program is a world of one rank. Throws CommError where another MPI's launcher has started several
/// processes, each of which is the only rank for the MPI that heatpp was built with (HEATPP_LAUNCHER=ignore: none).
class Environment {
 public:
  explicit Environment(const EnvironmentOptions& options = {});
  Environment(int& argc, char**& argv, const EnvironmentOptions& options = {});
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  bool owns_mpi_ = false;
};

namespace detail {
/// Calls `start` at the begin of each Environment. For libraries that comm does not know.
void on_environment(void (*start)(const EnvironmentOptions& options));

[[nodiscard]] int run_program(int& argc, char**& argv, const EnvironmentOptions& options,
                              const std::function<int()>& program);
}  // namespace detail

/// Runs a program between the start and the end of MPI and returns its code, 0 where it returns nothing:
///     int main(int argc, char** argv) { return ht::run(argc, argv, [&] { ... }); }
/// `program` takes nothing, or argc and argv. An exception that leaves it is printed to stderr with this rank's number
/// and ends all ranks with code 1, which would wait for this one otherwise. Where a host has started MPI it goes on to
/// the host instead.
template <class Program>
requires std::invocable<Program&> || std::invocable<Program&, int, char**>
[[nodiscard]] int run(int& argc, char**& argv, Program program, const EnvironmentOptions& options = {}) {
  const auto call = [&] {
    if constexpr (std::invocable<Program&>) return program();
    else return program(argc, argv);
  };
  return detail::run_program(argc, argv, options, [&]() -> int {
    if constexpr (std::convertible_to<decltype(call()), int>) return call();
    else return call(), 0;
  });
}

}  // namespace heatpp
