#pragma once

#include <heatpp/comm/topology.hpp>

namespace heatpp::detail {

/// Takes from `file` what was measured for a machine of the same arrangement, or measures and adds it. Collective.
void calibrate_by_file(const Topology& topology, const std::string& file);

/// The lines of a calibration, each behind `key`, and back: nothing where there is none with the key, or a broken one.
[[nodiscard]] std::string to_text(const Calibration& calibration, std::string_view key);
[[nodiscard]] Calibration parse_calibration(const std::string& text, std::string_view key);

}  // namespace heatpp::detail
