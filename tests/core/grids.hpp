#pragma once

#include "../support.hpp"

using Along = std::vector<int>;

/// Returns the numbers of ranks along each axis whose product is `ranks`.
std::vector<Along> factorings(std::size_t axes, int ranks);

/// Every grid of the ranks, with even blocks, with uneven ones of ranks in reverse, and with empty ones.
std::vector<ht::Layout> every_grid(const ht::Shape& shape);
