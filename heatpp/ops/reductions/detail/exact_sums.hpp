#pragma once

#include <heatpp/comm/detail/reproducible/exact_sum.hpp>
#include <heatpp/ops/operands/detail/around.hpp>

namespace heatpp::detail {

/// Adds the elements along the middle axis of a block to the sums, one for each of the others, for float and double.
/// Reads the block from memory once.
template <class T>
void add_exactly(const T* data, const Around& extents, ExactSum* out);

/// Adds the products of the elements of two vectors, for float and double.
template <class T>
void add_products_exactly(const T* a, const T* b, std::int64_t n, ExactSum& out);

}  // namespace heatpp::detail
