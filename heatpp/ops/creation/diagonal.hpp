#pragma once

#include <functional>
#include <heatpp/core/dndarray.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/ops/operands/operand.hpp>

namespace heatpp {

struct DiagonalOptions {
  std::int64_t offset = 0;  ///< diagonal above (positive) or below the main one
  int axis1 = 0;            ///< axis of rows
  int axis2 = 1;            ///< axis of columns
};

/// Returns the elements x[..., i, i + offset] in a new last axis. If one of the two axes is split, so is the diagonal,
/// as its elements lie; nothing moves. Shares memory. Throws ValueError for fewer than two axes.
[[nodiscard]] DNDarray diagonal(const DNDarray& x, const DiagonalOptions& options = {});
/// Returns the diagonal of a matrix, or a matrix with the vector on its diagonal, split along axis 0 if the vector is
/// split. Local. Throws ValueError for other numbers of axes.
[[nodiscard]] DNDarray diag(const DNDarray& x, std::int64_t offset = 0);
/// Does diag for the flattened array.
[[nodiscard]] DNDarray diagflat(const DNDarray& x, std::int64_t offset = 0);
struct FillDiagonalOptions {
  bool wrap = false;  ///< in a matrix with more rows than columns start again, one row below the end
};
/// Writes `value`, or the elements of a vector in turn from its start, to the diagonal x[i, i, ...]; an empty vector
/// writes nothing. Local except for a vector in another layout. Throws as index_put.
void fill_diagonal(DNDarray& x, const Operand& value, const FillDiagonalOptions& options = {});
void fill_diagonal(Selection&& x, const Operand& value, const FillDiagonalOptions& options = {});

/// Set the last two axes to zero above (tril) or below (triu) the `k`th diagonal. A vector becomes the rows of a
/// matrix, and all ranks get it. Otherwise local.
[[nodiscard]] DNDarray tril(const DNDarray& x, std::int64_t k = 0);
[[nodiscard]] DNDarray triu(const DNDarray& x, std::int64_t k = 0);
struct TriOptions {
  std::optional<std::int64_t> columns = std::nullopt;  ///< nullopt: as many as rows
  std::int64_t k = 0;                                  ///< the (last) diagonal with ones
  ArrayOptions array = {};
};
/// Returns ones at and below the `k`th diagonal and zeros above. Local.
[[nodiscard]] DNDarray tri(std::int64_t rows, const TriOptions& options = {});
/// Returns ones on the `k`th diagonal and zeros elsewhere. Local.
[[nodiscard]] DNDarray eye(std::int64_t rows, const TriOptions& options);

/// Return positions for indexing, one array for each axis: of the diagonal of an array of `ndim` axes of extent n, and
/// of the elements that tril and triu keep. Every rank holds them all. Local.
[[nodiscard]] std::vector<DNDarray> diag_indices(std::int64_t n, int ndim = 2);
struct TriIndicesOptions {
  std::int64_t k = 0;
  std::optional<std::int64_t> columns = std::nullopt;  ///< nullopt: as many as rows
};
[[nodiscard]] std::vector<DNDarray> tril_indices(std::int64_t rows, const TriIndicesOptions& options = {});
[[nodiscard]] std::vector<DNDarray> triu_indices(std::int64_t rows, const TriIndicesOptions& options = {});
/// Return these positions for an existing array: diag_indices for equal extents, tril_indices and triu_indices for a
/// matrix.
[[nodiscard]] std::vector<DNDarray> diag_indices_from(const DNDarray& x);
[[nodiscard]] std::vector<DNDarray> tril_indices_from(const DNDarray& x, std::int64_t k = 0);
[[nodiscard]] std::vector<DNDarray> triu_indices_from(const DNDarray& x, std::int64_t k = 0);
/// Returns the positions that `mask_function(matrix, k)`, such as triu, keeps of an n x n matrix.
[[nodiscard]] std::vector<DNDarray> mask_indices(
    std::int64_t n, const std::function<DNDarray(const DNDarray&, std::int64_t)>& mask_function, std::int64_t k = 0);

}  // namespace heatpp
