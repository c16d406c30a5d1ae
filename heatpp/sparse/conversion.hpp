#pragma once

#include <heatpp/core/factories.hpp>
#include <heatpp/sparse/dcsr.hpp>

namespace heatpp::sparse {

/// Returns the matrix as an array of all its elements, cut as its rows. Local.
[[nodiscard]] DNDarray to_dense(const DCSRMatrix& a);

/// The entries as vectors (nnz,) in the order of rows and columns, cut as they lie: rows and columns int64. Local.
struct Coo {
  DNDarray rows, columns, values;
  Shape shape;
};
[[nodiscard]] Coo to_coo(const DCSRMatrix& a);

/// Makes the matrix whole on every rank (nullopt), or cuts it evenly by rows (0). Collective if rows move: 16 bytes and
/// a value for each of their entries. Throws ValueError for other axes.
[[nodiscard]] DCSRMatrix resplit(const DCSRMatrix& a, std::optional<int> split);
/// Cuts so that every rank has equally many rows, or about equally many entries. Collective as resplit, and for
/// entries a place in the whole and an all-reduce of 8 bytes for each rank.
enum class Balance { rows, entries };
[[nodiscard]] DCSRMatrix balance(const DCSRMatrix& a, Balance by = Balance::rows);
/// Cuts so that rank r gets counts[r] rows. Collective. Throws ValueError on all ranks if these are not all rows or
/// differ by rank.
[[nodiscard]] DCSRMatrix redistribute(const DCSRMatrix& a, const std::vector<std::int64_t>& counts);

/// Writes shape, number of entries, dtype and layout in one line, and the entries as scipy prints them; only the first
/// and last of long matrices. Collective.
[[nodiscard]] std::string to_string(const DCSRMatrix& a);
std::ostream& operator<<(std::ostream& out, const DCSRMatrix& a);

}  // namespace heatpp::sparse

namespace heatpp {
/// Prints on rank 0 of the matrix's communicator to standard output. Collective.
void print(const sparse::DCSRMatrix& a);
}  // namespace heatpp
