#include <heatpp/linalg/decompositions/detail/columns.hpp>
#include <heatpp/linalg/decompositions/detail/tall.hpp>

#include <algorithm>
#include <cmath>

namespace heatpp::detail {
namespace {

/// Rows of a block that stay in a core's cache while they are multiplied.
constexpr std::int64_t rows_at_once = 2048;

/// Replaces the rows of q by their products with a small matrix.
void multiply_in_place(const at::Tensor& q, const at::Tensor& matrix) {
  for (std::int64_t row = 0; row < q.size(0); row += rows_at_once) {
    auto rows = q.slice(0, row, row + rows_at_once);
    rows.copy_(at::mm(rows, matrix));
  }
}

at::Tensor gram(const at::Tensor& x, const Communicator& comm) {
  const auto product = at::mm(x.mH(), x).cpu();
  comm.allreduce(buffer_of(product));
  return product.to(x.device());
}

at::Tensor inverse_of_upper(const at::Tensor& r) {
  return at::linalg_solve_triangular(r, at::eye(r.size(0), r.options()), /*upper=*/true);
}

/// Whether x, of which all ranks have the same bits, is that near the identity. A difference and a comparison have the
/// same answer on every kind of processor, which a factor or a norm need not have.
bool is_near_identity(const at::Tensor& x, double distance) {
  const auto beside = x - at::eye(x.size(0), x.options());
  const auto parts = beside.is_complex() ? at::view_as_real(beside) : beside;
  return parts.numel() == 0 || parts.abs().max().item<double>() < distance;
}

/// nullopt, on all ranks, where Cholesky's factor of the Gram matrix of x is too inaccurate. A rank that has none makes
/// the next sum NaN, by which all learn of it.
std::optional<Tall> by_cholesky(const at::Tensor& x, const at::Tensor& product, const Communicator& comm) {
  const auto [first, info] = at::linalg_cholesky_ex(product, /*upper=*/true);
  auto q = info.item<int>() == 0 ? at::mm(x, inverse_of_upper(first)) : at::full_like(x, NAN);
  const auto almost = gram(q, comm);
  if (!is_near_identity(almost, 0.1 / static_cast<double>(almost.size(0)))) return std::nullopt;
  const auto second = at::linalg_cholesky(almost, /*upper=*/true);
  multiply_in_place(q, inverse_of_upper(second));
  return Tall{q, at::mm(second, first)};
}

Tall by_local_triangles(const at::Tensor& x, const Layout& layout, const Communicator& comm) {
  const auto n = x.size(1);
  const auto [q, r] = at::linalg_qr(x);
  std::vector<std::int64_t> counts;
  std::int64_t rows = 0, first = 0;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const auto height = std::min(layout.count(rank), n);
    counts.push_back(height * n);
    if (rank < comm.rank()) first += height;
    rows += height;
  }
  const auto mine = r.cpu().contiguous(), all = at::empty({rows, n}, mine.options());
  comm.allgather(buffer_of(mine), buffer_of(all), counts);
  const auto [top, triangle] = at::linalg_qr(all.to(x.device()));
  return {at::mm(q, top.narrow(0, first, r.size(0))), triangle};
}

/// The first n rows of q on every rank.
at::Tensor first_rows(const at::Tensor& q, const Layout& layout, const Communicator& comm) {
  const auto n = q.size(1);
  std::vector<std::int64_t> counts;
  const auto rows_of = [&](int rank) {
    return std::clamp<std::int64_t>(n - layout.offset(rank), 0, layout.count(rank));
  };
  for (int rank = 0; rank < comm.size(); ++rank) counts.push_back(rows_of(rank) * n);
  const auto mine = q.narrow(0, 0, rows_of(comm.rank())).cpu().contiguous(), all = at::empty({n, n}, mine.options());
  comm.allgather(buffer_of(mine), buffer_of(all), counts);
  return all;
}

/// The signs that Householder's reflections give the columns of Q: q - S = L U without pivoting, where each sign is
/// chosen against its pivot (Ballard et al., Reconstructing Householder vectors, 2014); one of 0 counts as
/// positive, whatever its sign. A column that already lies on the real axis is not reflected.
/// Of a panel of contiguous columns, the first on the diagonal: leaves L below the diagonal.
template <class T>
void reflect_signs(at::Tensor panel, at::Tensor signs, double tolerance) {
  const auto rows = panel.size(0), n = panel.size(1);
  auto* a = panel.data_ptr<T>();
  auto* sign = signs.data_ptr<T>();
  for (std::int64_t j = 0; j < n; ++j) {
    const auto pivot = static_cast<double>(std::real(a[j * n + j]));
    const bool on_axis = std::abs(std::abs(pivot) - 1) <= tolerance;
    sign[j] = (pivot < 0) != on_axis ? T(1) : T(-1);
    a[j * n + j] -= sign[j];
    for (std::int64_t i = j + 1; i < rows; ++i) {
      const auto factor = on_axis ? T(0) : a[i * n + j] / a[j * n + j];
      a[i * n + j] = factor;
      for (auto k = j + 1; k < n; ++k) a[i * n + k] -= factor * a[j * n + k];
    }
  }
}

/// Panel by panel, so that most of the work is a product of matrices.
at::Tensor signs_of(const at::Tensor& top) {
  constexpr std::int64_t width = 32;
  const auto n = top.size(0);
  const auto tolerance = 10 * static_cast<double>(n) * real_epsilon(from_torch(top.scalar_type()));
  const auto signs = at::empty({n}, top.options()), work = top.clone();
  for (std::int64_t first = 0; first < n; first += width) {
    const auto count = std::min(width, n - first);
    const auto panel = work.slice(0, first).slice(1, first, first + count).contiguous();
    AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(
        top.scalar_type(), "signs", [&] { reflect_signs<scalar_t>(panel, signs.narrow(0, first, count), tolerance); });
    const auto right = work.slice(0, first).slice(1, first + count), above = right.slice(0, 0, count);
    const auto solved = at::linalg_solve_triangular(panel.slice(0, 0, count), above, /*upper=*/false, /*left=*/true,
                                                    /*unitriangular=*/true);
    right.slice(0, count).addmm_(panel.slice(0, count), solved, 1, -1);
  }
  return signs;
}

/// Makes the diagonal of r real and positive.
void normalise(Tall& x) {
  const auto diagonal = x.r.diagonal();
  const auto phase = at::where(diagonal == 0, at::ones_like(diagonal), diagonal.sgn());
  x.q.mul_(phase);
  x.r.mul_(phase.conj().unsqueeze(1));
}

}  // namespace

bool is_tall(const DNDarray& x) { return x.shape()[0] >= x.shape()[1] * x.comm().size(); }

Tall tall_qr(const DNDarray& x) {
  const auto& block = x.larray();
  const auto product = gram(block, x.comm());
  // What is not finite is seen in the sum of squares, where large numbers overflow as well.
  if (!at::isfinite(product).all().item<bool>() && !all_finite(x))
    return {at::full_like(block, NAN), at::full_like(product, NAN).triu()};
  auto result = by_cholesky(block, product, x.comm());
  if (!result && x.comm().size() == 1) {
    const auto [q, r] = at::linalg_qr(block);
    return {q, r};
  }
  if (!result) result = by_local_triangles(block, x.layout(), x.comm());
  normalise(*result);
  if (x.shape()[1] == 0) return *result;
  const auto signs = signs_of(first_rows(result->q, x.layout(), x.comm())).to(block.device());
  result->q.mul_(signs);
  result->r.mul_(signs.unsqueeze(1));
  return *result;
}

}  // namespace heatpp::detail
