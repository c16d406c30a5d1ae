#pragma once

#include <heatpp/ml/cluster/detail/lloyd.hpp>

// First centres for k-means: (k, features) float64 tensors, alike on every rank and for any number of ranks.
namespace heatpp::ml::detail {

/// Different rows, each as likely as its weight says. Collective: k all-gathers of a number a rank, and an all-reduce
/// of the rows.
[[nodiscard]] at::Tensor random_rows(const Weighted& data, std::int64_t k, std::uint64_t seed);

/// k-means++ (Arthur, Vassilvitskii 2007) that takes the best of 2 + log k candidates for each centre. Collective: for
/// each centre an all-gather of a number a rank, and all-reduces of the candidates and of a number for each.
[[nodiscard]] at::Tensor plus_plus(const Weighted& data, std::int64_t k, std::uint64_t seed);

/// k-means|| (Bahmani et al. 2012): five rounds in each of which about 2 k rows become candidates, which are then
/// weighted by the rows that are nearest to them and clustered on every rank. Collective: a round costs an all-reduce
/// of a number and two all-gathers, of how many candidates a rank has and of these.
[[nodiscard]] at::Tensor parallel(const Weighted& data, std::int64_t k, std::uint64_t seed);

/// All ranks' rows behind one another, in rank order: what `chosen()` gives on each. What it throws on one rank all
/// throw. Collective: two all-gathers, of 8 bytes a rank and of the rows; none where rows are replicated.
[[nodiscard]] at::Tensor gathered_rows(const Rows& rows, const std::function<at::Tensor()>& chosen);

/// The weight of the rows nearest to each candidate, by Manhattan distances if asked. Collective: one all-reduce of 8
/// (candidates + 1) bytes, none where rows are replicated.
[[nodiscard]] std::vector<double> weights_near(const Weighted& data, const at::Tensor& candidates,
                                               bool manhattan = false);

}  // namespace heatpp::ml::detail
