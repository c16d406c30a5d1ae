#pragma once

#include <ATen/core/Generator.h>

#include <heatpp/comm/communicator.hpp>
#include <vector>

namespace heatpp::nn::detail {

/// While it exists, LibTorch's random numbers, e.g. for dropout, differ between the ranks of a communicator even
/// if the programs use one seed. They follow from the program's seed and the rank. On one rank nothing changes.
/// Local.
class RankRandom {
 public:
  RankRandom(const Communicator& comm, const at::Device& device);
  /// Restores the program's generator.
  ~RankRandom();
  RankRandom(const RankRandom&) = delete;
  RankRandom& operator=(const RankRandom&) = delete;

 private:
  struct Kept {
    at::Generator generator;
    at::Tensor state;
  };
  std::vector<Kept> kept_;
};

}  // namespace heatpp::nn::detail
