#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/sparse/detail/fetched.hpp>
#include <heatpp/sparse/detail/gustavson.hpp>
#include <heatpp/sparse/detail/spmv.hpp>
#include <heatpp/sparse/product.hpp>

namespace heatpp::sparse {

using namespace detail;

DCSRMatrix matmul(const DCSRMatrix& a, const DCSRMatrix& b) {
  if (a.columns() != b.rows())
    raise<ValueError>("matmul", "got shapes {} and {}; expected as many rows as columns before", to_string(a.shape()),
                      to_string(b.shape()));
  heatpp::detail::check_same_comm("matmul", a.comm(), b.comm());
  const auto dtype = promote_types(a.dtype(), b.dtype());
  const auto type = heatpp::detail::to_torch(product_dtype(dtype));
  const auto rows = fetched_rows(block_of(a), a.split().has_value(), b);
  auto left = rows.places_in(block_of(a));
  auto right = rows.blocks;
  for (auto* block : {&left, &right.own, &right.others}) block->values = block->values.to(type);
  auto product = gustavson(left, right, b.columns());
  product.values = dtype == Dtype::bool_ ? product.values.ne(0) : product.values.to(heatpp::detail::to_torch(dtype));
  return wrap(std::move(product), a.layout().with({a.rows(), b.columns()}, a.split()), a.comm());
}

}  // namespace heatpp::sparse
