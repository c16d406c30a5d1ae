#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// What a rank does in a round in which ranks send matrices in pairs: it sends one, gets one, or neither.
struct Transfer {
  int to = -1, from = -1;
  at::Tensor matrix = {};  ///< contiguous, on the CPU
};
/// Carries out a round. Collective: one exchange.
void carry_out(const Transfer& transfer, const Communicator& comm);

}  // namespace heatpp::detail
