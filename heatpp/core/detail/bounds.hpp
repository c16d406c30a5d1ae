#pragma once

#include <heatpp/comm/communicator.hpp>

namespace heatpp::detail {

/// The smallest and the largest value of each number over the ranks.
struct Bounds {
  std::vector<std::int64_t> least, most;
  [[nodiscard]] bool equal(std::size_t i) const { return least[i] == most[i]; }
};

/// Returns the bounds of the n numbers that `numbers` returns on this rank. It may return none, which do not count. An
/// error on one rank is thrown on all. One allreduce of 16 n + 8 bytes.
[[nodiscard]] Bounds bounds_or_error(const Communicator& comm, std::size_t n,
                                     const std::function<std::vector<std::int64_t>()>& numbers);

}  // namespace heatpp::detail
