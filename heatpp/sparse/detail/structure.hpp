#pragma once

#include <heatpp/sparse/detail/impl.hpp>

// Where entries lie, computed on one rank. Values follow by positions, for any dtype.
namespace heatpp::sparse::detail {

/// Entries as their row and column, int64, and their value.
struct Triples {
  at::Tensor rows, columns, values;
  [[nodiscard]] std::int64_t count() const { return rows.numel(); }
};

/// Returns the bytes of each element of a vector, or of elements in C order, as a row.
[[nodiscard]] at::Tensor byte_rows(const at::Tensor& x);

/// What happens to entries of the same place.
enum class Duplicates { summed, refused };

/// Makes a block of triples of rows first .. first + rows; those of one place keep their order. Throws ValueError
/// naming a place that occurs twice if that is refused.
[[nodiscard]] CsrBlock block_from(const char* op, const Triples& triples, std::int64_t first, std::int64_t rows,
                                  Duplicates duplicates);
/// Returns the entries of a block whose rows begin at `first`.
[[nodiscard]] Triples triples_of(const CsrBlock& block, std::int64_t first);

/// Returns the entries for which keep(row, column, position) holds, rows from 0.
template <class F>
[[nodiscard]] CsrBlock filtered(const CsrBlock& block, F keep) {
  const auto columns = block.columns.to(at::kLong);
  const auto* const column = columns.template const_data_ptr<std::int64_t>();
  const auto* const ptr = block.ptr();
  auto row_ptr = at::empty({block.rows() + 1}, at::kLong);
  auto positions = at::empty({block.entries()}, at::kLong);
  auto* const out_ptr = row_ptr.template data_ptr<std::int64_t>();
  auto* const out = positions.template data_ptr<std::int64_t>();
  std::int64_t kept = 0;
  for (std::int64_t row = 0; row < block.rows(); ++row) {
    out_ptr[row] = kept;
    for (auto i = ptr[row]; i < ptr[row + 1]; ++i)
      if (keep(row, column[i], i)) out[kept++] = i;
  }
  out_ptr[block.rows()] = kept;
  positions = positions.narrow(0, 0, kept);
  return {row_ptr, block.columns.index_select(0, positions), block.values.index_select(0, positions)};
}

/// The places of two blocks of the same rows: common ones, or those of either; and the place of each block's entries
/// among them.
struct Merged {
  at::Tensor row_ptr, columns;            ///< columns int64
  at::Tensor from_a, to_a, from_b, to_b;  ///< entry from_a[i] of a is entry to_a[i] of the result
};
[[nodiscard]] Merged merged(const CsrBlock& a, const CsrBlock& b, bool either);

}  // namespace heatpp::sparse::detail
