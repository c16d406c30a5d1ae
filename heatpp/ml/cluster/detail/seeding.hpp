#pragma once

#include <heatpp/ml/cluster/detail/lloyd.hpp>

// First centers for k-means: (k, features) float64 tensors, equal on every rank and for any number of ranks.
namespace heatpp::ml::detail {

/// Draws different rows with probabilities proportional to their weights. Collective: k all-gathers of a number a rank,
/// and an all-reduce of the rows.
[[nodiscard]] at::Tensor random_rows(const Weighted& data, std::int64_t k, std::uint64_t seed);

/// Chooses centers by k-means++ (Arthur, Vassilvitskii 2007), each the best of 2 + log k candidates. Collective: for
/// each center an all-gather of a number a rank, and all-reduces of the candidates and of a number for each.
[[nodiscard]] at::Tensor plus_plus(const Weighted& data, std::int64_t k, std::uint64_t seed);

/// Chooses centers by k-means|| (Bahmani et al. 2012): in five rounds about 2 k rows each become candidates; these are
/// weighted by their nearest rows and clustered on every rank. Collective: a round costs an all-reduce of a number and
/// what gathered_rows sends.
[[nodiscard]] at::Tensor parallel(const Weighted& data, std::int64_t k, std::uint64_t seed);

/// Returns the rows that `chosen()` gives on each rank, in rank order. An error of it on one rank is thrown on all.
/// Collective: two all-gathers, of 8 bytes a rank and of the rows; on more than 1024 ranks an all-reduce of 8 bytes,
/// and what rows_by_place sends; none if rows are replicated.
[[nodiscard]] at::Tensor gathered_rows(const Rows& rows, const std::function<at::Tensor()>& chosen);
/// Returns the rows of all ranks, float64 on the CPU, in rank order, without a number for each rank. Collective: a
/// place in the whole, and an all-reduce of all rows.
[[nodiscard]] at::Tensor rows_by_place(const at::Tensor& mine, const Communicator& comm);

/// Returns the weight of the rows nearest to each candidate, by Manhattan distances if asked. Collective: one
/// all-reduce of 8 (candidates + 1) bytes, none if rows are replicated.
[[nodiscard]] std::vector<double> weights_near(const Weighted& data, const at::Tensor& candidates,
                                               bool manhattan = false);

}  // namespace heatpp::ml::detail
