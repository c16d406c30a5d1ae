#include "matrices.hpp"

#include <heatpp/core/factories.hpp>
#include <heatpp/linalg/decompositions/detail/jacobi.hpp>
#include <heatpp/linalg/decompositions/detail/triangles.hpp>
#include <heatpp/linalg/decompositions/eig.hpp>
#include <heatpp/linalg/decompositions/qr.hpp>
#include <heatpp/linalg/decompositions/svd.hpp>
#include <heatpp/ops/calculus/detail/triangle_by_pairs.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>

namespace la = ht::linalg;

namespace {

Agreement orthonormal(const at::Tensor& q, double tolerance) {
  const auto products = at::matmul(q.mH(), q);
  return near_to(products, at::eye(q.size(-1), q.options()).expand_as(products), 0, tolerance);
}

void check_qr(const at::Tensor& a, double tolerance) {
  const auto [expected_q, expected_r] = at::linalg_qr(a);
  for_each_layout(a, [&, q = expected_q, r = expected_r](const auto& x) {
    const auto result = la::qr(x);
    CHECK(close(result.q, q, tolerance));
    CHECK(close(result.r, r, tolerance));
    CHECK(result.q.split() == x.split());
  });
}

void check_svd(const at::Tensor& a, double tolerance) {
  for_each_layout(a, [&](const auto& x) {
    const auto [u, s, vh] = la::svd(x);
    CHECK(close(s, at::linalg_svdvals(a), tolerance));
    CHECK(close(la::svdvals(x), at::linalg_svdvals(a), tolerance));
    const auto left = gathered(u), right = gathered(vh);
    CHECK(orthonormal(left, tolerance));
    CHECK(orthonormal(right.mH(), tolerance));
    CHECK(near_to(at::matmul(left * gathered(s).to(left.scalar_type()), right), a, 0, 10 * tolerance));
  });
}

}  // namespace

TEST_CASE("qr of tall, square and wide matrices equals LAPACK's", "[linalg][qr]") {
  for (const auto type : {at::kDouble, at::kComplexDouble}) {
    check_qr(scattered({17, 3}, type), 1e-10);
    check_qr(scattered({5, 5}, type), 1e-10);
    check_qr(scattered({3, 8}, type), 1e-10);
    check_qr(scattered({7, 1}, type), 1e-10);
    check_qr(at::eye(8, at::kDouble).slice(1, 0, 2).to(type).contiguous(), 1e-10);
  }
  check_qr(scattered({40, 4}, at::kFloat), 2e-5);
}

TEST_CASE("triangles of ranks are joined all at once, and by pairs", "[linalg][qr]") {
  for (const auto type : {at::kDouble, at::kComplexDouble})
    for (const auto& shape : {ht::Shape{17, 3}, {4, 4}, {9, 1}}) {
      const auto a = scattered(shape, type);
      for (const auto& layout : every_layout(shape)) {
        if (layout.split() != 0) continue;
        const auto x = distribute(a, layout);
        const auto& comm = x.comm();
        for (const auto& [rows, triangle] :
             {ht::detail::by_triangles(x.larray(), layout, comm), ht::detail::by_pairs(x.larray(), layout, comm)}) {
          const auto q = rows.cpu(), r = triangle.cpu();
          CHECK(near_to(r.triu(), r, 0, 0));
          CHECK(near_to(r.abs(), std::get<1>(at::linalg_qr(a)).abs(), 0, 1e-13));
          CHECK(near_to(at::matmul(q, r), x.larray().cpu(), 0, 1e-13));
          const auto products = at::matmul(q.mH(), q).contiguous();
          comm.allreduce(ht::detail::buffer_of(products));
          CHECK(near_to(products, at::eye(shape[1], type), 0, 1e-13));
        }
        const auto own = std::get<1>(at::linalg_qr(x.larray().cpu(), "r"));
        const auto r = ht::detail::triangle_by_pairs(own, comm);
        CHECK(near_to(at::matmul(r.mH(), r), at::matmul(a.mH(), a), 0, 1e-12));
      }
    }
}

