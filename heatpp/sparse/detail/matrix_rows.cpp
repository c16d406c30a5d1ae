#include <heatpp/sparse/detail/matrix_rows.hpp>

#include <heatpp/core/promotion.hpp>
#include <heatpp/sparse/detail/impl.hpp>

#include <limits>

namespace heatpp::sparse {

at::Tensor detail::MatrixRows::read(std::int64_t first, std::int64_t count) const {
  const auto& block = block_of(matrix_);
  const auto begin = block.ptr()[first], end = block.ptr()[first + count];
  const auto counts = block.row_ptr.slice(0, first, first + count + 1).diff();
  const auto places =
      at::arange(count, at::kLong).repeat_interleave(counts) * matrix_.columns() + block.columns.slice(0, begin, end);
  auto rows = at::zeros({count * matrix_.columns()}, block.values.options());
  rows.index_copy_(0, places, block.values.slice(0, begin, end));
  return rows.view({count, matrix_.columns()});
}

DCSRMatrix::operator Rows() const {
  if (is_complex(dtype())) detail::raise<TypeError>("Rows", "got a matrix of {}; expected real numbers", name(dtype()));
  if (columns() > std::numeric_limits<std::int32_t>::max())
    detail::raise<ValueError>("Rows", "got a matrix of {} columns; expected fewer than 2^31", columns());
  return {std::make_shared<detail::MatrixRows>(*this), layout(), dtype(), comm()};
}

}  // namespace heatpp::sparse
