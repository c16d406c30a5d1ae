#pragma once

#include <functional>
#include <heatpp/comm/topology.hpp>
#include <limits>
#include <span>

namespace heatpp::detail {

/// Takes from `file` what was measured for a machine with the same arrangement, MPI library and transport; if
/// there is none, measures and adds it. Collective. Throws ValueError on all ranks if the file holds anything
/// else.
void calibrate_by_file(Topology& topology, const std::string& file);
/// Returns a hash of the arrangement, the MPI library and the transport.
[[nodiscard]] std::string calibration_key(const Topology& topology);
/// Whether the topology can do what was chosen: it may share less memory today, or have other levels.
[[nodiscard]] bool fits(const Calibration& calibration, const Topology& topology);

/// The number of turns that measure the time of a call.
struct Turns {
  int count = 3;
  std::int64_t most_calls = 100;  ///< in one turn
  double longest = 0.05;          ///< seconds of a call after which no turn follows
};
/// Returns the seconds of a call on the slowest rank: the least of some turns of about 4 ms after one that warms up.
/// All ranks get the same number. Collective.
[[nodiscard]] double seconds_of(const Communicator& comm, const std::function<void()>& call, const Turns& turns = {});
/// Returns the seconds of a round in which every rank of a group sends `out` to the next one and gets `in`, in all
/// groups of `comm` at once.
[[nodiscard]] double seconds_of_round(const Communicator& comm, const Communicator& group,
                                      std::span<const std::byte> out, std::span<std::byte> in, const Turns& turns = {});

/// Returns the cost of a level. A message of a few bytes took `latency` seconds, one of `bytes` took `passed`.
[[nodiscard]] Calibration::Cost cost_of(const std::string& level, double latency, double passed, std::int64_t bytes);

/// How blueconnect goes through the levels.
struct Stages {
  std::vector<int> order = {};  ///< of the levels
  std::int64_t chunk_bytes = 0;
  double seconds = std::numeric_limits<double>::max();
};
/// Returns the order and chunks that take least by the cost model of BlueConnect (Cho et al. 2019): each level works on
/// what the levels before it left, and chunks follow each other at the distance of the slowest stage. `extents` and
/// `costs` are those of the levels of several parts, innermost first.
[[nodiscard]] Stages best_stages(std::span<const std::size_t> extents, std::span<const Calibration::Cost> costs,
                                 std::int64_t bytes);

/// Converts a calibration to lines of text, each behind `key`, and back. Reading gives nothing if no line has the key,
/// or if a line is broken or implausible.
[[nodiscard]] std::string to_text(const Calibration& calibration, std::string_view key);
[[nodiscard]] Calibration parse_calibration(const std::string& text, std::string_view key);

}  // namespace heatpp::detail
