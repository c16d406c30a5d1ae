#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <heatpp_nn/data/position.hpp>

/// What remaining ranks decide after others have ended: pure functions of what all of them have told.
namespace heatpp::nn::detail {

/// What a remaining rank has of its node's weights and of the optimizer's state for them.
struct Held {
  std::int64_t parts = 1;   ///< the number of parts into which the ranks of a node cut them
  std::int64_t part = 0;    ///< the part that this rank owns; -1: none
  std::int64_t weight = 1;  ///< the number of ranks that its node had
};
/// Returns the share of each rank's part in the mean over the nodes; 0 for ranks without a part. Empty if no remaining
/// rank owns some part, or if ranks have cut differently; then every rank brings all that it has, with equal shares.
[[nodiscard]] std::vector<double> shares_of(std::span<const Held> held);

/// How far a rank is.
struct Reached {
  std::int64_t epoch = 0, batch = 0;  ///< of its data
  std::int64_t trained = 0;           ///< batches of DASO
  friend auto operator<=>(const Reached&, const Reached&) = default;
};
/// Returns the first of the ranks that are least far. All continue from its progress, so that no row is left out.
[[nodiscard]] int least_far(std::span<const Reached> reached);

/// Returns the position in a dataset of which `now` of `before` rows remain: the same share of the epoch is done.
[[nodiscard]] Position position_among(const Position& position, std::int64_t before, std::int64_t now);

}  // namespace heatpp::nn::detail
