#include "detail/text.hpp"
#include "tool.hpp"

#include <heatpp/comm/detail/calibrate.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/topology.hpp>

#include <fstream>
#include <limits>
#include <sstream>

namespace tools {
namespace {

using Json = nlohmann::ordered_json;

struct CalibrateOptions {
  std::string output;
  bool json = false;
};

Json json_of(const ht::Calibration& calibration) {
  Json links = Json::array(), choices = Json::array();
  for (const auto& cost : calibration.costs)
    links.push_back({{"level", cost.level}, {"latency_seconds", cost.latency}, {"bytes_per_second", cost.bandwidth}});
  for (const auto& choice : calibration.choices) {
    const bool last = choice.up_to_bytes == std::numeric_limits<std::int64_t>::max();
    choices.push_back({{"up_to_bytes", last ? Json() : Json(choice.up_to_bytes)},
                       {"algorithm", choice.algorithm},
                       {"chunk_bytes", choice.chunk_bytes},
                       {"message_bytes", choice.message_bytes},
                       {"rings", choice.rings}});
  }
  return {{"links", links}, {"all_reduce", choices}};
}

/// If the library cannot write a file, it only warns and continues. So the tool checks this.
void calibrate_into(ht::Topology& topology, const std::string& file) {
  ht::detail::calibrate_by_file(topology, file);
  ht::all_or_none(ht::world(), [&] {
    if (ht::world().rank() != 0) return;
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    if (text.str().empty())
      ht::detail::raise<ht::IoError>("calibrate", "got \"{}\", which cannot be written; expected a place for a file",
                                     file);
  });
}

void calibrate(const CalibrateOptions& o) {
  if (ht::world().size() == 1)
    ht::detail::raise<ht::ValueError>(
        "calibrate", "got one rank; expected two or more, as under mpirun, between which there are links");
  ht::Topology topology(ht::world());
  if (o.output.empty()) topology.calibrate();
  else calibrate_into(topology, o.output);
  if (o.json) return print(json_text(json_of(topology.calibration())));
  print(ht::comm::describe(topology));
  if (!o.output.empty()) print(fmt::format("kept in {}; set HEATPP_CALIBRATION={}\n", o.output, o.output));
}

}  // namespace

Run add_calibrate(CLI::App& command) {
  const auto o = std::make_shared<CalibrateOptions>();
  command.add_option("-o,--output", o->output,
                     "file for HEATPP_CALIBRATION; existing entries for this arrangement of ranks are kept");
  command.add_flag("--json", o->json, "print JSON");
  command.footer("Example: mpirun -n 8 heatpp calibrate --output machine.calibration");
  return [o] { calibrate(*o); };
}

}  // namespace tools
