#include <heatpp/core/literal.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/promotion.hpp>

#include <algorithm>

namespace heatpp {
namespace {

/// Returns the common dtype. Among numbers in braces the later kind wins, and a vector keeps its dtype.
Dtype common_dtype(Dtype a, bool a_in_braces, Dtype b, bool b_in_braces) {
  if (a_in_braces && b_in_braces) return std::max(a, b);
  if (a_in_braces && is_whole(a) && !is_whole(b)) return b;
  if (b_in_braces && is_whole(b) && !is_whole(a)) return a;
  return promote_types(a, b);
}

}  // namespace

Literal::Literal(std::span<const Literal> parts) : shape_{std::ssize(parts)} {
  if (parts.empty()) return;
  const auto& first = parts.front().shape();
  shape_.insert(shape_.end(), first.begin(), first.end());
  dtype_ = parts.front().dtype();
  in_braces_ = parts.front().in_braces_;
  for (const auto& part : parts) {
    if (part.shape() != first)
      detail::raise<ValueError>("array", "got parts of shapes {} and {}; expected equal shapes", to_string(first),
                                to_string(part.shape()));
    dtype_ = common_dtype(dtype_, in_braces_, part.dtype(), part.in_braces_);
    in_braces_ = in_braces_ && part.in_braces_;
    values_.insert(values_.end(), part.values_.begin(), part.values_.end());
  }
}

}  // namespace heatpp
