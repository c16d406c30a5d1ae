#pragma once

#include <heatpp/sparse/detail/impl.hpp>

namespace heatpp::sparse::detail {

/// Rows of two blocks of one dtype, numbered one block after the other.
struct RowBlocks {
  CsrBlock own, others;
};

/// The rows of a matrix that columns of another name, on this rank.
struct FetchedRows {
  RowBlocks blocks;                    ///< all that this rank has, where they lie, and those that came
  std::int64_t first = 0;              ///< the number of its first row
  std::vector<std::int64_t> ids = {};  ///< which came, rising
  /// The structure of `a` with the columns as rows of the blocks, int64.
  [[nodiscard]] CsrBlock places_in(const CsrBlock& a) const;
};

/// Collective where `b` is cut: an alltoall, 8 bytes there and 8 back for each row, and a column and a value for each
/// of their entries. All of a replicated `b`, or for `a` that every rank has alike (not `cut`), which needs all of it.
[[nodiscard]] FetchedRows fetched_rows(const CsrBlock& a, bool cut, const DCSRMatrix& b);

/// Row i of the result holds rows[i]'s, in any order and often. Local.
[[nodiscard]] CsrBlock taken_rows(const RowBlocks& blocks, std::span<const std::int64_t> rows);
[[nodiscard]] CsrBlock taken_rows(const CsrBlock& block, std::span<const std::int64_t> rows);

}  // namespace heatpp::sparse::detail
