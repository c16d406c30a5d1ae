#pragma once

#include <ATen/core/Generator.h>

#include <heatpp/comm/communicator.hpp>
#include <vector>

namespace heatpp::nn::detail {

/// While it lives, LibTorch's random numbers, as dropout draws them, differ between the ranks of a communicator, whose
/// programs may have seeded all alike. They follow from the seed of the program and from the rank. One rank alone draws
/// what it would draw without this. Local.
class RankRandom {
 public:
  RankRandom(const Communicator& comm, const at::Device& device);
  /// Goes on where the program was.
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
