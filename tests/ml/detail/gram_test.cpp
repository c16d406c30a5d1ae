#include "../data.hpp"

#include <heatpp/ml/detail/gram.hpp>

namespace {

using namespace heatpp::ml::detail;
using Catch::Contains;

/// Returns this rank's rows of a tensor that every rank holds.
at::Tensor mine(const ht::Rows& rows, const at::Tensor& global) {
  return global.slice(0, rows.first(), rows.first() + rows.count()).contiguous();
}

at::Tensor scatter_of(const at::Tensor& x, const at::Tensor& w) {
  const auto centered = x - at::matmul(w, x) / w.sum();
  return at::matmul((centered * w.unsqueeze(1)).t(), centered);
}

}  // namespace

TEST_CASE("means and products of features and targets are those of the weighted columns", "[ml][gram]") {
  const auto offset = GENERATE(0.0, 1e4);
  const auto x = iris() + offset, weight = at::arange(150, at::kDouble).remainder(4);
  const auto y = at::stack({x.select(1, 0) * 3 - x.select(1, 2), at::arange(150, at::kDouble).cos()}, 1);
  const auto both = at::cat({x, y}, 1);
  for (const auto& layout : every_layout({150, 4})) {
    const ht::Rows rows(distribute(x, layout));
    const auto w = mine(rows, weight);

    const auto plain = gram("test", rows, {.targets = mine(rows, y)});
    const auto weighted = gram("test", rows, {.weights = w.const_data_ptr<double>(), .targets = mine(rows, y)});

    CHECK(plain.n == 150);
    CHECK(weighted.n == weight.sum().item<double>());
    CHECK(near_to(plain.mean, both.mean(0), 1e-13));
    CHECK(near_to(weighted.mean, at::matmul(weight, both) / weight.sum(), 1e-13));
    CHECK(near_to(plain.scatter, scatter_of(both, at::ones({150}, at::kDouble)), 1e-9, 1e-9));
    CHECK(near_to(weighted.scatter, scatter_of(both, weight), 1e-9, 1e-9));
  }
}

TEST_CASE("targets that are not finite are an error on all ranks that names the row", "[ml][gram]") {
  auto y = at::zeros({150, 1}, at::kDouble);
  y[77][0] = NAN;
  y[149][0] = INFINITY;
  for (const auto& layout : every_layout({150, 4})) {
    const ht::Rows rows(distribute(iris(), layout));
    CHECK_THROWS_WITH(gram("test", rows, {.targets = mine(rows, y)}), Contains("not finite in row 77"));
  }
}
