#include "sparse_data.hpp"

namespace {

const auto dtypes = {at::kDouble, at::kFloat, at::kInt, at::kBool, at::kComplexDouble, at::kBFloat16};

/// Returns the product of whole numbers, which is exact.
at::Tensor product_of(const at::Tensor& a, const at::Tensor& b) {
  const auto type = at::promote_types(a.scalar_type(), b.scalar_type());
  const auto wide = at::isComplexType(type) ? at::kComplexDouble : at::kDouble;
  const auto y = at::matmul(a.to(wide), b.to(wide));
  return type == at::kBool ? y.ne(0) : y.to(type);
}

}  // namespace

TEST_CASE("products with vectors and matrices are those of dense arrays, for every pair of cuts", "[sparse][product]") {
  for (const auto type : dtypes)
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>(9, 7), {3, 11}, {1, 1}, {0, 3}, {4, 0}}) {
      const auto global = mostly_zeros(rows, columns, type);
      for (const auto& layout : row_layouts({rows, columns})) {
        const auto a = sparse_of(global, layout);
        for (const std::int64_t k : {-1, 1, 3, 17}) {
          const auto x = mostly_zeros(columns, std::max<std::int64_t>(k, 1), type, 5);
          const auto given = k < 0 ? x.select(1, 0).contiguous() : x;
          const ht::Shape shape = k < 0 ? ht::Shape{columns} : ht::Shape{columns, k};
          for (const auto& cut : every_layout(shape)) {
            const auto y = sp::matmul(a, distribute(given, cut));
            CHECK(same(y, product_of(global, given)));
            CHECK(y.split() == (a.split() ? a.split() : cut.split() == 1 ? cut.split() : std::nullopt));
          }
        }
      }
    }
}

TEST_CASE("products of rows that continue the pattern of earlier rows, with exceptions", "[sparse][product]") {
  constexpr std::int64_t n = 240;
  for (const auto type : dtypes) {
    auto global = at::zeros({n, n}, at::kDouble);
    for (const std::int64_t band : {-40, -1, 0, 1, 40})
      global.diagonal(band).copy_(at::arange(n - std::abs(band)) % 7 + 1);
    global[100].zero_();
    global[101][3] = 5;
    global = global.to(type);
    const auto x = (at::arange(n, at::kDouble) % 5).to(type);
    for (const auto& layout : row_layouts({n, n})) {
      const auto a = sparse_of(global, layout);
      for (const auto& cut : every_layout({n})) CHECK(same(sp::matmul(a, distribute(x, cut)), product_of(global, x)));
    }
  }
}

TEST_CASE("a product after another uses the plan, also for vectors that are cut otherwise", "[sparse][product]") {
  const auto global = mostly_zeros(12, 12);
  const auto a = sparse_of(global, ht::Layout({12, 12}, 0, ht::world().size()));
  for (int round = 0; round < 2; ++round)
    for (const auto& cut : every_layout({12})) {
      const auto x = at::arange(12, at::kDouble) + round;
      CHECK(same(sp::matmul(a, distribute(x, cut)), at::matmul(global, x)));
      CHECK(same(sp::matmul(a * 2.0, distribute(x, cut)), at::matmul(global, x) * 2));
    }
  CHECK_THROWS_AS(sp::matmul(a, ht::ones({11})), ht::ValueError);
  CHECK_THROWS_AS(sp::matmul(a, ht::ones({12, 1, 1})), ht::ValueError);
}

TEST_CASE("products of the adjoint need no transposed matrix", "[sparse][product]") {
  for (const auto type : dtypes)
    for (const auto& layout : row_layouts({9, 7})) {
      const auto global = mostly_zeros(9, 7, type);
      const auto a = sparse_of(global, layout);
      for (const std::int64_t k : {-1, 4}) {
        const auto x = mostly_zeros(9, std::max<std::int64_t>(k, 1), type, 3);
        const auto given = k < 0 ? x.select(1, 0).contiguous() : x;
        const ht::Shape shape = k < 0 ? ht::Shape{9} : ht::Shape{9, k};
        for (const auto& cut : every_layout(shape))
          CHECK(same(sp::rmatmul(a, distribute(given, cut)), product_of(global.t().conj().resolve_conj(), given)));
      }
    }
  CHECK_THROWS_AS(sp::rmatmul(sp::identity(3), ht::ones({4})), ht::ValueError);
}

TEST_CASE("sparse products are those of dense matrices, for every pair of cuts", "[sparse][product]") {
  for (const auto type : dtypes) {
    const auto left = mostly_zeros(8, 6, type), right = mostly_zeros(6, 9, type, 2);
    for (const auto& first : row_layouts({8, 6}))
      for (const auto& second : row_layouts({6, 9})) {
        const auto c = sp::matmul(sparse_of(left, first), sparse_of(right, second));
        CHECK(same_matrix(c, product_of(left, right)));
        CHECK(c.layout() == first.with({8, 9}, first.split()));
      }
  }
  CHECK_THROWS_AS(sp::matmul(sp::identity(3), sp::identity(4)), ht::ValueError);
}

