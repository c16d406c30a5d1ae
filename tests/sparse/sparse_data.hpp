#pragma once

#include "../support.hpp"
#include <heatpp/heatpp.hpp>
#include <heatpp/sparse/sparse.hpp>

namespace sp = heatpp::sparse;

/// Returns a vector of int64.
inline at::Tensor numbers(std::initializer_list<std::int64_t> values) {
  return at::tensor(std::vector(values), at::kLong);
}

/// Returns a matrix of whole numbers in which two of three elements are 0, and a row and a column have only zeros.
inline at::Tensor mostly_zeros(std::int64_t rows, std::int64_t columns, at::ScalarType type = at::kDouble,
                               std::int64_t seed = 0) {
  auto x = at::empty({rows, columns}, at::kDouble);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      const auto mix = (i * 7919 + j * 104729 + seed * 31) % 101;
      x[i][j] = mix % 3 == 0 && i != 1 && j != 2 ? static_cast<double>(mix - 50) : 0.0;
    }
  if (type == at::kComplexDouble) return at::complex(x, x.flip(0).where(x.ne(0), at::zeros({}, x.options())));
  return x.to(type);
}

/// Returns the layouts of a sparse matrix: replicated, and cut by rows evenly, unevenly and with empty ranks.
inline std::vector<ht::Layout> row_layouts(const ht::Shape& shape) {
  auto layouts = every_layout(shape);
  std::erase_if(layouts, [](const auto& layout) { return layout.split() == 1; });
  return layouts;
}

inline sp::DCSRMatrix sparse_of(const at::Tensor& global, const ht::Layout& layout) {
  return sp::from_dense(distribute(global, layout));
}
/// Whether the matrix has these elements, this dtype, and a valid structure.
inline Agreement same_matrix(const sp::DCSRMatrix& a, const at::Tensor& expected) {
  const auto ptr = a.row_ptr();
  const auto columns = a.column_indices().larray().to(at::kLong).contiguous();
  const auto* const column = columns.const_data_ptr<std::int64_t>();
  bool rising = ptr.front() == 0 && ptr.back() == a.lnnz();
  for (std::size_t row = 0; row + 1 < ptr.size(); ++row)
    for (auto i = ptr[row] + 1; i < ptr[row + 1]; ++i) rising = rising && column[i] > column[i - 1];
  if (!rising) return {false, "got columns that do not increase within a row"};
  return same(sp::to_dense(a), expected);
}
