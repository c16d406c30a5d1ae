#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/reproducible/exact_sum.hpp>
#include <span>

namespace heatpp::detail {

/// Sums over all ranks. One allreduce of 24 bytes, and one of a word for each 60 bits or so that the digits of all the
/// sums span.
void add_across(const Communicator& comm, std::span<ExactSum> sums);

}  // namespace heatpp::detail