TEST_CASE("the transposed matrix", "[sparse][product]") {
  for (const auto type : dtypes)
    for (const auto& layout : row_layouts({9, 4})) {
      const auto global = mostly_zeros(9, 4, type);
      CHECK(same_matrix(sp::transpose(sparse_of(global, layout)), global.t().contiguous()));
    }
}

TEST_CASE("sums, differences and products by element, for every pair of cuts", "[sparse][elementwise]") {
  for (const auto& [one, another] : {std::pair(at::kDouble, at::kDouble), std::pair(at::kInt, at::kFloat),
                                     std::pair(at::kComplexDouble, at::kDouble), std::pair(at::kLong, at::kInt)}) {
    const auto left = mostly_zeros(9, 5, one), right = mostly_zeros(9, 5, another, 4);
    const auto type = (ht::from_tensor(left) + ht::from_tensor(right)).larray().scalar_type();
    for (const auto& first : row_layouts({9, 5}))
      for (const auto& second : row_layouts({9, 5})) {
        const auto a = sparse_of(left, first), b = sparse_of(right, second);
        CHECK(same_matrix(a + b, left.to(type) + right.to(type)));
        CHECK(same_matrix(a - b, left.to(type) - right.to(type)));
        CHECK(same_matrix(a * b, left.to(type) * right.to(type)));
        CHECK((a + b).layout() == first);
        CHECK((a * b).nnz() == left.ne(0).logical_and(right.ne(0)).sum().item<std::int64_t>());
      }
  }
  const auto a = sparse_of(mostly_zeros(6, 4, at::kBool), ht::Layout({6, 4}, 0, ht::world().size()));
  CHECK(same_matrix(a + a, mostly_zeros(6, 4, at::kBool)));
  CHECK_THROWS_AS(a - a, ht::TypeError);
  CHECK_THROWS_AS(a + sp::identity(4), ht::ValueError);
}

TEST_CASE("numbers, functions of the entries and factors", "[sparse][elementwise]") {
  const auto global = mostly_zeros(8, 6);
  for (const auto& layout : row_layouts({8, 6})) {
    const auto a = sparse_of(global, layout);
    CHECK(same_matrix(a * 2.0, global * 2));
    CHECK(same_matrix(3 * a, global * 3));
    CHECK(same_matrix(a / 4, global / 4));
    CHECK(same_matrix(-a, -global));
    CHECK(same_matrix(sp::abs(a), global.abs()));
    CHECK(same_matrix(sp::power(sp::abs(a), 2), global.square()));
    CHECK(same_matrix(sp::map_values(a, [](const auto& v) { return ht::sign(v); }), global.sign()));
    CHECK(same_matrix(sp::astype(a, ht::float32), global.to(at::kFloat)));
    CHECK(same_matrix(sp::tril(a, 1), global.tril(1)));
    CHECK(same_matrix(sp::triu(a, -1), global.triu(-1)));
    CHECK(same(sp::diagonal(a), global.diagonal()));
    CHECK(sp::eliminate_zeros(a * 0.0).nnz() == 0);
    CHECK((a * 0.0).nnz() == a.nnz());
    CHECK(sp::array_equal(a, sp::eliminate_zeros(a + sp::tril(a) * 0.0)));
    CHECK_FALSE(sp::array_equal(a, a * 2.0));
    CHECK(sp::allclose(a, a * (1 + 1e-7)));
    CHECK_FALSE(sp::allclose(a, a * 1.1));
    const auto down = at::arange(1, 9, at::kDouble), across = at::arange(1, 7, at::kDouble);
    for (const auto& cut : every_layout({8}))
      CHECK(same_matrix(sp::scale_rows(a, distribute(down, cut)), global * down.unsqueeze(1)));
    for (const auto& cut : every_layout({6}))
      CHECK(same_matrix(sp::scale_columns(a, distribute(across, cut)), global * across));
    CHECK_THROWS_AS(sp::scale_rows(a, ht::ones({6})), ht::ValueError);
    CHECK_THROWS_AS(sp::map_values(a, [](const auto&) { return ht::ones({3}); }), ht::ValueError);
    CHECK_THROWS_AS(sp::power(a, 0), ht::ValueError);
  }
  for (const auto& layout : row_layouts({3, 5}))
    CHECK(same(sp::diagonal(sparse_of(mostly_zeros(3, 5), layout)), mostly_zeros(3, 5).diagonal()));
  for (const auto& layout : row_layouts({6, 3}))
    CHECK(same(sp::diagonal(sparse_of(mostly_zeros(6, 3), layout)), mostly_zeros(6, 3).diagonal()));
}

