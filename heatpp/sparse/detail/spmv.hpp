#pragma once

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/sparse/detail/impl.hpp>

namespace heatpp::sparse::detail {

/// Where the products of rows find the vector: columns below `own` in `x`, the others in `halo`.
struct Operand {
  at::Tensor x, halo;  ///< (own,) and (received,), or (own, k) and (received, k); contiguous, of the matrix's dtype
  std::int64_t own = 0;
};

/// Where a block's entries find their elements of an operand.
struct Columns {
  at::Tensor places;  ///< (entries,) int32
  /// Where a new run of rows begins, and the number of rows: each row of a run has the places of the row before, one
  /// further, as on regular grids, so that only those of its first row are read. Empty where runs are short.
  std::vector<std::int64_t> runs;
};

/// Finds the runs, which end where places go from x to the halo. One pass over the columns.
[[nodiscard]] Columns columns_of(const CsrBlock& a, at::Tensor places, std::int64_t own);

/// y[row] = the row's product, for rows first to before last; entries are added in the order of their columns, so that
/// the cut changes no bit. y is (rows,) or (rows, k), contiguous.
void multiply_rows(const CsrBlock& a, const Columns& columns, const Operand& operand, at::Tensor& y, std::int64_t first,
                   std::int64_t last);

/// y[column] += the entry times x[row] for all entries, in the order of the rows: own (own, ...) and others (received,
/// ...).
void add_transposed(const CsrBlock& a, const at::Tensor& columns, const at::Tensor& x, at::Tensor& own,
                    at::Tensor& others);

/// The dtype in which products of such matrices are computed: narrow floats in float32, bool as int64.
[[nodiscard]] Dtype product_dtype(Dtype dtype);

}  // namespace heatpp::sparse::detail
