#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/literal.hpp>
#include <heatpp/core/promotion.hpp>

namespace heatpp {

Literal::Literal(std::span<const Literal> parts) : shape_{std::ssize(parts)} {
  if (parts.empty()) return;
  const auto& first = parts.front().shape();
  shape_.insert(shape_.end(), first.begin(), first.end());
  dtype_ = parts.front().dtype();
  for (const auto& part : parts) {
    if (part.shape() != first)
      detail::raise<ValueError>("array", "got parts of shapes {} and {}; expected equal shapes", to_string(first),
                                to_string(part.shape()));
    dtype_ = promote_types(dtype_, part.dtype());
    values_.insert(values_.end(), part.values_.begin(), part.values_.end());
  }
}

}  // namespace heatpp
