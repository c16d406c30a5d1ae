#include "poisson.hpp"

#include <heatpp/linalg/solvers/eigensolvers.hpp>

namespace la = ht::linalg;

namespace {

const auto f64 = at::TensorOptions(at::kDouble);
// Compares with the eigenvalues of LAPACK and scipy 1.17 for the Poisson problem of 30 x 30 points. Most of these
// values are double.
const auto least = at::tensor(
    {0.02052270643242, 0.05120147071122, 0.05120147071122, 0.08188023499002, 0.10198284041611, 0.10198284041611}, f64);
const auto greatest = at::tensor(
    {7.89801715958388, 7.89801715958389, 7.91811976500998, 7.94879852928878, 7.94879852928878, 7.97947729356758}, f64);

double worst(const la::Eigenpairs& found) { return ht::max(found.residuals).item<double>(); }

}  // namespace

TEST_CASE("the ends of the Poisson problem's spectrum, double values twice", "[sparse][eigsh]") {
  for (const auto& layout : row_layouts({900, 900})) {
    const auto a = cut_as(poisson(30, std::nullopt), layout);
    const auto large = la::eigsh(a, 6, {.which = la::Which::largest});
    CHECK(large.converged);
    CHECK(close(large.values, greatest, 1e-12));
    CHECK(worst(large) < 1e-11);
    CHECK(large.vectors.layout() == layout.with({900, 6}, layout.split()));
    const auto small = la::eigsh(a, 6, {.which = la::Which::smallest});
    CHECK(small.converged);
    CHECK(close(small.values, least, 1e-11));
    CHECK(worst(small) < 1e-11);
  }
}

TEST_CASE("values inside the spectrum by shifts, and by blocks with a preconditioner", "[sparse][eigsh]") {
  for (const auto split : {std::optional<int>(0), std::optional<int>()}) {
    const auto a = poisson(30, split);
    const auto inside = la::eigsh(a, 4, {.sigma = 3.9, .tol = 1e-9});
    CHECK(inside.converged);
    CHECK(close(inside.values, at::tensor({3.89283365012538, 3.89283365012539, 3.9107776090487, 3.9107776090487}, f64),
                1e-10));
    const auto below = la::eigsh(a, 6, {.sigma = 0.0, .solve = {.rtol = 1e-12, .preconditioner = sp::block_ilu(a)}});
    CHECK(close(below.values, least, 1e-11));
    CHECK(2 * below.iterations < la::eigsh(a, 6, {.which = la::Which::smallest}).iterations);

    const auto places = ht::reshape(ht::arange(5400, {.dtype = ht::float64, .split = split}), {900, 6});
    const auto start = ht::sin(places * places * 0.37);
    const auto found = la::lobpcg(a, start, {.preconditioner = sp::block_ilu(a), .largest = false, .tol = 1e-10});
    CHECK(found.converged);
    CHECK(close(found.values, least, 1e-10));
    const auto without = la::lobpcg(a, start, {.largest = false, .tol = 1e-10});
    CHECK(close(without.values, least, 1e-10));
    CHECK(found.iterations < without.iterations);
  }
}

TEST_CASE("singular values of sparse matrices are scipy's", "[sparse][svds]") {
  const auto global = mostly_zeros(12, 7);
  for (const auto& layout : row_layouts({12, 7})) {
    const auto a = sparse_of(global, layout);
    const auto found = la::svds(a, 3);
    CHECK(found.converged);
    CHECK(close(found.s, at::tensor({124.772981954854, 71.8502013540687, 46.3780527590893}, f64), 1e-12));
    CHECK(close(la::svds(sp::transpose(a), 3).s, gathered(found.s), 1e-12));
    const auto all = la::svds(a, 7);  // one of them 0
    CHECK(near_to(all.s, at::linalg_svdvals(global), 1e-12, 1e-12));
    CHECK(near_to(at::mm(gathered(all.u) * gathered(all.s), gathered(all.vh)), global, 0, 1e-11));
    CHECK(found.u.layout() == layout.with({12, 3}, layout.split()));
  }
}
