#pragma once

#include <concepts>
#include <functional>

namespace heatpp {

/// The threads that may call MPI if heatpp starts it. Below `multiple` there is no `ProgressThread`: operations make
/// progress only inside calls of heatpp.
enum class Threads { multiple, serialized, funneled };

/// Options of Environment.
struct EnvironmentOptions {
  Threads threads = Threads::multiple;
  /// Places large blocks of arrays in huge pages and keeps freed ones for reuse. This replaces LibTorch's allocator for
  /// the whole program; HEATPP_ALLOCATOR=torch leaves LibTorch's in place.
  bool allocator = true;
};

/// Starts MPI if the host code has not, and ends it only if this object started it. Make one per program, in main.
/// Without mpirun the program is a world of one rank. If the launcher of another MPI started several processes, each
/// would be alone in the MPI of heatpp: this throws CommError, except with HEATPP_LAUNCHER=ignore.
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
/// Registers `start`, which each Environment calls when it begins. For libraries that comm does not know.
void on_environment(void (*start)(const EnvironmentOptions& options));

[[nodiscard]] int run_program(int& argc, char**& argv, const EnvironmentOptions& options,
                              const std::function<int()>& program);
}  // namespace detail

/// Runs a program between the start and the end of MPI and returns its code, 0 if it returns nothing:
///     int main(int argc, char** argv) { return ht::run(argc, argv, [&] { ... }); }
/// `program` takes nothing, or argc and argv. If an exception leaves it, this rank prints it with its number to stderr
/// and ends all ranks with code 1, because they would wait for this one otherwise. If a host has started MPI, the
/// exception goes to the host.
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