TEST_CASE("qr of nearly dependent columns keeps them orthonormal", "[linalg][qr]") {
  auto a = scattered({40, 4});
  a.select(1, 3).copy_(a.select(1, 0) + 1e-10 * a.select(1, 1));
  for_each_layout(a, [&](const auto& x) {
    const auto [q, r] = la::qr(x);
    CHECK(orthonormal(gathered(q), 1e-13));
    CHECK(near_to(at::matmul(gathered(q), gathered(r)), a, 0, 1e-13));
  });
  const auto zero = at::zeros({12, 2}, at::kDouble);
  for_each_layout(zero, [&](const auto& x) {
    const auto [q, r] = la::qr(x);
    CHECK(orthonormal(gathered(q), 1e-13));
    CHECK(close(r, at::zeros({2, 2}, at::kDouble)));
  });
}

TEST_CASE("qr of columns that begin with 0 has LAPACK's signs", "[linalg][qr]") {
  for (const auto& a : {at::tensor({0., 1., 1., 1., 2., 0.}).reshape({3, 2}),
                        at::tensor({0., 1., 2., 1., 0., 1.}).unsqueeze(1) * at::ones({2}),
                        at::tensor({0., 1., 1., 2., 0., 1., 2., 1.}).unsqueeze(1)}) {
    const auto x = a.to(at::kDouble);
    const auto r = std::get<1>(at::linalg_qr(x, "complete"));
    for_each_layout(x, [&](const auto& y) {
      CHECK(near_to(gathered(la::qr(y).r)[0], r[0], 0, 1e-12));
      CHECK(near_to(gathered(la::qr(y, la::QrMode::complete).r)[0], r[0], 0, 1e-12));
    });
  }
}

TEST_CASE("qr in several panels for each rank", "[linalg][qr]") {
  const auto a = scattered({330, 290});
  for (const int split : {0, 1}) {
    const auto [q, r] = la::qr(ht::resplit(ht::from_tensor(a), split));
    CHECK(orthonormal(gathered(q), 1e-12));
    CHECK(near_to(at::matmul(gathered(q), gathered(r)), a, 0, 1e-11));
    CHECK(same(r, gathered(r).triu()));
  }
}

TEST_CASE("svd of tall, square and wide matrices", "[linalg][svd]") {
  for (const auto type : {at::kDouble, at::kComplexDouble}) {
    check_svd(scattered({17, 3}, type), 1e-12);
    check_svd(scattered({6, 5}, type), 1e-12);
    check_svd(scattered({3, 16}, type), 1e-12);
    check_svd(scattered({4, 6}, type), 1e-12);
  }
  check_svd(scattered({9, 9}, at::kFloat), 5e-5);
}

TEST_CASE("svd of matrices without full rank", "[linalg][svd]") {
  check_svd(at::matmul(scattered({8, 2}), scattered({2, 7})), 1e-12);
  check_svd(at::zeros({5, 4}, at::kDouble), 1e-12);
  check_svd(at::eye(6, at::kDouble), 1e-12);
}

TEST_CASE("eigh finds values of both signs and repeated ones", "[linalg][eigh]") {
  for (const auto type : {at::kDouble, at::kComplexDouble}) {
    const auto root = scattered({7, 7}, type), a = root + root.mH();
    const auto twice = at::matmul(at::matmul(root, at::diag(at::arange(7) % 3 - 1).to(type)), root.mH());
    for (const auto& matrix : {a, twice, at::eye(5, at::kDouble).to(type), -a})
      for_each_layout(matrix, [&](const auto& x) {
        const auto [values, vectors] = la::eigh(x);
        CHECK(close(values, at::linalg_eigvalsh(matrix), 1e-12));
        CHECK(close(la::eigvalsh(x), at::linalg_eigvalsh(matrix), 1e-12));
        const auto v = gathered(vectors);
        CHECK(orthonormal(v, 1e-12));
        CHECK(near_to(at::matmul(matrix, v), v * gathered(values), 0, 1e-11));
      });
  }
}

