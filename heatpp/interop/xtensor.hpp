#pragma once

#include <heatpp/core/factories.hpp>
#include <xtensor/xadapt.hpp>
#include <xtensor/xnoalias.hpp>

namespace heatpp::detail {

/// Throws ValueError unless the expression has the block's shape.
template <class Expression>
void check_expression(const char* op, const Expression& expression, const Shape& block) {
  if (!std::equal(block.begin(), block.end(), expression.shape().begin(), expression.shape().end()))
    throw ValueError("[" + std::string(op) + "] got an expression of another shape than the block " + to_string(block) +
                     "; expected equal shapes");
}

template <class T>
[[nodiscard]] auto adapted(std::span<T> elements, const Shape& shape) {
  return xt::adapt(elements.data(), elements.size(), xt::no_ownership(),
                   std::vector<std::size_t>(shape.begin(), shape.end()));
}

}  // namespace heatpp::detail

namespace heatpp {

/// Gives this rank's block of `x` as an xtensor container on the same memory: for reading if the array is const, else
/// also for writing, as `x.local`. Local. Throws TypeError if T is not the dtype, ValueError if the block is not
/// contiguous or not on the CPU.
template <Element T>
[[nodiscard]] auto as_xtensor(const DNDarray& x) {
  return detail::adapted(x.local<T>(), x.lshape());
}
template <Element T>
[[nodiscard]] auto as_xtensor(DNDarray& x) {
  return detail::adapted(x.local<T>(), x.lshape());
}
template <Element T>
void as_xtensor(const DNDarray&& x) = delete;  // its elements would end first

/// Adopts the elements of an xtensor container, or of a view on one, as this rank's block, in place and with their
/// strides. It must outlive the array. Collective, see from_local. Throws ValueError for negative strides.
template <class Container>
[[nodiscard]] DNDarray from_xtensor(Container& container, const LocalOptions& options = {}) {
  const auto& shape = container.shape();
  const auto& strides = container.strides();
  return from_local(container.data() + container.data_offset(), Shape(shape.begin(), shape.end()),
                    Shape(strides.begin(), strides.end()), dtype_of<typename Container::value_type>(), options);
}

/// Computes an xtensor expression over local blocks into this rank's block of `x`, in one pass and without temporaries.
/// Local. Throws ValueError unless the expression has the block's shape and `x` is writable.
template <class Expression, Element T = typename Expression::value_type>
void assign(DNDarray& x, const Expression& expression) {
  auto block = as_xtensor<T>(x);
  detail::check_expression("assign", expression, x.lshape());
  if (block.size() > 0) xt::noalias(block) = expression;  // a view of an empty block may point outside of it
}

/// Makes an array with the layout of `x` whose blocks are an xtensor expression over local blocks, in one pass:
/// `ht::from_expression(a * a + b, x)` with `a = ht::as_xtensor<float>(x)`. Local. Throws as assign.
template <class Expression>
[[nodiscard]] DNDarray from_expression(const Expression& expression, const DNDarray& x) {
  auto result = empty_like(x, dtype_of<typename Expression::value_type>());
  assign(result, expression);
  return result;
}

}  // namespace heatpp
