#pragma once

#include <heatpp/core/factories.hpp>
#include <heatpp/sparse/dcsr.hpp>

namespace heatpp::sparse {

/// This rank's rows as a host holds them: `row_ptr` from 0 (one more than rows) and the columns of the entries, both of
/// 4 or 8 bytes each, and their values.
struct CsrArrays {
  std::variant<std::span<const std::int32_t>, std::span<const std::int64_t>> row_ptr, columns;
  void* values = nullptr;
  Dtype dtype = float64;
};
/// A matrix of rows that the ranks hold already, in rank order for `.split = 0`, or alike on every rank: a host's CSR
/// arrays, such as those of PETSc's MatSeqAIJGetArray. Values are used where they are and are read there whenever the
/// matrix is, so that a host may go on writing them; columns and pointers are used in place where they have the
/// matrix's size (int32 columns while they fit, int64 pointers), else copied. Collective. Throws ValueError on all
/// ranks, naming the row, where pointers do not rise from 0 to the number of entries, columns are out of range or do
/// not rise within a row, or the ranks disagree on the dtype or the number of columns.
[[nodiscard]] DCSRMatrix from_local(const CsrArrays& arrays, std::int64_t columns, const LocalOptions& options = {});

/// How triples become a matrix.
struct CooOptions {
  std::optional<int> split = 0;  ///< cut by rows, evenly, or nullopt: whole on every rank
  bool sum_duplicates = true;    ///< entries of the same place are added, in the order of the triples, or an error
};
/// The matrix of `shape` with the entries (rows[i], columns[i], values[i]): vectors of the same length and any layout.
/// Collective: the layouts are made equal, and one exchange takes the triples to the ranks that own their rows. Throws
/// ValueError on all ranks for other shapes, arguments that differ by rank, places out of range and duplicates where
/// they are not added, TypeError for places that are not whole numbers.
[[nodiscard]] DCSRMatrix from_coo(const DNDarray& rows, const DNDarray& columns, const DNDarray& values,
                                  const Shape& shape, const CooOptions& options = {});

/// The elements of a matrix that differ from 0, cut as its rows; split 1 is recut. Leaves `x` as it is. Collective.
[[nodiscard]] DCSRMatrix from_dense(const DNDarray& x);

// Where these are cut an all-reduce of 72 bytes finds whether the ranks agree on the shape, which is a ValueError on
// all otherwise, and an allgather of 8 bytes counts the entries; where they are whole on every rank they are local.

/// Ones on the main diagonal of an (n, n) matrix.
[[nodiscard]] DCSRMatrix identity(std::int64_t n, const ArrayOptions& options = {.split = 0});
/// The vectors `values[d]` on the diagonals `offsets[d]`, above the main one for positive ones, as scipy's
/// `diags(values, offsets, shape)`: vector d has the diagonal's length, or one element, which stands for all.
/// Collective. Throws ValueError for other lengths and offsets that are out of range or repeat.
[[nodiscard]] DCSRMatrix diags(const std::vector<DNDarray>& values, const std::vector<std::int64_t>& offsets,
                               const Shape& shape, const ArrayOptions& options = {.split = 0});
/// Each place has an entry, uniform in [0, 1), with probability `density`: the same on any number of ranks.
struct RandomOptions {
  double density = 0.01;
  std::uint64_t seed = 0;
  ArrayOptions array = {.split = 0};
};
[[nodiscard]] DCSRMatrix random(const Shape& shape, const RandomOptions& options = {});

}  // namespace heatpp::sparse