TEST_CASE("columns are made orthogonal on any number of ranks", "[linalg][svd]") {
  const auto a = scattered({30, 23});
  for_each_layout(a, [&](const auto& x) {
    if (!x.split()) return;
    const auto [columns, v, scale] = ht::detail::orthogonalise_columns("test", x, ht::detail::Lengths::falling);
    const auto w = columns * scale;
    CHECK(orthonormal(gathered(v), 1e-12));
    CHECK(near_to(at::matmul(a, gathered(v)), gathered(w), 0, 1e-12));
    CHECK(near_to(at::linalg_vector_norm(gathered(w), 2, {0}), at::linalg_svdvals(a), 1e-12, 1e-12));
  });
}

TEST_CASE("decompositions of large and of small elements", "[linalg][svd]") {
  const std::pair<at::ScalarType, std::vector<double>> cases[] = {
      {at::kDouble, {1e-170, 1e-100, 1e160, 1e307}},
      {at::kComplexDouble, {1e-170, 1e160}},
      {at::kFloat, {1e-30, 1e-22, 1e19, 1e37}},
  };
  for (const auto& [type, sizes] : cases)
    for (const auto size : sizes)
      for (const auto& shape : {ht::Shape{4, 4}, {12, 2}}) {
        const auto a = scattered(shape, type), values = at::linalg_svdvals(a);
        const auto tolerance = type == at::kFloat ? 1e-5 : 1e-13;
        for_each_layout(a * size, [&](const auto& x) {
          CHECK(close(la::svdvals(x) / size, values, tolerance));
          const auto [u, s, vh] = la::svd(x);
          CHECK(close(s / size, values, tolerance));
          CHECK(orthonormal(gathered(u), tolerance));
          CHECK(orthonormal(gathered(vh).mH(), tolerance));
          if (shape[0] == 4) CHECK(close(la::eigvalsh(x) / size, at::linalg_eigvalsh(a), tolerance));
        });
      }
}

TEST_CASE("decompositions refuse what is not finite, wherever it is", "[linalg][svd]") {
  for (const auto bad : {NAN, INFINITY})
    for (const auto& shape : {ht::Shape{3, 3}, {12, 2}, {2, 3, 3}}) {
      auto a = scattered(shape);
      a.select(-2, 0).select(-1, 1).fill_(bad);  // in the upper triangle
      for_each_layout(a, [&](const auto& x) {
        CHECK_THROWS_WITH(la::svd(x), Catch::Contains("[svd] got elements that are not finite"));
        CHECK_THROWS_AS(la::svdvals(x), ht::ValueError);
        if (shape.end()[-1] != shape.end()[-2]) return;
        CHECK(close(la::eigvalsh(x), at::linalg_eigvalsh(a.tril()), 1e-12));
        CHECK_THROWS_AS(la::eigh(x, la::Triangle::upper), ht::ValueError);
      });
    }
}

TEST_CASE("complete bases", "[linalg][qr]") {
  for (const auto type : {at::kDouble, at::kComplexDouble})
    for (const ht::Shape& shape : {ht::Shape{12, 2}, {5, 4}, {3, 7}, {2, 5, 3}}) {
      const auto a = scattered(shape, type);
      const auto [q, r] = at::linalg_qr(a, "complete");
      for_each_layout(a, [&, &q = q, &r = r](const auto& x) {
        const auto ours = la::qr(x, la::QrMode::complete);
        CHECK(close(ours.q, q, 1e-10));
        CHECK(close(ours.r, r, 1e-10));
        const auto alone = la::qr(x, la::QrMode::r);
        CHECK(close(alone.r, std::get<1>(at::linalg_qr(a)), 1e-10));
        CHECK(alone.q.shape().back() == 0);
        const auto [u, s, vh] = la::svd(x, {.full_matrices = true});
        const auto left = gathered(u), right = gathered(vh);
        CHECK(near_to(at::matmul(left.mH(), left), at::eye(left.size(-1), type).expand_as(left)));
        CHECK(near_to(at::matmul(right, right.mH()), at::eye(right.size(-1), type).expand_as(right)));
        const auto k = s.shape().back();
        CHECK(near_to(at::matmul(left.slice(-1, 0, k) * gathered(s).unsqueeze(-2), right.slice(-2, 0, k)), a));
      });
    }
}

