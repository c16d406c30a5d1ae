#pragma once

#include "workload.hpp"

namespace bench {

/// What one timed call cost: the slowest rank's seconds, and the most bytes that a rank handed to its communicators.
struct Turn {
  double seconds = 0;
  double bytes = 0;
};

/// Frees the previous result, waits for all ranks and times one call. Collective.
Turn take_turn(const Prepared& prepared);

/// Waits until the driver writes a line, and returns whether it asks for another turn; the ranks other than 0 sleep
/// meanwhile, so that they do not disturb whoever's turn it is. Collective.
bool another_turn();

}  // namespace bench
