#pragma once

#include <functional>
#include <heatpp/comm/topology.hpp>
#include <limits>
#include <span>

namespace heatpp::detail {

/// Takes from `file` what was measured for a machine of the same arrangement, MPI library and transport, or measures
/// and adds it. Collective.
/// Throws ValueError on all ranks for a file that holds anything else.
void calibrate_by_file(Topology& topology, const std::string& file);
/// Of these, hashed.
[[nodiscard]] std::string calibration_key(const Topology& topology);
/// Whether the topology has what was chosen: memory that ranks share may be too small today, and orders are of levels.
[[nodiscard]] bool fits(const Calibration& calibration, const Topology& topology);

/// In how many turns it is found out how long a call takes.
struct Turns {
  int count = 3;
  std::int64_t most_calls = 100;  ///< in one
  double longest = 0.05;          ///< seconds of a call after which no further turn follows
};
/// Seconds of a call on the slowest rank: the least of some turns of about 4 ms after one that warms up, the same
/// number on all ranks. Collective.
[[nodiscard]] double seconds_of(const Communicator& comm, const std::function<void()>& call, const Turns& turns = {});
/// The same where every rank of a group sends `out` to the next one of it, and gets `in`; in all groups of `comm` at
/// once.
[[nodiscard]] double seconds_of_round(const Communicator& comm, const Communicator& group,
                                      std::span<const std::byte> out, std::span<std::byte> in, const Turns& turns = {});

/// The cost of a level where a message of a few bytes took `latency` seconds and one of `bytes` took `passed`.
[[nodiscard]] Calibration::Cost cost_of(const std::string& level, double latency, double passed, std::int64_t bytes);

/// How blueconnect goes through the levels.
struct Stages {
  std::vector<int> order = {};  ///< of the levels
  std::int64_t chunk_bytes = 0;
  double seconds = std::numeric_limits<double>::max();
};
/// The order and chunks that take least by the cost model of BlueConnect (Cho et al. 2019): each level works on what
/// those before it have left, and chunks follow each other at the distance of the slowest stage. `extents` and `costs`
/// are those of the levels of several parts, innermost first.
[[nodiscard]] Stages best_stages(std::span<const std::size_t> extents, std::span<const Calibration::Cost> costs,
                                 std::int64_t bytes);

/// The lines of a calibration, each behind `key`, and back: nothing where there is none with the key, or one
/// that is broken or implausible.
[[nodiscard]] std::string to_text(const Calibration& calibration, std::string_view key);
[[nodiscard]] Calibration parse_calibration(const std::string& text, std::string_view key);

}  // namespace heatpp::detail
