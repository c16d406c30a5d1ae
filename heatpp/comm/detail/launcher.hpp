#pragma once

#include <optional>
#include <string>

namespace heatpp::detail {

/// What the environment of a process says about its number of ranks.
struct Launched {
  std::string variable, value;
};

/// The variable by which a launcher says that it has started several processes, where MPI sees one; nullopt: none, or
/// the launcher of MPI itself says one. `variable_of` gives a variable of the environment, or NULL.
[[nodiscard]] std::optional<Launched> other_launcher(const char* own, const char* (*variable_of)(const char* name));

/// Throws CommError where MPI_COMM_WORLD has one rank and the launcher of another MPI says that there are more. Local.
void check_launcher(const char* op);

}  // namespace heatpp::detail
