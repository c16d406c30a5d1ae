#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp/comm/topology.hpp>
#include <optional>
#include <string>
#include <vector>

namespace heatpp::nn::detail {

/// Replaces floating-point buffers of these names by their means over the ranks, in place. `running_mean` and
/// `running_var` are weighted by this rank's `share` of the rows; nullopt: all ranks have the same number. A
/// `running_var` beside a `running_mean` becomes the variance of all rows together: the mean of the variances, plus the
/// mean of the squared distances of the ranks' means from the common mean. Collective.
void average_statistics(const Topology& topology, const std::vector<std::string>& names,
                        const std::vector<at::Tensor>& buffers, std::optional<double> share);

}  // namespace heatpp::nn::detail
