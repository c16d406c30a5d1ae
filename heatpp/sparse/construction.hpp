#pragma once

#include <heatpp/core/factories.hpp>
#include <heatpp/sparse/dcsr.hpp>

namespace heatpp::sparse {

/// This rank's rows in a host's arrays: `row_ptr` from 0 (one more than rows) and the columns of the entries, both of 4
/// or 8 bytes each, and their values.
struct CsrArrays {
  std::variant<std::span<const std::int32_t>, std::span<const std::int64_t>> row_ptr, columns;
  void* values = nullptr;
  Dtype dtype = float64;
};
/// Makes a matrix of rows that the ranks hold, in rank order for `.split = 0`, or equal on every rank: a host's CSR
/// arrays, such as those of PETSc's MatSeqAIJGetArray. Values are used in place and read there at each use of the
/// matrix, so a host may go on writing them. Columns and pointers are used in place if they have the matrix's size
/// (int32 columns while they fit, int64 pointers), else copied. Collective. Throws ValueError on all ranks, naming the
/// row, if pointers do not increase from 0 to the number of entries, columns are out of range or do not increase within
/// a row, or the ranks disagree on the dtype or the number of columns.
[[nodiscard]] DCSRMatrix from_local(const CsrArrays& arrays, std::int64_t columns, const LocalOptions& options = {});

/// How triples become a matrix.
struct CooOptions {
  std::optional<int> split = 0;  ///< 0: cut by rows, evenly; nullopt: whole on every rank
  bool sum_duplicates = true;    ///< entries of one place are added, in the order of the triples; false: an error
};
/// Makes the matrix of `shape` with the entries (rows[i], columns[i], values[i]): vectors of equal length and any
/// layout. Collective: the layouts are made equal, and one exchange sends the triples to the owners of their rows.
/// Throws ValueError on all ranks for other shapes, arguments that differ by rank, places out of range and duplicates
/// that are not added, TypeError for places that are not whole numbers.
[[nodiscard]] DCSRMatrix from_coo(const DNDarray& rows, const DNDarray& columns, const DNDarray& values,
                                  const Shape& shape, const CooOptions& options = {});

/// Takes the elements of a matrix that are not 0, cut as its rows; split 1 is recut. Does not change `x`. Collective.
[[nodiscard]] DCSRMatrix from_dense(const DNDarray& x);

// If these are cut, an all-reduce of 72 bytes finds whether the ranks agree on the shape, else ValueError on all, and
// an allgather of 8 bytes counts the entries. If they are whole on every rank they are local.

/// Makes an (n, n) matrix with ones on the main diagonal.
[[nodiscard]] DCSRMatrix identity(std::int64_t n, const ArrayOptions& options = {.split = 0});
/// Puts the vectors `values[d]` on the diagonals `offsets[d]`, above the main one for positive ones, as scipy's
/// `diags(values, offsets, shape)`: vector d has the diagonal's length, or one element for the whole diagonal.
/// Collective. Throws ValueError for other lengths and offsets that are out of range or repeat.
[[nodiscard]] DCSRMatrix diags(const std::vector<DNDarray>& values, const std::vector<std::int64_t>& offsets,
                               const Shape& shape, const ArrayOptions& options = {.split = 0});
/// Options of random: each place has an entry in [0, 1) with probability `density`, on any number of ranks alike.
struct RandomOptions {
  double density = 0.01;
  std::uint64_t seed = 0;
  ArrayOptions array = {.split = 0};
};
[[nodiscard]] DCSRMatrix random(const Shape& shape, const RandomOptions& options = {});

}  // namespace heatpp::sparse
