#include "sparse_data.hpp"

#include <sstream>

namespace {

using Catch::Contains;

/// Returns a matrix stored by columns, cut as `layout` cuts the rows of the transposed matrix.
sp::DCSCMatrix by_columns(const at::Tensor& global, const ht::Layout& layout) {
  return sp::DCSCMatrix(sparse_of(global.t().contiguous(), layout));
}
Agreement same_columns(const sp::DCSCMatrix& a, const at::Tensor& expected) {
  const auto found = same_matrix(a.transposed(), expected.t().contiguous());
  return found ? same(sp::to_dense(a), expected) : found;
}

}  // namespace

TEST_CASE("a matrix by columns is the same matrix", "[sparse][dcsc]") {
  for (const auto type : {at::kDouble, at::kInt, at::kComplexDouble}) {
    const auto global = mostly_zeros(7, 5, type);
    for (const auto& layout : row_layouts({5, 7})) {
      const auto a = by_columns(global, layout);
      CHECK(a.shape() == ht::Shape{7, 5});
      CHECK(a.split() == (layout.split() ? std::optional(1) : std::nullopt));
      CHECK(a.layout() == sp::to_dense(a).layout());
      CHECK(a.nnz() == global.ne(0).sum().item<std::int64_t>());
      CHECK(same_columns(a, global));
      CHECK(same(a.column_counts(), global.ne(0).sum(0)));
      CHECK(same(ht::resplit(a.row_indices(), std::nullopt), at::nonzero(global.t()).select(1, 1).to(at::kInt)));
      CHECK(static_cast<std::int64_t>(a.column_ptr().size()) == a.layout().local_shape(ht::world().rank())[1] + 1);
      CHECK(same_matrix(sp::to_csr(a), global));
      CHECK(same_columns(sp::to_csc(sp::to_csr(a)), global));
      CHECK(same_matrix(sp::transpose(a), global.t().contiguous()));
      CHECK(same_columns(sp::resplit(a, 1), global));
      CHECK(same_columns(sp::resplit(a, std::nullopt), global));
      CHECK(same_columns(sp::balance(a), global));
      const auto coo = sp::to_coo(a);
      CHECK(same_matrix(sp::from_coo(coo.rows, coo.columns, coo.values, coo.shape), global));
    }
    for (const auto& layout : every_layout({7, 5})) CHECK(same_columns(sp::to_csc(distribute(global, layout)), global));
  }
  CHECK_THROWS_AS(sp::resplit(sp::to_csc(sp::identity(3)), 0), ht::ValueError);
  CHECK_THROWS_AS(sp::DCSCMatrix().nnz(), ht::ValueError);
  CHECK_THROWS_AS(sp::to_csc(ht::ones({3})), ht::ValueError);
}

TEST_CASE("products of matrices by columns", "[sparse][dcsc]") {
  for (const auto type : {at::kDouble, at::kComplexDouble}) {
    const auto global = mostly_zeros(7, 5, type), other = mostly_zeros(5, 6, type, 1);
    const auto x = mostly_zeros(5, 3, type, 2), y = mostly_zeros(7, 3, type, 3);
    for (const auto& layout : row_layouts({5, 7})) {
      const auto a = by_columns(global, layout);
      for (const auto& cut : every_layout({5, 3}))
        CHECK(close(sp::matmul(a, distribute(x, cut)), at::matmul(global, x)));
      for (const auto& cut : every_layout({7, 3})) {
        const auto product = sp::rmatmul(a, distribute(y, cut));
        CHECK(close(product, at::matmul(global.conj().t(), y)));
      }
      const auto vector = x.select(1, 0).contiguous();
      const ht::linalg::LinearOperator op = a;
      CHECK(close(op.apply(distribute(vector, ht::Layout({5}, 0, ht::world().size()))), at::matmul(global, vector)));
      for (const auto& second : row_layouts({6, 5}))
        if (second.split() == layout.split())
          CHECK(same(sp::to_dense(sp::matmul(a, by_columns(other, second))), at::matmul(global, other)));
      CHECK_THROWS_AS(sp::matmul(a, distribute(y, ht::Layout({7, 3}, 0, ht::world().size()))), ht::ValueError);
    }
  }
}

