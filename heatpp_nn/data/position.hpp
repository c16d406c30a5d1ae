#pragma once

#include <cstdint>
#include <optional>

namespace heatpp::nn {

/// How far a training has come in its data: enough to go on there.
struct Position {
  std::uint64_t seed = 0;  ///< of the order of rows
  std::int64_t epoch = 0;
  std::int64_t batch = 0;  ///< the next one; may be the number of batches
  /// Of the epoch, on all ranks together, in the batches before: where to go on in its order, whatever the size of the
  /// batches to come. nullopt: as many as these have where it goes on.
  std::optional<std::int64_t> rows = std::nullopt;
  friend bool operator==(const Position&, const Position&) = default;
};

}  // namespace heatpp::nn
