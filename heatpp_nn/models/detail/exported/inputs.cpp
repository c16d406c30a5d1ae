#include <heatpp_nn/models/detail/exported/inputs.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/error.hpp>

#include <ATen/ATen.h>

#include <algorithm>

namespace heatpp::nn::detail {

using heatpp::detail::formatted;
using heatpp::detail::raise;

namespace {

constexpr auto op = "ExportedModule";
constexpr std::int64_t lowest_dynamic = 2;  // for axes of any length; torch.export takes shorter ones for constants

using Ranges = std::map<std::string, ExportedRange>;

/// Returns ", s77 from 2 to 64", or "" if there is no such range.
std::string range_text(const std::string& of, const Ranges& ranges) {
  const auto found = ranges.find(of);
  return found == ranges.end() ? "" : ", " + to_text(of, found->second);
}

/// The values of symbols in a call.
class Sizes {
 public:
  explicit Sizes(const Ranges& ranges) : ranges_(ranges) {}

  /// Finds the values of symbols from sizes that follow from one symbol.
  void learn(const at::Tensor& tensor, const TensorInfo& info) {
    for (std::int64_t axis = 0; axis < std::min(tensor.dim(), std::ssize(info.sizes)); ++axis)
      if (const auto linear = linear_in(info.sizes[static_cast<std::size_t>(axis)]))
        if (const auto value = linear->solved_for(tensor.size(axis))) known_.emplace(linear->symbol, *value);
  }

  /// Returns what a size should be, or nullopt if it fits. A size that follows from unknown symbols fits.
  [[nodiscard]] std::optional<std::string> misfit(std::int64_t extent, const Expression& size) const {
    const auto expected = value_of(size, known_);
    const bool fits = expected ? *expected == extent : !linear_in(size);
    if (fits && in_ranges(size, extent)) return std::nullopt;
    auto text = to_text(size);
    if (!fits && expected && !size.is_number()) text += formatted(" = {}", *expected);
    return text;
  }

 private:
  [[nodiscard]] bool in_ranges(const Expression& size, std::int64_t extent) const {
    const auto own = ranges_.find(to_text(size));
    if (own != ranges_.end() && own->second.high && extent > *own->second.high) return false;
    for (const auto& symbol : symbols_of(size)) {
      const auto range = ranges_.find(symbol);
      const auto value = known_.find(symbol);
      if (range != ranges_.end() && value != known_.end() && !holds(range->second, value->second)) return false;
    }
    return true;
  }
  [[nodiscard]] static bool holds(const ExportedRange& range, std::int64_t value) {
    return !(range.high && value > *range.high) && !(range.low && *range.low > lowest_dynamic && value < *range.low);
  }

  const Ranges& ranges_;
  SymbolValues known_ = {};
};

/// Returns the ranges of all sizes and of the symbols in them.
std::string ranges_text(const TensorInfo& info, const Ranges& ranges) {
  std::set<std::string> names;
  std::string text;
  for (const auto& size : info.sizes) {
    auto all = symbols_of(size);
    if (!size.is_number()) all.insert(to_text(size));
    for (const auto& name : all)
      if (names.insert(name).second) text += range_text(name, ranges);
  }
  return text;
}

[[noreturn]] void refuse(const at::Tensor& tensor, const NamedInfo& expected, const std::string& why,
                         const Ranges& ranges) {
  raise<ValueError>(op,
                    "got the input \"{}\" of shape {}{}; expected {}{}, as it was exported (dynamic_shapes of "
                    "torch.export leave sizes open)",
                    expected.name, heatpp::detail::tuple_text(tensor.sizes()), why, to_text(expected.info.sizes),
                    ranges_text(expected.info, ranges));
}

void check(const at::Tensor& tensor, const NamedInfo& expected, const Sizes& sizes, const Ranges& ranges) {
  if (tensor.dim() != std::ssize(expected.info.sizes)) refuse(tensor, expected, "", ranges);
  for (std::int64_t axis = 0; axis < tensor.dim(); ++axis)
    if (const auto wanted = sizes.misfit(tensor.size(axis), expected.info.sizes[static_cast<std::size_t>(axis)]))
      refuse(tensor, expected, formatted(", {} along axis {} in place of {}", tensor.size(axis), axis, *wanted),
             ranges);
}

}  // namespace

void check_inputs(const std::vector<at::Tensor>& inputs, const std::vector<NamedInfo>& expected,
                  const std::map<std::string, ExportedRange>& ranges) {
  if (inputs.size() != expected.size())
    raise<ValueError>(op, "got {} inputs; expected {}, as many as the network was exported with", inputs.size(),
                      expected.size());
  Sizes sizes(ranges);
  for (std::size_t i = 0; i < inputs.size(); ++i) sizes.learn(inputs[i], expected[i].info);
  for (std::size_t i = 0; i < inputs.size(); ++i) check(inputs[i], expected[i], sizes, ranges);
}

}  // namespace heatpp::nn::detail