TEST_CASE("operators that assign make another matrix", "[sparse][elementwise]") {
  std::vector<std::int64_t> ptr{0, 1, 3};
  std::vector<std::int32_t> columns{0, 0, 1};
  std::vector<double> values{1, 2, 3};
  const auto adopted = sp::from_local(
      {std::span<const std::int64_t>(ptr), std::span<const std::int32_t>(columns), values.data(), ht::float64}, 2,
      {.split = 0});
  auto a = adopted;
  a *= 2;
  a += a;
  a -= adopted;
  a /= 3.0;
  a *= a;
  CHECK(values == std::vector<double>{1, 2, 3});
  CHECK(sp::array_equal(a, adopted * adopted));
  a = sp::matmul(a(ht::slice(0, 2)), a(ht::slice(0, 2), ht::slice(0, 2)));
  CHECK(same_matrix(a, at::tensor({1., 0., 40., 81.}, at::kDouble).view({2, 2})));
}

TEST_CASE("bool, unsigned and infinite entries, and functions that fail on one rank", "[sparse][elementwise]") {
  const auto global = mostly_zeros(8, 6);
  const bool odd = ht::world().rank() == ht::world().size() - 1;
  for (const auto& layout : row_layouts({8, 6})) {
    const auto truth = sparse_of(global.ne(0), layout), infinite = sparse_of(global, layout) * INFINITY;
    CHECK(sp::array_equal(truth, truth));
    CHECK(sp::allclose(truth, truth));
    CHECK_FALSE(sp::array_equal(truth, sp::tril(truth)));
    CHECK(sp::array_equal(infinite, infinite));
    CHECK(sp::allclose(infinite, infinite));
    CHECK_FALSE(sp::allclose(infinite, sp::tril(infinite)));
    CHECK_FALSE(sp::array_equal(infinite * NAN, infinite * NAN));
    const auto bytes = global.abs().to(at::kByte);
    CHECK(same_matrix(-sparse_of(bytes, layout), bytes.neg()));
    CHECK(same_matrix(sp::power(sparse_of(global.to(at::kLong), layout), 2), global.square().to(at::kLong)));
    CHECK_THROWS_AS(sp::power(truth, NAN), ht::ValueError);
    if (!layout.split()) continue;
    CHECK(message_of<std::exception>([&] {
            (void)sp::map_values(infinite, [&](const ht::DNDarray& v) {
              if (odd) throw ht::ValueError("[host] no values");
              return v;
            });
          }).starts_with("[host] no values"));
    if (ht::world().size() > 1)
      CHECK_THAT(message_of<ht::ValueError>([&] {
                   (void)sp::map_values(infinite,
                                        [&](const auto& v) { return v.astype(odd ? ht::float32 : ht::float64); });
                 }),
                 Catch::Contains("expected one dtype"));
  }
}

TEST_CASE("sums of rows of short floats are exact if their results are", "[sparse][reductions]") {
  for (const auto& layout : row_layouts({3, 5000})) {
    const auto a = sparse_of(at::ones({3, 5000}, at::kHalf), layout);
    CHECK(same(sp::sum(a, 1), at::full({3}, 5000, at::kHalf)));
    CHECK(same(sp::sum(a, 0), at::full({5000}, 3, at::kHalf)));
    const auto far = at::full({3, 5000}, 1e4f) + at::arange(5000, at::kFloat) / 8;
    CHECK(same(sp::sum(sparse_of(far, layout), 1), far.to(at::kDouble).sum(1).to(at::kFloat)));
  }
}

