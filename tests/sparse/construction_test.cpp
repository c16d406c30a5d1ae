#include "sparse_data.hpp"

#include <numeric>
#include <sstream>

TEST_CASE("a dense matrix becomes sparse and dense again, for any layout", "[sparse][construction]") {
  for (const auto type : {at::kDouble, at::kFloat, at::kInt, at::kBool, at::kComplexDouble, at::kHalf})
    for (const auto& shape : {ht::Shape{7, 5}, ht::Shape{2, 9}, ht::Shape{1, 1}, ht::Shape{0, 4}, ht::Shape{5, 0}})
      for (const auto& layout : every_layout(shape)) {
        const auto global = mostly_zeros(shape[0], shape[1], type);
        const auto x = distribute(global, layout);
        const auto a = sp::from_dense(x);

        CHECK(same_matrix(a, global));
        CHECK(a.nnz() == global.ne(0).sum().item<std::int64_t>());
        CHECK(x.layout() == layout);
        CHECK(same(a.row_counts(), global.ne(0).sum(1)));
        if (layout.split() != 1) CHECK(a.layout() == layout);
      }
}

TEST_CASE("triples become a matrix, wherever they lie, and those of one place are added", "[sparse][construction]") {
  const auto rows = at::tensor({3, 0, 3, 6, 0, 3, 2, 6}, at::kLong);
  const auto columns = at::tensor({1, 4, 1, 0, 2, 3, 2, 0}, at::kLong);
  const auto values = at::tensor({1., 2., 3., 4., 5., 6., 7., -4.});
  auto expected = at::zeros({7, 5}, values.options());
  expected.index_put_({rows, columns}, values, true);
  for (const auto& layout : every_layout({8}))
    for (const auto split : {std::optional<int>(0), std::optional<int>()}) {
      const auto r = distribute(rows, layout), c = distribute(columns.to(at::kInt), layout);
      const auto a = sp::from_coo(r, c, distribute(values, layout), {7, 5}, {.split = split});

      CHECK(same_matrix(a, expected));
      CHECK(a.nnz() == 6);  // 4 - 4 stays an entry
      CHECK(a.split() == split);
      CHECK_THROWS_AS(sp::from_coo(r, c, r, {7, 5}, {.split = split, .sum_duplicates = false}), ht::ValueError);
      CHECK_THROWS_AS(sp::from_coo(r, c, r, {6, 5}, {.split = split}), ht::ValueError);
      CHECK_THROWS_AS(sp::from_coo(r - 1, c, r, {7, 5}, {.split = split}), ht::ValueError);
      CHECK_THROWS_AS(sp::from_coo(r.astype(ht::float64), c, r, {7, 5}), ht::TypeError);
      CHECK_THROWS_AS(sp::from_coo(r, c, ht::ones({9}), {7, 5}), ht::ValueError);
    }
  for (const auto& layout : every_layout({1, 2})) {  // one element, two apart
    const auto pair = distribute(at::tensor({6, 4}, at::kLong).view({1, 2}), layout);
    const auto a = sp::from_coo(pair(ht::ellipsis, 0), pair(ht::ellipsis, 1), pair(ht::ellipsis, 1), {7, 5});
    const auto one = at::zeros({7, 5}, at::kLong);
    one[6][4] = 4;
    CHECK(same_matrix(a, one));
  }
  const auto coo = sp::to_coo(sparse_of(expected, ht::Layout({7, 5}, 0, ht::world().size())));
  CHECK(same_matrix(sp::from_coo(coo.rows, coo.columns, coo.values, coo.shape), expected));
}

