#include "poisson.hpp"
#include <heatpp/sparse/io/files.hpp>
#include <heatpp_io/heatpp_io.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace {

namespace fs = std::filesystem;

/// The results of scipy for the matrices in a folder, by name.
class Case {
 public:
  explicit Case(const fs::path& folder) : folder_(folder) {
    std::ifstream names(folder / "names");
    for (std::string name; std::getline(names, name);)
      expected_[name] = gathered(ht::io::load_npz((folder / "expected.npz").string(), name));
  }
  [[nodiscard]] sp::DCSRMatrix matrix(const char* name) const {
    return sp::load(folder_ / (std::string(name) + ".npz"), {.split = std::nullopt});
  }
  [[nodiscard]] at::Tensor given(const char* name) const {
    return gathered(ht::io::load_npz((folder_ / "given.npz").string(), name));
  }
  [[nodiscard]] bool has(const char* name) const { return expected_.contains(name); }
  [[nodiscard]] std::size_t count() const { return expected_.size(); }

  void check(const char* name, const ht::DNDarray& found) {
    INFO(folder_.filename().string() << ": " << name);
    REQUIRE(has(name));
    const auto& expected = expected_.at(name);
    const auto all = gathered(found).to(expected.scalar_type());
    CHECK(all.sizes() == expected.sizes());
    CHECK(near_to(all, expected, 1e-6, 1e-6, /*equal_nan=*/true));
    seen_.insert(name);
  }
  void check(const char* name, const sp::DCSRMatrix& found) { check(name, sp::to_dense(found)); }
  void check(const char* name, const sp::DCSCMatrix& found) { check(name, sp::to_dense(found)); }
  void check(const char* name, double found) { check(name, ht::from_tensor(at::scalar_tensor(found, at::kDouble))); }
  [[nodiscard]] bool all_seen() const { return seen_.size() == count(); }

 private:
  fs::path folder_;
  std::map<std::string, at::Tensor> expected_;
  std::set<std::string> seen_;
};

/// The operations that both formats have.
template <class Matrix>
void check_both(Case& of, const Matrix& a, const Matrix& b, const Matrix& c, const ht::Layout& vectors) {
  const auto ranks = ht::world().size();
  const auto cut = [&](const at::Tensor& x) {
    const ht::Shape shape(x.sizes().begin(), x.sizes().end());
    return distribute(x, ht::Layout(shape, vectors.split() ? std::optional(0) : std::nullopt, ranks));
  };
  const auto x = of.given("x"), down = of.given("down");
  of.check("matmul", sp::matmul(a, cut(x)));
  of.check("matvec", sp::matmul(a, cut(x.select(1, 0).contiguous())));
  of.check("rmatmul", sp::rmatmul(a, cut(down)));
  of.check("spgemm", sp::matmul(a, c));
  of.check("transpose", sp::transpose(a));
  of.check("add", a + b);
  of.check("subtract", a - b);
  of.check("multiply", a * b);
  of.check("twice", 2 * a);
  of.check("quarter", a / 4);
  of.check("negative", -a);
  of.check("abs", sp::abs(a));
  of.check("conj", sp::conj(a));
  of.check("square", sp::power(a, 2));
  of.check("scale_rows", sp::scale_rows(a, cut(down.select(1, 0).contiguous())));
  of.check("scale_columns", sp::scale_columns(a, cut(of.given("across"))));
  of.check("tril", sp::tril(a, 1));
  of.check("triu", sp::triu(a, -1));
  of.check("diagonal", sp::diagonal(a));
  of.check("part",
           sp::submatrix(a, ht::slice(1, std::nullopt, 2), ht::slice(0, std::max<std::int64_t>(a.columns() - 1, 0))));
  of.check("rows", sp::take_rows(a, cut(of.given("rows"))));
  of.check("columns", sp::take_columns(a, cut(of.given("columns"))));
  of.check("masked", sp::take_rows(a, cut(of.given("mask"))));
  of.check("vstack", sp::vstack(std::vector{a, b}));
  of.check("hstack", sp::hstack(std::vector{a, b}));
  of.check("block_diag", sp::block_diag(std::vector{a, c}));
  of.check("sum", sp::sum(a));
  of.check("norm", sp::norm(a));
  of.check("count_nonzero", static_cast<double>(sp::count_nonzero(a)));
  for (const auto& [axis, sum, mean, max, min] :
       {std::tuple(0, "sum0", "mean0", "max0", "min0"), {1, "sum1", "mean1", "max1", "min1"}}) {
    of.check(sum, sp::sum(a, axis));
    if (of.has(mean)) of.check(mean, sp::mean(a, axis));
    if (!of.has(max)) continue;
    of.check(max, sp::max(a, axis));
    of.check(min, sp::min(a, axis));
  }
  if (!of.has("max")) return;
  of.check("max", sp::max(a));
  of.check("min", sp::min(a));
}

void check_rows(Case& of, const sp::DCSRMatrix& a) {
  of.check("gram", sp::matmul(sp::conj(sp::transpose(a)), a));
  if (of.has("argmax")) {
    of.check("argmax", sp::argmax(a));
    of.check("argmin", sp::argmin(a));
    of.check("argmax0", sp::argmax(a, 0));
    of.check("argmin0", sp::argmin(a, 0));
    of.check("argmax1", sp::argmax(a, 1));
    of.check("argmin1", sp::argmin(a, -1));
  }
  if (!of.has("laplacian")) return;
  const auto weights = sp::abs(a + sp::transpose(a));
  of.check("laplacian", sp::laplacian(weights));
  if (of.has("normalized")) of.check("normalized", sp::laplacian(weights, {.normalized = true}));
  of.check("components", sp::connected_components(sp::eliminate_zeros(weights)).labels);
}

}  // namespace

/// Tests every operation on matrices of every layout; the second matrix has another layout than the first.
TEST_CASE("operations in scipy", "[.scipy]") {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(std::getenv("HEATPP_SPARSE_CASES"))) folders.push_back(entry.path());
  std::ranges::sort(folders);
  REQUIRE_FALSE(folders.empty());
  for (const auto& folder : folders) {
    Case of(folder);
    const auto a = of.matrix("a"), b = of.matrix("b"), c = of.matrix("c");
    auto others = row_layouts(b.shape());
    std::ranges::rotate(others, others.begin() + 1);
    std::size_t i = 0;
    for (const auto& layout : row_layouts(a.shape())) {
      const auto rows = cut_as(a, layout);
      check_both(of, rows, cut_as(b, others[i++]), sp::resplit(c, layout.split()), layout);
      check_rows(of, rows);
      const auto by_columns = [&](const sp::DCSRMatrix& x) { return sp::to_csc(sp::resplit(x, layout.split())); };
      check_both(of, by_columns(a), by_columns(b), by_columns(c), layout);
    }
    CHECK(of.all_seen());
  }
}
