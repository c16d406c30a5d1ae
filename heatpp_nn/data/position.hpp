#pragma once

#include <cstdint>
#include <optional>

namespace heatpp::nn {

/// How far a training is in its data: enough to continue from there.
struct Position {
  std::uint64_t seed = 0;  ///< seed of the order of rows
  std::int64_t epoch = 0;
  std::int64_t batch = 0;  ///< the next batch; may be the number of batches
  /// Rows of the epoch in the batches before, on all ranks together: the place in its order, for any size of the next
  /// batches. nullopt: the number that batches of the new size have before `batch`.
  std::optional<std::int64_t> rows = std::nullopt;
  friend bool operator==(const Position&, const Position&) = default;
};

}  // namespace heatpp::nn
