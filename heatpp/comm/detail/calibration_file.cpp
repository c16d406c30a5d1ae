#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/calibrate.hpp>
#include <heatpp/comm/detail/hash.hpp>
#include <heatpp/comm/detail/impl.hpp>
#include <heatpp/comm/detail/kept/choice.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/state.hpp>
#include <heatpp/comm/detail/text.hpp>
#include <heatpp/comm/log.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <sstream>
#include <unistd.h>

namespace heatpp::detail {
namespace {

using Cost = Calibration::Cost;
using Choice = Calibration::Choice;

// The variables that tell MPI libraries how messages travel.
constexpr std::array transports{"OMPI_MCA_pml",    "OMPI_MCA_btl", "OMPI_MCA_mtl",         "OMPI_MCA_coll", "UCX_TLS",
                                "UCX_NET_DEVICES", "FI_PROVIDER",  "MPIR_CVAR_CH4_NETMOD", "I_MPI_FABRICS"};

constexpr double longest_latency = 10, highest_bandwidth = 1e13;  // seconds; bytes a second

std::string mpi_and_transport() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(version, &length);
  std::string text(version, static_cast<std::size_t>(length));
  for (const char* name : transports) {
    const char* const value = std::getenv(name);
    text += formatted(" {}={}", name, value ? value : "");
  }
  return text;
}

bool plausible(const Cost& cost) {
  return cost.latency > 0 && cost.latency < longest_latency && cost.bandwidth > 0 && cost.bandwidth < highest_bandwidth;
}

/// Whether the choices of a file have known algorithms and growing sizes up to any.
bool sound(const Calibration& calibration) {
  const auto known = [](const Choice& choice) {
    return std::ranges::find(comm::algorithms(), choice.algorithm, &comm::Algorithm::name) !=
               comm::algorithms().end() &&
           choice.chunk_bytes >= 0 && choice.message_bytes >= 0;
  };
  const auto& choices = calibration.choices;
  return std::ranges::all_of(choices, known) && std::ranges::all_of(calibration.costs, plausible) &&
         std::ranges::is_sorted(choices, {}, &Choice::up_to_bytes) &&
         (choices.empty() || choices.back().up_to_bytes == std::numeric_limits<std::int64_t>::max());
}

std::string read(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// Whether a line is empty, or has the form that is written here: a key and its values.
bool ours(const std::string& line) {
  constexpr std::array<std::string_view, 3> kinds{"cost", "choice", "best"};
  std::istringstream words(line);
  std::string key, kind;
  return !(words >> key) || (words >> kind && std::ranges::find(kinds, kind) != kinds.end());
}

/// Returns the number of the first line that is not ours; 0 if there is none.
std::int64_t foreign_line(const std::string& file) {
  std::ifstream lines(file);
  std::string line;
  for (std::int64_t number = 1; std::getline(lines, line); ++number)
    if (!ours(line)) return number;
  return 0;
}

/// Says why a file is neither read nor written; empty if nothing is wrong.
std::string problem_of(const std::string& file) {
  const auto line = foreign_line(file);
  if (line == 0) return {};
  return formatted(
      "[calibrate] got the file \"{}\", in which line {} is of no calibration; expected one that calibrating "
      "wrote, or a new name",
      file, line);
}

/// Whether choices are kept in the file, which may not exist.
bool keeps_choices(const std::string& file) {
  const auto problem = problem_of(file);
  if (!problem.empty()) log(LogLevel::warning, problem);
  return !file.empty() && problem.empty();
}

/// Replaces the lines of the key by these. Other processes see the old or the new file, never a part.
void rewrite(const std::string& file, const std::string& key, const std::string& lines) {
  std::istringstream before(read(file));
  const auto aside = formatted("{}.{}", file, ::getpid());
  std::ofstream after(aside);
  for (std::string line; std::getline(before, line);)
    if (!line.starts_with(key + " ")) after << line << '\n';
  after << lines;
  after.close();
  std::error_code failure;
  if (after) std::filesystem::rename(aside, file, failure);
  if (after && !failure) return;
  std::filesystem::remove(aside, failure);
  log(LogLevel::warning, formatted("[calibrate] got the file \"{}\", which cannot be written; expected to keep what "
                                   "was measured there",
                                   file));
}

std::string host_name() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return host.data();
}

/// Returns the word behind `best` in a line that begins with the key, or nothing.
std::string word_in(const std::string& text, std::string_view key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string of, kind, word;
    if (words >> of >> kind >> word && of == key && kind == "best") return word;
  }
  return {};
}

