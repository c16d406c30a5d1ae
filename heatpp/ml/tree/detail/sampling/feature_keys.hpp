#pragma once

#include <heatpp/comm/communicator.hpp>

namespace heatpp::ml::detail {

/// Which rank finds the edges of which features: about equally many each, in order over the ranks.
struct FeatureShares {
  std::int64_t features;
  int ranks;
  [[nodiscard]] std::int64_t first(int rank) const { return features * rank / ranks; }
  [[nodiscard]] std::int64_t count(int rank) const { return first(rank + 1) - first(rank); }
  [[nodiscard]] int owner(std::int64_t feature) const {
    return static_cast<int>(((feature + 1) * ranks - 1) / features);
  }
};

/// Numbers of some features as keys, feature by feature.
template <class K>
struct FeatureKeys {
  std::int64_t rows;    ///< of each feature
  std::vector<K> keys;  ///< in any order within a feature
};

/// Sends each rank the numbers of its features, which `mine` holds of all features of this rank's sampled rows.
/// Collective: an all-gather of 8 bytes a rank, and an exchange.
template <class K>
[[nodiscard]] FeatureKeys<K> brought_by_ranks(const FeatureKeys<K>& mine, const FeatureShares& shares,
                                              const Communicator& comm);
/// Does so without a number of each rank. Collective: parcels of 24 bytes for each number, in log2 P rounds.
template <class K>
[[nodiscard]] FeatureKeys<K> brought_by_parcels(const FeatureKeys<K>& mine, const FeatureShares& shares,
                                                const Communicator& comm);

}  // namespace heatpp::ml::detail
