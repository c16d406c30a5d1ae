#pragma once

#include "workload.hpp"

namespace bench {

/// The cost of one timed call: the slowest rank's seconds, and the most bytes that a rank sent.
struct Turn {
  double seconds = 0;
  double bytes = 0;
};

/// Frees the previous result, waits for all ranks and times one call. Collective.
Turn take_turn(const Prepared& prepared);

/// Waits for a line from the driver, and returns whether it asks for another turn. The ranks other than 0 sleep
/// meanwhile, so that they do not disturb other programs. Collective.
bool another_turn();

}  // namespace bench
