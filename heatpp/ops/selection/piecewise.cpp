#include <heatpp/ops/selection/piecewise.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/detail/align.hpp>
#include <heatpp/ops/operands/detail/as_array.hpp>
#include <heatpp/ops/selection/selection.hpp>
#include <heatpp/ops/shape/detail/basic_index.hpp>

#include <algorithm>

namespace heatpp {
namespace {

/// Returns a condition over the first axes of `x` in a shape that broadcasts with it.
DNDarray leading_condition(const DNDarray& x, const DNDarray& condition) {
  const auto& shape = condition.shape();
  if (condition.ndim() > x.ndim() || !std::equal(shape.begin(), shape.end(), x.shape().begin()))
    detail::raise<IndexError>("piecewise",
                              "got a condition of shape {} for an array of shape {}; expected its first extents",
                              to_string(shape), to_string(x.shape()));
  auto result = condition;
  while (result.ndim() < x.ndim()) result = detail::insert_axis(result, result.ndim());
  return result;
}

}  // namespace

DNDarray select(const std::vector<DNDarray>& conditions, const Choices& choices, const Operand& otherwise) {
  if (conditions.empty() || conditions.size() != choices.size())
    detail::raise<ValueError>("select", "got {} conditions and {} choices; expected as many of both, and some",
                              conditions.size(), choices.size());
  for (const auto& condition : conditions) detail::check_bool("select", condition);
  auto all = choices;
  all.push_back(otherwise);
  const auto alike = detail::as_arrays("select", all, conditions.front());
  auto result = alike.back();
  for (auto i = conditions.size(); i-- > 0;) result = where(conditions[i], alike[i], result);
  return result;
}

DNDarray piecewise(const DNDarray& x, const std::vector<DNDarray>& conditions, const std::vector<Piece>& functions) {
  const auto n = conditions.size();
  if (functions.size() != n && functions.size() != n + 1)
    detail::raise<ValueError>("piecewise", "got {} functions for {} conditions; expected as many or one more",
                              functions.size(), n);
  auto result = zeros_like(x);
  const auto choose = [&](const DNDarray& condition, const Operand& piece) {
    detail::check_value("piecewise", piece, x.dtype());
    const ArrayOptions alike{.dtype = x.dtype(), .device = x.device(), .comm = x.comm()};
    result =
        where(condition, piece.array() ? piece.array()->astype(x.dtype()) : full({}, piece.number(), alike), result);
  };
  if (functions.size() > n) choose(ones_like(x, bool_), functions.back()(x));
  for (std::size_t i = 0; i < n; ++i) choose(leading_condition(x, conditions[i]), functions[i](x));
  if (result.shape() != x.shape())
    detail::raise<ValueError>("piecewise", "got results of shape {} for an array of shape {}; expected its shape",
                              to_string(result.shape()), to_string(x.shape()));
  return result;
}

}  // namespace heatpp
