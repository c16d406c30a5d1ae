#pragma once

#include "../data.hpp"

// Labels and scores of 200 rows, for which scikit-learn 1.9.1 gives the expected numbers.

inline at::Tensor counting() { return at::arange(200, at::kLong); }
inline at::Tensor truth() {
  const auto i = counting();
  return (i * 3 + (i * i).remainder(5)).remainder(4) * 5 - 7;  // -7, -2, 3, 8
}
inline at::Tensor guess() {
  const auto i = counting();
  const auto off = (i.remainder(5) == 0).to(at::kLong) * i.remainder(3);
  return ((truth() + 7).div(5, "floor") + off).remainder(5) * 5 - 7;  // 13 as well
}
inline at::Tensor yes_or_no() { return ((counting() * counting()).remainder(7) < 3).to(at::kLong); }
inline at::Tensor guessed_yes_or_no() { return ((counting() * counting()).remainder(11) < 5).to(at::kLong); }
inline at::Tensor scores() {
  return at::round((at::sin(counting().to(at::kDouble) * 1.3) + yes_or_no() * 0.7) * 10) / 10;
}
inline at::Tensor probabilities() {
  const auto p = at::sin(at::arange(800, at::kDouble).reshape({200, 4}) * 0.37).abs() + 0.1;
  return p / p.sum(1, true);
}
