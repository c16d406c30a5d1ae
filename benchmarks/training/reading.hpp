#pragma once

#include <heatpp_nn/data/data_loader.hpp>

#include <string>

namespace bench {

/// Options of reading images from HDF5 files.
struct ReadingOptions {
  std::string files;  ///< a pattern
  std::int64_t batch = 64;
  heatpp::nn::PrefetchOptions prefetch = {};
};

/// Reads an epoch of shuffled batches of normalized images in each turn that `benchmarks/run` asks for.
int read_in_turns(const ReadingOptions& options);

}  // namespace bench
