#pragma once

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/sparse/detail/impl.hpp>

namespace heatpp::sparse::detail {

/// The vector's elements for products of rows: columns below `own` in `x`, the others in `halo`.
struct Operand {
  at::Tensor x, halo;  ///< (own,) and (received,), or (own, k) and (received, k); contiguous, of the matrix's dtype
  std::int64_t own = 0;
};

/// Places of a block's entries in an operand.
struct Columns {
  at::Tensor places;  ///< (entries,) int32
  /// The start of each new run of rows, and the number of rows. Each row of a run has the places of the row before, one
  /// further, as on regular grids, so that only those of its first row are read. Empty if runs are short.
  std::vector<std::int64_t> runs;
};

/// Finds the runs, which end if places go from x to the halo. One pass over the columns.
[[nodiscard]] Columns columns_of(const CsrBlock& a, at::Tensor places, std::int64_t own);

/// Computes y[row] = the row's product, for rows first to before last. Entries are added in the order of their columns,
/// so that the cut changes no bit. y is (rows,) or (rows, k), contiguous.
void multiply_rows(const CsrBlock& a, const Columns& columns, const Operand& operand, at::Tensor& y, std::int64_t first,
                   std::int64_t last);

/// Adds to y[column] the entry times x[row] for all entries, in the order of the rows: own (own, ...) and others
/// (received, ...).
void add_transposed(const CsrBlock& a, const at::Tensor& columns, const at::Tensor& x, at::Tensor& own,
                    at::Tensor& others);

/// Returns the dtype of products of such matrices: float32 for narrow floats, int64 for bool.
[[nodiscard]] Dtype product_dtype(Dtype dtype);

}  // namespace heatpp::sparse::detail