TEST_CASE("elements and sums of matrices by columns", "[sparse][dcsc]") {
  const auto x = mostly_zeros(7, 5), y = mostly_zeros(7, 5, at::kDouble, 1);
  const auto down = at::arange(1., 8., at::kDouble), across = at::arange(1., 6., at::kDouble);
  for (const auto& layout : row_layouts({5, 7})) {
    const auto a = by_columns(x, layout), b = by_columns(y, ht::Layout({5, 7}, layout.split(), ht::world().size()));
    CHECK(same_columns(a + b, x + y));
    CHECK(same_columns(a - b, x - y));
    CHECK(same_columns(a * b, x * y));
    CHECK(same_columns(2 * a / 4.0, x / 2));
    CHECK(same_columns(-a, -x));
    CHECK(same_columns(sp::abs(a), x.abs()));
    CHECK(same_columns(sp::conj(a), x));
    CHECK(same_columns(sp::astype(a, ht::float32), x.to(at::kFloat)));
    CHECK(same_columns(sp::map_values(a, [](const ht::DNDarray& v) { return v * v; }), x * x));
    CHECK(same_columns(sp::scale_rows(a, distribute(down, ht::Layout({7}, 0, ht::world().size()))),
                       x * down.unsqueeze(1)));
    CHECK(same_columns(sp::scale_columns(a, distribute(across, ht::Layout({5}, 0, ht::world().size()))), x * across));
    CHECK(sp::eliminate_zeros(a * 0).nnz() == 0);
    CHECK(same_columns(sp::power(a, 2), x * x));
    CHECK(same_columns(sp::tril(a, 1), x.tril(1)));
    CHECK(same_columns(sp::triu(a, -1), x.triu(-1)));
    CHECK(same(sp::diagonal(a), x.diagonal()));
    CHECK(sp::allclose(a, a * (1 + 1e-7)));
    CHECK(same_columns(sp::submatrix(a, ht::slice(1, 7, 2), ht::slice(2)), x.slice(0, 1, 7, 2).slice(1, 0, 2)));
    CHECK(same_columns(sp::take_rows(a, ht::array({6, 0, -1, 0})), x.index({at::tensor({6, 0, -1, 0})})));
    CHECK(same_columns(sp::take_columns(a, ht::array({4, 0, -1})),
                       x.t().index({at::tensor({4, 0, -1})}).t().contiguous()));
    CHECK(same_columns(sp::vstack({a, b}), at::cat({x, y})));
    CHECK(same_columns(sp::hstack({a, b}), at::cat({x, y}, 1)));
    CHECK(same_columns(sp::block_diag({a, b}), at::block_diag({x, y})));
    CHECK(sp::array_equal(a, a));
    CHECK_FALSE(sp::array_equal(a, b));
    CHECK(close(sp::sum(a, 0), x.sum(0)));
    CHECK(close(sp::sum(a, -1), x.sum(1)));
    CHECK(close(sp::mean(a, 1), x.mean(1)));
    CHECK(sp::sum(a).item<double>() == x.sum().item<double>());
    CHECK(close(sp::max(a, 0), x.amax(0)));
    CHECK(close(sp::min(a, 1), x.amin(1)));
    CHECK(sp::count_nonzero(a) == x.ne(0).sum().item<std::int64_t>());
    CHECK(sp::norm(a) == Approx(x.norm().item<double>()));
    CHECK_THROWS_AS(sp::sum(a, 2), ht::IndexError);
    CHECK_THROWS_AS(a + sp::to_csc(sp::identity(5)), ht::ValueError);
  }
}

TEST_CASE("a host's columns are adopted, and matrices by columns printed", "[sparse][dcsc]") {
  const auto& world = ht::world();
  std::vector<std::int64_t> ptr{0, 1, 3};
  std::vector<std::int32_t> rows{world.rank(), 0, 8};
  std::vector<double> values{1, 2, 3};
  if (world.rank() == 1) ptr = {0}, rows.clear(), values.clear();  // no columns
  const sp::CscArrays arrays{std::span<const std::int64_t>(ptr), std::span<const std::int32_t>(rows), values.data(),
                             ht::float64};
  const auto a = sp::from_local_csc(arrays, 9, {.split = 1});
  const auto columns = 2 * (world.size() - (world.size() > 1));
  CHECK(a.shape() == ht::Shape{9, columns});
  CHECK(a.split() == 1);
  if (!values.empty()) CHECK(a.values().larray().const_data_ptr() == values.data());
  CHECK(sp::sum(a).item<double>() == 3 * columns);
  CHECK_THROWS_AS(sp::from_local_csc(arrays, 9, {.split = world.rank() == 0 ? 0 : 1}), ht::ValueError);
  CHECK_THROWS_AS(sp::from_local_csc(arrays, 8, {.split = 1}), ht::ValueError);

  const auto whole = by_columns(mostly_zeros(6, 4), ht::Layout({4, 6}, std::nullopt, world.size()));
  const auto text = sp::to_string(whole);
  CHECK_THAT(text,
             Catch::StartsWith("DCSCMatrix of shape (6, 4) with ") && Contains("entries of float64, split none\n  ("));
  std::ostringstream out;
  out << sp::resplit(sp::resplit(whole, 1), std::nullopt);
  CHECK(out.str() == text);
  CHECK_THAT(sp::to_string(sp::resplit(whole, 1)), Contains("split 1"));
}
