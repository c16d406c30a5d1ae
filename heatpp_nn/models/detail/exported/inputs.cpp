#include <heatpp_nn/models/detail/exported/inputs.hpp>

#include <heatpp/comm/error.hpp>
#include <heatpp/comm/detail/raise.hpp>

#include <ATen/ATen.h>

namespace heatpp::nn::detail {

using heatpp::detail::raise;

namespace {

constexpr auto op = "ExportedModule";
constexpr std::int64_t lowest_dynamic = 2;  // for axes of any length; torch.export takes shorter ones for constants

/// The values of symbols in a call, as far as they are known.
class Sizes {
 public:
  explicit Sizes(const std::map<std::string, ExportedRange>& ranges) : ranges_(ranges) {}

  [[nodiscard]] bool fit(const at::Tensor& tensor, const TensorInfo& info) {
    if (tensor.dim() != std::ssize(info.sizes)) return false;
    for (std::int64_t axis = 0; axis < tensor.dim(); ++axis)
      if (!fits(tensor.size(axis), info.sizes[static_cast<std::size_t>(axis)])) return false;
    return true;
  }

 private:
  bool fits(std::int64_t extent, const ExportedSize& size) {
    if (size.symbol.empty()) return extent == size.value;
    if (size.symbol.find('(') != std::string::npos) return true;  // an expression, which the graph computes
    const auto known = known_.emplace(size.symbol, extent).first;
    return known->second == extent && in_range(size.symbol, extent);
  }
  [[nodiscard]] bool in_range(const std::string& symbol, std::int64_t extent) const {
    const auto found = ranges_.find(symbol);
    if (found == ranges_.end()) return true;
    const auto& [low, high] = found->second;
    return !(high && extent > *high) && !(low && *low > lowest_dynamic && extent < *low);
  }

  const std::map<std::string, ExportedRange>& ranges_;
  std::map<std::string, std::int64_t> known_ = {};
};

std::string range_text(const TensorInfo& info, const std::map<std::string, ExportedRange>& ranges) {
  std::string text;
  for (const auto& size : info.sizes) {
    const auto found = ranges.find(size.symbol);
    if (found == ranges.end()) continue;
    const auto bound = [](const auto& value) { return value ? std::to_string(*value) : "any"; };
    text += heatpp::detail::formatted(", {} from {} to {}", size.symbol, bound(found->second.low),
                                      bound(found->second.high));
  }
  return text;
}

}  // namespace

void check_inputs(const std::vector<at::Tensor>& inputs, const std::vector<NamedInfo>& expected,
                  const std::map<std::string, ExportedRange>& ranges) {
  if (inputs.size() != expected.size())
    raise<ValueError>(op, "got {} inputs; expected {}, as many as the network was exported with", inputs.size(),
                      expected.size());
  Sizes sizes(ranges);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& [name, info] = expected[i];
    if (!sizes.fit(inputs[i], info))
      raise<ValueError>(op,
                        "got the input \"{}\" of shape {}; expected {}{}, as it was exported (dynamic_shapes of "
                        "torch.export leave sizes open)",
                        name, heatpp::detail::tuple_text(inputs[i].sizes()), to_text(info.sizes),
                        range_text(info, ranges));
  }
}

}  // namespace heatpp::nn::detail
