#include <heatpp/comm/detail/launcher.hpp>
#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/raise.hpp>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace heatpp::detail {
namespace {

std::string_view or_empty(const char* value) { return value ? value : ""; }

int number_in(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Read before MPI_Init: Open MPI 4.1 sets PMIX_RANK=0 in a process that no launcher of its own has started.
const std::string rank_at_start(or_empty(std::getenv("PMIX_RANK")));

const char* of_environment(const char* name) {
  return name == std::string_view("PMIX_RANK") ? rank_at_start.c_str() : std::getenv(name);
}

/// Returns name and version, as "Open MPI v4.1.4".
std::string library_name() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string_view all(text, static_cast<std::size_t>(length));
  return std::string(all.substr(0, all.find_first_of(",\n")));
}

}  // namespace

std::optional<Launched> other_launcher(const char* own, const char* (*variable_of)(const char* name)) {
  const auto number_of = [&](const char* name) { return number_in(or_empty(variable_of(name))); };
  if (number_of(own) == 1) return std::nullopt;
  const auto found = [&](const char* name) { return Launched{name, variable_of(name)}; };
  for (const char* size : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "FLUX_JOB_SIZE"})
    if (number_of(size) > 1) return found(size);
  // Inside sbatch the job's number of tasks is no evidence about a program that srun has not started.
  if (variable_of("SLURM_STEP_ID") && number_of("SLURM_NTASKS") > 1) return found("SLURM_NTASKS");
  if (number_of("PMIX_RANK") > 0) return found("PMIX_RANK");
  return std::nullopt;
}

void check_launcher(const char* op) {
  int size = 0;
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size), op);
  if (size > 1 || or_empty(std::getenv("HEATPP_LAUNCHER")) == "ignore") return;
  // MPI's standard ABI leaves it to the start which MPI this is.
  const auto library = library_name();
  const auto* const own = library.starts_with("Open MPI") ? "OMPI_COMM_WORLD_SIZE" : "PMI_SIZE";
  if (const auto other = other_launcher(own, of_environment))
    raise<CommError>(op,
                     "got one rank from {} in a process of which {}={} says that a launcher has started several; "
                     "expected the launcher of that MPI (its mpiexec, or srun with an --mpi that it knows), or "
                     "HEATPP_LAUNCHER=ignore where each process is to be alone",
                     library, other->variable, other->value);
}

}  // namespace heatpp::detail
