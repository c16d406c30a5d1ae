#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Whether so few bytes are gathered from so many ranks that a list of these takes more memory.
[[nodiscard]] bool is_less_than_lists(std::int64_t bytes, int ranks);

/// Returns the whole of an array cut along one axis, of which this rank has `block`, without a list of the ranks.
/// Collective: an all-reduce of all bytes.
[[nodiscard]] at::Tensor whole_by_sum(const at::Tensor& block, const Layout& layout, const Communicator& comm);

}  // namespace heatpp::detail
