#pragma once

#include <heatpp/comm/detail/hash.hpp>
#include <heatpp/core/layout.hpp>
#include <heatpp/random/detail/bijection.hpp>
#include <heatpp_nn/data/sampler.hpp>

namespace heatpp::nn::detail {

using heatpp::detail::mixed;

/// The order of an epoch: a bijection from places to rows. Each rank needs a part of it.
class EpochOrder {
 public:
  EpochOrder(const Layout& layout, int rank, const SamplerOptions& options, std::int64_t epoch);
  /// Returns the row at a place. It is faster if places increase from call to call.
  [[nodiscard]] std::int64_t operator()(std::int64_t place);

 private:
  [[nodiscard]] random::detail::Bijection bijection(std::uint64_t stream, std::int64_t n) const;
  [[nodiscard]] std::int64_t mixed_place(std::int64_t place);
  [[nodiscard]] std::int64_t block_row(std::int64_t place) const;

  SamplerOptions options_;
  std::uint64_t epoch_;
  std::int64_t rows_, first_;                        // rows that are permuted together
  std::optional<random::detail::Bijection> all_;     // bijection of rows, or of blocks
  std::int64_t short_place_ = 0, short_rows_ = 0;    // last block, which may be short
  std::int64_t group_ = -1;                          // group of blocks that are mixed
  std::optional<random::detail::Bijection> within_;  // bijection within that group
};

}  // namespace heatpp::nn::detail
