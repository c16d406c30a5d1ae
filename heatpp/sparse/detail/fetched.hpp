#pragma once

#include <heatpp/sparse/detail/impl.hpp>

namespace heatpp::sparse::detail {

/// Rows of two blocks of one dtype, numbered one block after the other.
struct RowBlocks {
  CsrBlock own, others;
};

/// The rows of a matrix that columns of another matrix name, on this rank.
struct FetchedRows {
  RowBlocks blocks;                    ///< this rank's own rows, in place, and those that arrived
  std::int64_t first = 0;              ///< number of its first row
  std::vector<std::int64_t> ids = {};  ///< rows that arrived, increasing
  /// Returns `a` with its columns as rows of the blocks, int64.
  [[nodiscard]] CsrBlock places_in(const CsrBlock& a) const;
};

/// Fetches rows. Collective if `b` is cut: an alltoall, 8 bytes there and 8 back for each row, and a column and a value
/// for each of their entries. Takes all of a replicated `b`, or of any if every rank has `a` (not `cut`).
[[nodiscard]] FetchedRows fetched_rows(const CsrBlock& a, bool cut, const DCSRMatrix& b);

/// Makes row i of rows[i], in any order and repeated. Local.
[[nodiscard]] CsrBlock taken_rows(const RowBlocks& blocks, std::span<const std::int64_t> rows);
[[nodiscard]] CsrBlock taken_rows(const CsrBlock& block, std::span<const std::int64_t> rows);

}  // namespace heatpp::sparse::detail
