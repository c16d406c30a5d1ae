#pragma once

#include <optional>
#include <string>

namespace heatpp::detail {

/// What the environment of a process says about its number of ranks.
struct Launched {
  std::string variable, value;
};

/// Returns the variable by which a launcher says that it has started several processes if MPI sees one; nullopt if
/// there is none, or if MPI's own launcher says one. `variable_of` gives a variable of the environment, or NULL.
[[nodiscard]] std::optional<Launched> other_launcher(const char* own, const char* (*variable_of)(const char* name));

/// Throws CommError if MPI_COMM_WORLD has one rank and the launcher of another MPI says there are more. Local.
void check_launcher(const char* op);

}  // namespace heatpp::detail
