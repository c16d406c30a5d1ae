#pragma once

namespace heatpp {

/// Starts MPI if the host code has not, and ends it again only if this object started it. One per program, in main.
/// Without mpirun the program is a world of one rank.
class Environment {
 public:
  Environment();
  Environment(int& argc, char**& argv);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  bool owns_mpi_ = false;
};

}  // namespace heatpp
