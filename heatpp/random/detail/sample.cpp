#include <heatpp/random/detail/sample.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/cuts/layout_of.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/operands/detail/align.hpp>

namespace heatpp::random::detail {
namespace {

using heatpp::detail::raise;

const DNDarray* first_array(std::span<const Operand> operands) {
  for (const auto& operand : operands)
    if (operand.array()) return operand.array();
  return nullptr;
}

Layout layout_beside(const char* op, std::span<const Operand> parameters, const Shape& shape,
                     const ArrayOptions& options, const Communicator& comm) {
  Shape common;
  for (const auto& p : parameters)
    if (p.array()) common = broadcast_shapes(common, p.array()->shape(), op);
  if (!shape.empty() && !heatpp::detail::broadcasts_to(common, shape))
    raise<ValueError>(op, "got parameters of shape {} for an array of shape {}; expected ones that broadcast to it",
                      to_string(common), to_string(shape));
  if (!shape.empty()) common = shape;
  const bool free = !options.split && options.grid.empty();
  for (const auto& p : parameters)
    if (free && p.array() && p.array()->shape() == common) return p.array()->layout();
  return heatpp::detail::layout_of(op, common, options, comm);
}

}  // namespace

Target target_of(const char* op, std::span<const Operand> parameters, const Shape& shape, const ArrayOptions& options,
                 Dtype fallback) {
  const auto* array = first_array(parameters);
  const auto& comm = options.comm ? *options.comm : array ? array->comm() : default_comm();
  const auto dtype = options.dtype.value_or(fallback);
  for (const auto& p : parameters)
    if (p.array() ? is_complex(p.array()->dtype()) : p.number().is_complex())
      raise<TypeError>(op, "got a complex parameter; expected real ones");
  const bool fits = is_floating(fallback) ? is_floating(dtype) : is_integral(dtype) || is_floating(dtype);
  if (!fits)
    raise<TypeError>(op, "got dtype {}; expected a {} one", name(dtype),
                     is_floating(fallback) ? "floating" : "whole-number");
  return {layout_beside(op, parameters, shape, options, comm), comm, dtype, options.device};
}

std::vector<Parameter> parameters_of(const char* op, std::span<const Operand> parameters, const Target& target) {
  std::vector<Parameter> result;
  for (const auto& p : parameters) {
    if (!p.array()) {
      result.push_back({.number = p.number().to<double>(), .block = {}});
      continue;
    }
    // This replaces the result; only its layout matters here.
    const auto place =
        heatpp::detail::wrap(at::empty({}, at::kByte).expand(target.local_shape()), target.layout, target.comm);
    const auto block = heatpp::detail::align_to(op, place, p.array()->to_device(cpu));
    result.push_back({.number = 0, .block = block.to(at::kDouble).expand(target.local_shape()).contiguous()});
  }
  return result;
}

bool are_numbers(std::span<const Parameter> parameters) {
  return std::ranges::none_of(parameters, [](const auto& p) { return p.block.defined(); });
}

void check_parameters(const char* op, const char* expected, std::span<const Parameter> parameters, const Target& target,
                      const std::function<bool(std::int64_t)>& valid) {
  const auto check = [&](std::int64_t i) {
    if (valid(i)) return;
    std::vector<double> values;
    for (const auto& p : parameters) values.push_back(p.at(i));
    raise<ValueError>(op, "got parameters {}; expected {}", heatpp::detail::tuple_text(values), expected);
  };
  if (are_numbers(parameters)) return check(0);
  const auto count = size_of(target.local_shape());
  all_or_none(target.comm, [&] {
    for (std::int64_t i = 0; i < count; ++i) check(i);
  });
}

}  // namespace heatpp::random::detail
