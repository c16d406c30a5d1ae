#include "../catch.hpp"

#include <heatpp/comm/detail/launcher.hpp>

#include <map>
#include <string>

namespace {

std::map<std::string, std::string> variables;

const char* variable_of(const char* name) {
  const auto found = variables.find(name);
  return found == variables.end() ? nullptr : found->second.c_str();
}

/// Returns the variable of another launcher, for an MPI whose own variable of the number of ranks is OWN.
std::string other(std::map<std::string, std::string> environment) {
  variables = std::move(environment);
  const auto found = heatpp::detail::other_launcher("OWN", variable_of);
  return found ? found->variable + "=" + found->value : "";
}

}  // namespace

TEST_CASE("a launcher of another MPI is recognized by its variables", "[comm][launcher]") {
  CHECK(other({}).empty());
  CHECK(other({{"PMI_SIZE", "1"}, {"MPI_LOCALNRANKS", "1"}}).empty());
  CHECK(other({{"PMI_SIZE", "2"}}) == "PMI_SIZE=2");
  CHECK(other({{"OMPI_COMM_WORLD_SIZE", "4"}}) == "OMPI_COMM_WORLD_SIZE=4");
  CHECK(other({{"MPI_LOCALNRANKS", "16"}}) == "MPI_LOCALNRANKS=16");
  CHECK(other({{"PMIX_RANK", "0"}}).empty());
  CHECK(other({{"PMIX_RANK", "3"}}) == "PMIX_RANK=3");
  CHECK(other({{"PMI_SIZE", "many"}}).empty());
}

TEST_CASE("a program that is meant to be one rank gets no error", "[comm][launcher]") {
  CHECK(other({{"SLURM_NTASKS", "8"}}).empty());  // in a batch script, without srun
  CHECK(other({{"SLURM_NTASKS", "8"}, {"SLURM_STEP_ID", "0"}}) == "SLURM_NTASKS=8");
  CHECK(other({{"OWN", "1"}, {"SLURM_NTASKS", "8"}, {"SLURM_STEP_ID", "0"}, {"PMI_SIZE", "8"}}).empty());
  CHECK(other({{"OWN", "2"}, {"PMI_SIZE", "2"}}) == "PMI_SIZE=2");
}