TEST_CASE("a host's arrays are adopted in place", "[sparse][construction]") {
  const auto& world = ht::world();
  const auto mine = static_cast<std::int64_t>(world.rank() == 1 ? 0 : 2);  // rank 1 has no rows
  std::vector<std::int64_t> ptr{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  for (std::int64_t row = 0; row < mine; ++row) {
    columns.insert(columns.end(), {world.rank(), 8});
    values.insert(values.end(), {1.0 + world.rank(), 2.0});
    ptr.push_back(std::ssize(columns));
  }
  const sp::CsrArrays arrays{std::span<const std::int64_t>(ptr), std::span<const std::int32_t>(columns), values.data(),
                             ht::float64};

  const auto a = sp::from_local(arrays, 9, {.split = 0});

  const auto rows = 2 * (world.size() - (world.size() > 1));
  CHECK(a.shape() == ht::Shape{rows, 9});
  CHECK(a.values().larray().const_data_ptr() == (values.empty() ? nullptr : values.data()));
  if (mine > 0) CHECK(a.column_indices().larray().const_data_ptr() == columns.data());
  if (mine > 0) values[0] = 100;
  CHECK(ht::max(a.values()).item<double>() == 100);
  const std::vector<std::int32_t> short_ptr(ptr.begin(), ptr.end());
  const std::vector<std::int64_t> long_columns(columns.begin(), columns.end());
  const auto b = sp::from_local({std::span<const std::int32_t>(short_ptr), std::span<const std::int64_t>(long_columns),
                                 values.data(), ht::float64},
                                9, {.split = 0});
  CHECK(sp::array_equal(a, b));
}

TEST_CASE("more entries than float32 counts", "[sparse][construction]") {
  const auto ranks = ht::world().size();
  const std::int64_t all = (std::int64_t{1} << 24) + ranks, mine = all / ranks + (ht::world().rank() < all % ranks);
  const std::array<std::int64_t, 3> ptr{0, mine, mine};  // and a row without
  auto columns = at::arange(mine, at::kInt), values = at::ones({mine}, at::kByte);
  const std::span<const std::int32_t> places(columns.const_data_ptr<std::int32_t>(), static_cast<std::size_t>(mine));
  const auto a =
      sp::from_local({std::span<const std::int64_t>(ptr), places, values.data_ptr(), ht::uint8}, all, {.split = 0});
  CHECK(a.nnz() == all);
  CHECK(a.lnnz() == mine);
  const auto counts = gathered(a.row_counts());
  CHECK(counts.scalar_type() == at::kLong);
  CHECK(counts.sum().item<std::int64_t>() == all);
  CHECK(counts[2 * ht::world().rank()].item<std::int64_t>() == mine);
  CHECK(sp::sum(a).item<std::int64_t>() == all);
}

TEST_CASE("rows that are no CSR are errors on all ranks", "[sparse][construction]") {
  const bool odd = ht::world().rank() == ht::world().size() - 1;
  const auto make = [&](std::vector<std::int64_t> ptr, std::vector<std::int32_t> columns, std::int64_t of = 5) {
    std::vector<double> values(columns.size());
    const std::vector<std::int64_t> right_ptr{0, 2};
    const std::vector<std::int32_t> right_columns{0, 1};
    std::vector<double> right_values(2);
    return message_of<ht::ValueError>([&] {
      (void)sp::from_local(
          odd ? sp::CsrArrays{std::span<const std::int64_t>(ptr), std::span<const std::int32_t>(columns), values.data(),
                              ht::float64}
              : sp::CsrArrays{std::span<const std::int64_t>(right_ptr), std::span<const std::int32_t>(right_columns),
                              right_values.data(), ht::float64},
          odd ? of : 5, {.split = 0});
    });
  };
  CHECK(make({0, 2}, {3, 4}).empty());
  CHECK_THAT(make({0, 2}, {4, 3}), Catch::Contains("[from_local] got column 3 after 4"));
  CHECK_THAT(make({0, 2}, {3, 3}), Catch::Contains("got column 3 after 3"));
  CHECK_THAT(make({0, 2}, {3, 5}), Catch::Contains("got column 5"));
  CHECK_THAT(make({0, 2}, {-1, 5}), Catch::Contains("got column -1"));
  CHECK_THAT(make({0, 3}, {0, 1}), Catch::Contains("of 2 entries"));
  CHECK_THAT(make({0, 2, 1}, {0, 1}), Catch::Contains("got the pointers 2 and 1"));
  CHECK_THAT(make({1, 2}, {0, 1}), Catch::Contains("got row pointers from 1"));
  CHECK_THAT(make({0, 1}, {0, 1}), Catch::Contains("got pointers up to 1 for 2"));
  CHECK_THAT(make({}, {}), Catch::Contains("0 row pointers"));
  if (ht::world().size() > 1) CHECK_THAT(make({0, 2}, {3, 4}, 6), Catch::Contains("got 5 to 6 as the columns"));
}

TEST_CASE("arguments that differ by rank are errors on all of them", "[sparse][construction]") {
  const auto size = ht::world().size();
  const bool odd = ht::world().rank() == size - 1;
  const auto i = ht::arange(6, {.dtype = ht::int64, .split = 0});
  const auto ones = ht::ones({6}, {.dtype = ht::float64, .split = 0});
  const auto coo = [&](const ht::Shape& shape, const sp::CooOptions& options = {}) {
    return message_of<ht::ValueError>([&] { (void)sp::from_coo(i, i, ones, shape, options); });
  };
  CHECK_THAT(coo({6, odd ? 3 : 6}), Catch::Contains("[from_coo] got"));
  CHECK_THAT(coo({6, 6}, {.split = odd ? 1 : 0}), Catch::Contains("with split 1"));
  CHECK_THAT(coo({odd ? -6 : 6, 6}), Catch::Contains("got (-6, 6)"));
  std::vector<std::int64_t> ptr{0, 1};
  std::vector<std::int32_t> columns{0};
  double value = 1;
  const sp::CsrArrays arrays{std::span<const std::int64_t>(ptr), std::span<const std::int32_t>(columns), &value,
                             ht::float64};
  CHECK_THAT(message_of<ht::ValueError>([&] { (void)sp::from_local(arrays, 3, {.split = odd ? 1 : 0}); }),
             Catch::Contains("[from_local] got split 1"));
  if (size == 1) return;
  CHECK_THAT(coo({odd ? 8 : 6, 6}), Catch::Contains("[from_coo] got 6 to 8 as the rows on the ranks"));
  CHECK_THAT(coo({6, odd ? 8 : 6}), Catch::Contains("got 6 to 8 as the columns"));
  CHECK_THAT(coo({6, 6}, {.split = odd ? std::nullopt : std::optional(0)}), Catch::Contains("axes that are cut"));
  CHECK_THAT(coo({6, 6}, {.sum_duplicates = odd}), Catch::Contains("sum_duplicates"));
  CHECK_THAT(message_of<ht::ValueError>(
                 [&] { (void)sp::from_local(arrays, 3, {.split = odd ? std::nullopt : std::optional(0)}); }),
             Catch::Contains("axes that are cut"));
  const auto one = ht::ones({1});
  for (const auto& make : std::vector<std::function<void()>>{[&] { (void)sp::identity(odd ? 5 : 4); },
                                                             [&] {
                                                               (void)sp::diags({one}, {0}, {odd ? 5 : 4, 4});
                                                             },
                                                             [&] {
                                                               (void)sp::random({odd ? 5 : 4, 4});
                                                             }})
    CHECK_THAT(message_of<ht::ValueError>(make), Catch::Contains("got 4 to 5 as the rows on the ranks"));
}

TEST_CASE("identity, diagonals and random matrices", "[sparse][construction]") {
  const auto f64 = at::TensorOptions(at::kDouble);
  CHECK(same_matrix(sp::identity(5, {.dtype = ht::float64, .split = 0}), at::eye(5, f64)));
  CHECK(same_matrix(sp::identity(5, {.dtype = ht::int32}), at::eye(5, at::kInt)));
  const auto below = ht::array({1.0, 2.0, 3.0}, {.dtype = ht::float64, .split = 0}),
             all = ht::array({-4.0}, {.dtype = ht::float64});
  auto expected = at::diag(at::tensor({1., 2., 3.}, f64), -1) + at::diag(at::full({4}, -4., f64)) +
                  at::diag(at::full({2}, -4., f64), 2);
  CHECK(same_matrix(sp::diags({all, below, all}, {0, -1, 2}, {4, 4}), expected));
  CHECK(same_matrix(sp::diags({all, below}, {0, -1}, {4, 3}), at::cat({expected.tril().narrow(1, 0, 3)}, 1)));
  CHECK_THROWS_AS(sp::diags({below}, {0}, {4, 4}), ht::ValueError);
  CHECK_THROWS_AS(sp::diags({all, all}, {1, 1}, {4, 4}), ht::ValueError);
  CHECK_THROWS_AS(sp::diags({all}, {4}, {4, 4}), ht::ValueError);

  const auto random = sp::random({300, 200}, {.density = 0.05, .seed = 7});
  const auto whole = sp::random({300, 200}, {.density = 0.05, .seed = 7, .array = {}});
  CHECK(sp::array_equal(random, whole));
  CHECK(std::abs(static_cast<double>(random.nnz()) - 3000) < 5 * std::sqrt(3000.0));
  CHECK(sp::random({9, 9}, {.density = 0}).nnz() == 0);
  CHECK(sp::random({9, 9}, {.density = 1}).nnz() == 81);
  CHECK_THROWS_AS(sp::random({9, 9}, {.density = 1.5}), ht::ValueError);
}

TEST_CASE("matrices are recut, and printing does not depend on the cut", "[sparse][conversion]") {
  const auto global = mostly_zeros(9, 6);
  const auto text = sp::to_string(sparse_of(global, ht::Layout({9, 6}, std::nullopt, ht::world().size())));
  CHECK_THAT(text, Catch::StartsWith("DCSRMatrix of shape (9, 6) with ") &&
                       Catch::Contains("entries of float64, split none\n  ("));
  for (const auto& layout : row_layouts({9, 6})) {
    const auto a = sparse_of(global, layout);
    CHECK(same_matrix(sp::resplit(a, std::nullopt), global));
    CHECK(same_matrix(sp::resplit(a, 0), global));
    CHECK(same_matrix(sp::balance(a), global));
    const auto balanced = sp::balance(a, sp::Balance::entries);
    CHECK(same_matrix(balanced, global));
    if (a.split()) CHECK(balanced.lnnz() <= a.nnz() / ht::world().size() + 6);
    std::ostringstream out;
    out << sp::resplit(a, std::nullopt);
    CHECK(out.str() == text);
  }
  const auto half = ht::world().split(ht::world().rank() % 2);  // on another communicator than the default one
  const auto n = 3 + ht::world().rank() % 2;
  CHECK_THAT(sp::to_string(sp::identity(n, {.split = 0, .comm = half})),
             Catch::EndsWith("(2, 2)\t1") || Catch::EndsWith("(3, 3)\t1"));
  CHECK_THROWS_AS(sp::resplit(sp::identity(3), 1), ht::ValueError);
  CHECK_THROWS_AS(sp::redistribute(sp::identity(3), {3, 1}), ht::ValueError);
  if (ht::world().size() > 1) {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(ht::world().size()));
    counts[static_cast<std::size_t>(ht::world().rank())] = 8;
    CHECK_THROWS_WITH(sp::redistribute(sp::identity(8), counts), Catch::Contains("differ by rank"));
  }
  CHECK_THROWS_AS(sp::DCSRMatrix().nnz(), ht::ValueError);
}
