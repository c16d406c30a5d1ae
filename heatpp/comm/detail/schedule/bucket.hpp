#pragma once

#include <heatpp/comm/detail/progress/operation.hpp>
#include <span>

namespace heatpp::detail {

/// Runs an operation on many arrays. Neighbors of one dtype are copied together until they are worth a message; large
/// ones stay where they are. `make` starts the operation on one bucket.
[[nodiscard]] std::unique_ptr<Operation> in_buckets(
    std::span<const Buffer> arrays, const std::function<std::unique_ptr<Operation>(const Buffer&)>& make);

}  // namespace heatpp::detail
