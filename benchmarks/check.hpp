#pragma once

#include <heatpp/heatpp.hpp>

namespace bench {

/// Returns three float64 sums over all elements of an array of one or two axes: x, |x|, and x weighted by its global
/// position, which a permuted result would change. Collective.
std::vector<double> check_sums(const heatpp::DNDarray& x);

/// Returns the elements of small results. Collective.
std::vector<double> check_values(std::initializer_list<heatpp::DNDarray> arrays);

}  // namespace bench
