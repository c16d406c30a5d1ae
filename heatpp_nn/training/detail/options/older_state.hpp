#pragma once

#include <heatpp_nn/training/detail/training_archive.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace heatpp::nn::detail {

/// The numbers of checkpoints of older builds, which had no names.
struct OlderNumbers {
  std::vector<std::int64_t> numbers;
  std::vector<std::int64_t> events;
  std::vector<double> losses;
  std::vector<double> tuning;
};

/// Sets the position and the state of DASO. Throws std::exception for numbers that no older build wrote.
void set_older(RankState& state, const OlderNumbers& numbers);

/// Reads the 10 or 11 numbers of a Trainer's loop. Returns nullopt for another count.
[[nodiscard]] std::optional<LoopState> older_loop_state(const at::Tensor& tensor);

}  // namespace heatpp::nn::detail
