#include <heatpp_nn/parallel/detail/statistics.hpp>

#include <heatpp_nn/parallel/detail/flat.hpp>

#include <ATen/ATen.h>

#include <map>
#include <utility>

namespace heatpp::nn::detail {
namespace {

/// Splits "block.norm.running_var" into "block.norm" and "running_var".
std::pair<std::string, std::string> split_name(const std::string& name) {
  const auto dot = name.rfind('.');
  if (dot == std::string::npos) return {"", name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

/// Averages tensors; `share` is this rank's weight in the mean; nullopt: equal weights.
void average_by(const Topology& topology, const std::vector<at::Tensor>& tensors, std::optional<double> share) {
  if (!share) return average(topology, tensors);
  for (const auto& tensor : tensors) {
    if (*share > 0) at::Tensor(tensor).mul_(*share);
    else at::Tensor(tensor).zero_();  // infinite elements would become NaN
  }
  add_up(topology, tensors);
}

}  // namespace

/// Averages means first. Then each variance gets the squared distance of this rank's mean from the common mean.
void average_statistics(const Topology& topology, const std::vector<std::string>& names,
                        const std::vector<at::Tensor>& buffers, std::optional<double> share) {
  const at::NoGradGuard no_grad;
  std::map<std::string, std::pair<at::Tensor, at::Tensor>> own_means;  // by module: the buffer, its former value
  std::map<std::string, at::Tensor> variances;
  std::vector<at::Tensor> means, others;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const auto [module, name] = split_name(names[i]);
    if (name == "running_var") variances[module] = buffers[i];
    else (name == "running_mean" ? means : others).push_back(buffers[i]);
    if (name == "running_mean") own_means[module] = {buffers[i], buffers[i].clone()};
  }
  average_by(topology, others, std::nullopt);
  average_by(topology, means, share);
  std::vector<at::Tensor> spread;
  for (auto& [module, variance] : variances) {
    spread.push_back(variance);
    const auto found = own_means.find(module);
    if (found == own_means.end() || found->second.first.sizes() != variance.sizes()) continue;
    const auto& [mean, own] = found->second;
    variance.add_((own - mean).square_());
  }
  average_by(topology, spread, share);
}

}  // namespace heatpp::nn::detail