TEST_CASE("eigenvalues of any matrices", "[linalg][eigh]") {
  for (const auto& a : {scattered({5, 5}), scattered({3, 3}, at::kComplexDouble), scattered({4, 3, 3})}) {
    const auto [values, vectors] = at::linalg_eig(a);
    for_each_layout(a, [&, &values = values, &vectors = vectors](const auto& x) {
      const auto ours = la::eig(x);
      CHECK(close(ours.values, values, 1e-10));
      CHECK(close(ours.vectors, vectors, 1e-10));
      CHECK(close(la::eigvals(x), at::linalg_eigvals(a), 1e-10));
    });
  }
  for (const auto& layout : every_layout({2, 2})) {
    const auto x = distribute(at::tensor({1., NAN, 1., 2.}, at::kDouble).reshape({2, 2}), layout);
    CHECK_THROWS_AS(la::eig(x), ht::Error);
    CHECK_THROWS_AS(la::eigvals(x), ht::Error);
  }
  CHECK_THROWS_AS(la::eigvals(ht::ones({2, 3})), ht::ValueError);
}

TEST_CASE("eigh reads one triangle", "[linalg][eigh]") {
  const auto a = scattered({5, 5}, at::kComplexDouble);
  for_each_layout(a, [&](const auto& x) {
    CHECK(close(la::eigvalsh(x), at::linalg_eigvalsh(a, "L"), 1e-10));
    CHECK(close(la::eigh(x, la::Triangle::upper).values, at::linalg_eigvalsh(a, "U"), 1e-10));
  });
}

TEST_CASE("polar decomposition", "[linalg][svd]") {
  for (const auto& a : {scattered({17, 3}), scattered({6, 5}), scattered({2, 4, 3})})
    for_each_layout(a, [&](const auto& x) {
      const auto [u, p] = la::polar(x);
      const auto left = gathered(u), right = gathered(p);
      CHECK(near_to(at::matmul(left, right), a, 0, 1e-12));
      CHECK(near_to(at::matmul(left.mH(), left), at::eye(a.size(-1), at::kDouble), 0, 1e-12));
      CHECK(near_to(right, right.mH(), 0, 1e-12));
      CHECK(at::linalg_eigvalsh(right).min().template item<double>() > 0);
    });
  CHECK_THROWS_AS(la::polar(ht::ones({2, 3})), ht::ValueError);
}

TEST_CASE("decompositions of stacks", "[linalg][qr]") {
  const auto a = scattered({3, 5, 4}), symmetric = at::matmul(a.mT(), a);
  for_each_layout(a, [&](const auto& x) {
    CHECK(close(la::qr(x).r, std::get<1>(at::linalg_qr(a)), 1e-11));
    CHECK(close(la::svd(x).s, at::linalg_svdvals(a), 1e-11));
  });
  for_each_layout(symmetric,
                  [&](const auto& x) { CHECK(close(la::eigh(x).values, at::linalg_eigvalsh(symmetric), 1e-11)); });
}

TEST_CASE("eigenvalues of many columns converge in single precision", "[linalg][eigh]") {
  const auto half = scattered({400, 400}), global = half + half.t();
  const auto x = distribute(global.to(at::kFloat), ht::Layout({400, 400}, 0, ht::world().size()));
  const auto values = at::linalg_eigvalsh(global);
  const auto error = (gathered(la::eigvalsh(x)) - values).abs().max() / values.abs().max();
  CHECK(error.item<double>() < 1e-3);
}

TEST_CASE("qr of many columns has LAPACK's signs", "[linalg][qr]") {
  for (const auto type : {at::kDouble, at::kComplexDouble}) {
    auto a = scattered({340, 80}, type);
    a.select(1, 40).zero_()[40] = 1;  // this column has no reflection
    a.slice(1, 0, 40)[40].zero_();
    const auto r = std::get<1>(at::linalg_qr(a));
    for (const int split : {0, 1}) CHECK(close(la::qr(ht::resplit(ht::from_tensor(a), split)).r, r, 1e-11));
  }
}