/// Returns rank 0's choice. Its failures must not leave other ranks waiting.
std::string chosen(const std::string& file, const std::string& name, const std::function<std::string()>& measure) {
  static std::mutex mutex;
  static std::map<std::string, std::string> known;
  const std::lock_guard lock(mutex);
  auto& choice = known[file + '\0' + name];
  if (!choice.empty()) return choice;
  const auto key = formatted("{:016x}", hash_of(name + host_name()));
  const bool keeps = keeps_choices(file);
  if (keeps) choice = word_in(read(file), key);
  if (!choice.empty()) return choice;
  try {
    choice = measure();
  } catch (const std::exception&) {
    return {};
  }
  if (keeps) rewrite(file, key, formatted("{} best {} {}\n", key, choice, name));
  return choice;
}

}  // namespace

std::string kept_choice(const Communicator& comm, const std::string& name,
                        const std::function<std::string()>& measure) {
  return text_of_rank_0(comm, comm.rank() == 0 ? chosen(comm.impl().settings->calibration, name, measure) : "");
}

std::string calibration_key(const Topology& topology) {
  return formatted("{:016x}", hash_of(comm::describe(topology) + host_name() + mpi_and_transport()));
}

bool fits(const Calibration& calibration, const Topology& topology) {
  const auto machine = without_single_children(topology.tree());
  return std::ranges::all_of(calibration.choices, [&](const Choice& choice) {
    const auto found = std::ranges::find(comm::algorithms(), choice.algorithm, &comm::Algorithm::name);
    return (!found->fits || found->fits(topology)) && (choice.order.empty() || reordered(machine, choice.order));
  });
}

std::string to_text(const Calibration& calibration, std::string_view key) {
  std::string text;
  for (const auto& cost : calibration.costs)
    text += formatted("{} cost {} {} {}\n", key, cost.latency, cost.bandwidth, cost.level);
  for (const auto& choice : calibration.choices)
    text +=
        formatted("{} choice {} {} {} {:d} {:d} {} {}\n", key, choice.up_to_bytes, choice.chunk_bytes,
                  choice.message_bytes, choice.balanced, choice.rings, choice.algorithm, fmt::join(choice.order, " "));
  return text;
}

Calibration parse_calibration(const std::string& text, std::string_view key) {
  Calibration calibration;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string of, kind;
    Cost cost{};
    Choice choice{};
    if (!(words >> of >> kind) || of != key) continue;
    if (kind == "cost" && words >> cost.latency >> cost.bandwidth && std::getline(words >> std::ws, cost.level))
      calibration.costs.push_back(cost);
    else if (kind == "choice" && words >> choice.up_to_bytes >> choice.chunk_bytes >> choice.message_bytes >>
                                     choice.balanced >> choice.rings >> choice.algorithm) {
      choice.order.assign(std::istream_iterator<int>(words), {});
      calibration.choices.push_back(choice);
    } else return {};
  }
  return sound(calibration) ? calibration : Calibration{};
}

void calibrate_by_file(Topology& topology, const std::string& file) {
  const bool writes = topology.comm().rank() == 0;
  const auto problem = text_of_rank_0(topology.comm(), writes ? problem_of(file) : "");
  if (!problem.empty()) throw ValueError(problem);
  const auto text = text_of_rank_0(topology.comm(), writes ? calibration_key(topology) + "\n" + read(file) : "");
  const auto key = text.substr(0, text.find('\n'));
  auto& calibration = topology.state().calibration;
  calibration = parse_calibration(text.substr(key.size()), key);
  if (!fits(calibration, topology)) calibration = {};
  if (!calibration.choices.empty()) return;
  topology.calibrate();
  if (writes) rewrite(file, key, to_text(calibration, key));
}

}  // namespace heatpp::detail