TEST_CASE("reductions count elements without an entry as 0", "[sparse][reductions]") {
  for (const auto type : {at::kDouble, at::kInt, at::kFloat}) {
    auto global = mostly_zeros(9, 5, type);
    global.select(1, 3).fill_(-7);  // a column and a row without zeros
    global.select(0, 4).fill_(3);
    const auto sums = type == at::kInt ? at::kLong : type;
    for (const auto& layout : row_layouts({9, 5})) {
      const auto a = sparse_of(global, layout);
      CHECK(same(sp::sum(a), global.sum().to(sums)));
      CHECK(same(sp::sum(a, 0), global.sum(0).to(sums)));
      CHECK(same(sp::sum(a, -1), global.sum(1).to(sums)));
      CHECK(close(sp::mean(a, 0), global.to(type == at::kFloat ? at::kFloat : at::kDouble).mean(0), 1e-6));
      CHECK(same(sp::max(a), global.max()));
      CHECK(same(sp::min(a), global.min()));
      CHECK(same(sp::max(a, 0), global.amax(0)));
      CHECK(same(sp::max(a, 1), global.amax(1)));
      CHECK(same(sp::min(a, 0), global.amin(0)));
      CHECK(same(sp::min(a, 1), global.amin(1)));
      for (const auto axis : {0, 1}) {  // the largest elements are the first ones, also among elements without an entry
        CHECK(same(sp::argmax(a, axis), global.argmax(axis)));
        CHECK(same(sp::argmin(a, axis), global.argmin(axis)));
      }
      CHECK(same(sp::argmax(a), global.argmax()));
      CHECK(same(sp::argmin(a), global.argmin()));
      CHECK(sp::count_nonzero(a) == global.ne(0).sum().item<std::int64_t>());
      CHECK(sp::norm(a) == Approx(global.to(at::kDouble).norm().item<double>()));
    }
  }
  CHECK_THROWS_AS(sp::sum(sp::identity(3), 2), ht::IndexError);
  CHECK_THROWS_AS(sp::max(sp::random({0, 3})), ht::ValueError);
  for (const auto& reduce :
       {sp::max, sp::min, sp::argmax, sp::argmin}) {  // empty results of matrices that are not empty
    CHECK(reduce(sp::random({0, 3}), 1).shape() == ht::Shape{0});
    CHECK(reduce(sp::random({3, 0}), 0).shape() == ht::Shape{0});
    CHECK_THROWS_AS(reduce(sp::random({0, 3}), 0), ht::ValueError);
  }
}

TEST_CASE("parts and stacks", "[sparse][indexing]") {
  const auto global = mostly_zeros(9, 7);
  const auto& world = ht::world();
  for (const auto& layout : row_layouts({9, 7})) {
    const auto a = sparse_of(global, layout);
    CHECK(same_matrix(sp::submatrix(a, ht::slice(2, 8)), global.slice(0, 2, 8)));
    CHECK(same_matrix(sp::submatrix(a, ht::slice(1, 9, 3), ht::slice(1, 6, 2)),
                      global.slice(0, 1, 9, 3).slice(1, 1, 6, 2)));
    CHECK(same_matrix(sp::submatrix(a, {}, ht::slice(-3, std::nullopt)), global.slice(1, 4)));
    CHECK(same_matrix(sp::submatrix(a, ht::slice(5, 5)), global.slice(0, 5, 5)));
    CHECK_THROWS_AS(sp::submatrix(a, ht::slice(std::nullopt, std::nullopt, -1)), ht::ValueError);
    CHECK(same_matrix(a(ht::slice(2, 8), ht::slice(1, 3)), global.slice(0, 2, 8).slice(1, 1, 3)));
    const auto positions = at::tensor({8, 0, 0, 3, 5, -1}, at::kLong), across = at::tensor({6, 0, -7, 3, 3}, at::kLong);
    for (const auto& cut : every_layout({6})) {
      CHECK(same_matrix(sp::take_rows(a, distribute(positions, cut)), global.index({positions})));
      CHECK_THROWS_AS(sp::take_rows(a, distribute(positions + 1, cut)), ht::IndexError);
      CHECK_THROWS_AS(sp::take_rows(a, distribute(positions - 9, cut)), ht::IndexError);
    }
    for (const auto& cut : every_layout({5})) {
      CHECK(same_matrix(sp::take_columns(a, distribute(across, cut)), global.index({at::indexing::Slice(), across})));
      CHECK_THROWS_AS(sp::take_columns(a, distribute(across + 1, cut)), ht::IndexError);
    }
    const auto mask = at::arange(9).remainder(4).eq(1);
    for (const auto& cut : every_layout({9})) {
      CHECK(same_matrix(sp::take_rows(a, distribute(mask, cut)), global.index({mask})));
      CHECK_THROWS_AS(sp::take_columns(a, distribute(mask, cut)), ht::IndexError);
    }
    for (const auto& other : row_layouts({4, 7})) {
      const auto b = sparse_of(mostly_zeros(4, 7, at::kFloat, 9), other);
      const auto expected = at::cat({global, mostly_zeros(4, 7, at::kDouble, 9)});
      CHECK(same_matrix(sp::vstack({a, b}), expected));
      CHECK(same_matrix(sp::block_diag({a, b}), at::block_diag({global, mostly_zeros(4, 7, at::kDouble, 9)})));
    }
    for (const auto& other : row_layouts({9, 2})) {
      const auto b = sparse_of(mostly_zeros(9, 2, at::kDouble, 9), other);
      CHECK(same_matrix(sp::hstack({a, b, a}), at::cat({global, mostly_zeros(9, 2, at::kDouble, 9), global}, 1)));
    }
    CHECK_THROWS_AS(sp::vstack({a, sp::identity(3)}), ht::ValueError);
    CHECK_THROWS_AS(sp::hstack(std::vector<sp::DCSRMatrix>()), ht::ValueError);
  }
  CHECK(world.size() > 0);
}
