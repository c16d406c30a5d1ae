#pragma once

#include <heatpp/ops/operands/detail/around.hpp>

#include <limits>

namespace heatpp::detail {

/// The least and the largest of some numbers; NaN if one of them is.
template <class T>
struct Extremes {
  using Limits = std::numeric_limits<T>;
  T least = Limits::has_infinity ? Limits::infinity() : Limits::max();
  T most = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();

  void add(const Extremes& other) {
    if (other.least < least || other.least != other.least) least = other.least;
    if (other.most > most || other.most != other.most) most = other.most;
  }
};

enum class Extreme { both, least, most };
/// Adds the extremes over the middle axis of a block of real numbers, for each of the others, to `out`. Of neighbors
/// only the wanted extreme is added.
template <class T>
void add_extremes(const T* data, const Around& extents, Extremes<T>* out, Extreme wanted = Extreme::both);

}  // namespace heatpp::detail
