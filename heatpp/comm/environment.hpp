#pragma once

namespace heatpp {

/// From which threads MPI may be called, where heatpp starts it. Below `multiple` there is no `ProgressThread`: what is
/// under way makes progress in heatpp's calls only.
enum class Threads { multiple, serialized, funneled };

/// Options of Environment.
struct EnvironmentOptions {
  Threads threads = Threads::multiple;
};

/// Starts MPI if the host code has not, and ends it again only if this object started it. One per program, in main.
/// Without mpirun the program is a world of one rank.
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

}  // namespace heatpp
