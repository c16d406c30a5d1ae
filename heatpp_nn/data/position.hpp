#pragma once

#include <cstdint>

namespace heatpp::nn {

/// How far a training has come in its data: enough to go on there.
struct Position {
  std::uint64_t seed = 0;  ///< of the order of rows
  std::int64_t epoch = 0;
  std::int64_t batch = 0;  ///< the next one; may be the number of batches
  friend bool operator==(const Position&, const Position&) = default;
};

}  // namespace heatpp::nn
