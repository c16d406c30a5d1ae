#include <heatpp/linalg/decompositions/detail/tall.hpp>

#include <heatpp/core/detail/peers/few_ranks.hpp>
#include <heatpp/linalg/decompositions/detail/columns.hpp>
#include <heatpp/linalg/decompositions/detail/triangles.hpp>
#include <heatpp/linalg/products/detail/gemm.hpp>

#include <ATen/Parallel.h>
#include <algorithm>
#include <cmath>
#include <limits>

namespace heatpp::detail {
namespace {

/// Returns how many rows stay in the cores' caches while they are multiplied.
std::int64_t rows_at_once(const at::Tensor& x) {
  constexpr std::int64_t elements = 1 << 18;
  return std::max<std::int64_t>(1024, elements / std::max<std::int64_t>(1, x.size(1))) * at::get_num_threads();
}

/// Products of a block's rows with small matrices, and the small matrices that are sums over all ranks' rows.
class Rows {
 public:
  explicit Rows(const DNDarray& x)
      : comm_(x.comm()),
        panels_(x.dtype() == float32 && x.larray().is_cpu() &&
                prefers_panels(x.comm(), static_cast<double>(x.size()) * static_cast<double>(x.shape()[1]))) {}

  /// x^H x.
  [[nodiscard]] at::Tensor gram(const at::Tensor& x) const {
    const auto product = at::zeros({x.size(1), x.size(1)}, x.options());
    each_part(x, [&](const auto& part) { add_gram(product, part(x)); });
    return summed(product);
  }
  /// Returns x m. If `gram` is given, it gets the Gram matrix while the rows are in the cache.
  [[nodiscard]] at::Tensor times(const at::Tensor& x, const at::Tensor& m, at::Tensor* gram = nullptr) const {
    const auto out = at::empty_like(x, at::MemoryFormat::Contiguous);
    const auto product = at::zeros({x.size(1), x.size(1)}, x.options());
    each_part(x, [&](const auto& part) {
      multiply(part(out), part(x), m, false);
      if (gram) add_gram(product, part(out));
    });
    if (gram) *gram = summed(product);
    return out;
  }
  /// Replaces x by x m.
  void multiply_in_place(const at::Tensor& x, const at::Tensor& m) const {
    const auto products = at::empty({std::min(rows_at_once(x), x.size(0)), x.size(1)}, x.options());
    each_part(x, [&](const auto& part) {
      const auto rows = part(x), product = products.slice(0, 0, rows.size(0));
      multiply(product, rows, m, false);
      rows.copy_(product);
    });
  }

 private:
  template <class F>
  static void each_part(const at::Tensor& all, F f) {
    const auto step = rows_at_once(all);
    for (std::int64_t row = 0; row < all.size(0); row += step)
      f([row, step](const at::Tensor& x) { return x.slice(0, row, row + step); });
  }
  void multiply(const at::Tensor& c, const at::Tensor& a, const at::Tensor& b, bool accumulate) const {
    auto out = c;
    if (panels_ && fits_panels(c, a, b)) multiply_by_panels(c, a, b, accumulate);
    else if (accumulate) out.addmm_(a, b);
    else at::mm_out(out, a, b);
  }
  void add_gram(const at::Tensor& product, const at::Tensor& rows) const { multiply(product, rows.mH(), rows, true); }
  [[nodiscard]] at::Tensor summed(const at::Tensor& product) const {
    const auto sum = product.cpu();
    comm_.allreduce(buffer_of(sum));
    return sum.to(product.device());
  }

  const Communicator& comm_;
  bool panels_;
};

at::Tensor inverse_of_upper(const at::Tensor& r) {
  return at::linalg_solve_triangular(r, at::eye(r.size(0), r.options()), /*upper=*/true);
}

/// Whether x, which has the same bits on all ranks, is close to the identity. A difference and a comparison have the
/// same result on every processor; a factor or a norm need not.
bool is_near_identity(const at::Tensor& x, double distance) {
  const auto beside = x - at::eye(x.size(0), x.options());
  const auto parts = beside.is_complex() ? at::view_as_real(beside) : beside;
  return parts.numel() == 0 || parts.abs().max().item<double>() < distance;
}

/// Whether columns with these products, which have the same bits on all ranks, are so close to orthogonal that one
/// factor is as good as two: for unit columns, the squares of singular values are within 1/2 of 1, by the Frobenius
/// norm. The numbers are added one after another, so every processor gets the same sum. Products that are too large or
/// too small to be accurate do not count as close.
bool are_nearly_orthogonal(const at::Tensor& gram) {
  const auto n = gram.size(0);
  const auto wide = gram.to(at::kCPU, at::kComplexDouble).contiguous();
  const auto* products = wide.const_data_ptr<c10::complex<double>>();
  const bool single = at::toRealValueType(gram.scalar_type()) == at::kFloat;
  const auto least = single ? std::numeric_limits<float>::min() / std::numeric_limits<float>::epsilon()
                            : std::numeric_limits<double>::min() / std::numeric_limits<double>::epsilon();
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto length = products[i * n + i].real();
    if (!(length >= least && length < std::numeric_limits<double>::infinity())) return false;
    for (std::int64_t j = 0; j < n; ++j) {
      const auto& p = products[i * n + j];
      const auto square = p.real() * p.real() + p.imag() * p.imag();
      if (i != j) sum += square / (length * products[j * n + j].real());
    }
  }
  return sum < 0.25;
}

/// Returns the first n rows of q m on every rank.
at::Tensor first_rows(const at::Tensor& q, const at::Tensor& m, const Layout& layout, const Communicator& comm) {
  const auto n = q.size(1);
  const auto rows_of = [&](int rank) {
    return std::clamp<std::int64_t>(n - layout.offset(rank), 0, layout.count(rank));
  };
  if (comm.size() > few_ranks) {
    const auto all = at::zeros({n, n}, q.options().device(at::kCPU));
    if (const auto mine = rows_of(comm.rank()); mine > 0)
      all.narrow(0, layout.offset(comm.rank()), mine).copy_(at::mm(q.narrow(0, 0, mine), m));
    comm.allreduce({all.data_ptr(), static_cast<std::int64_t>(all.nbytes()), uint8});  // others have zeros
    return all;
  }
  std::vector<std::int64_t> counts;
  for (int rank = 0; rank < comm.size(); ++rank) counts.push_back(rows_of(rank) * n);
  const auto mine = at::mm(q.narrow(0, 0, rows_of(comm.rank())), m).cpu(), all = at::empty({n, n}, mine.options());
  comm.allgather(buffer_of(mine), buffer_of(all), counts);
  return all;
}

/// Computes the signs that Householder's reflections give the columns of Q: q - S = L U without pivoting, where each
/// sign is chosen against its pivot (Ballard et al., Reconstructing Householder vectors, 2014); a zero of either sign
/// counts as positive. A column on the real axis is not reflected. The panel has contiguous columns, the first on the
/// diagonal. L is left below the diagonal.
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

/// Works panel by panel, so that most of the work is a product of matrices.
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

/// Returns the signs of LAPACK's columns for those of q m, as n rows of one.
at::Tensor signs_beside(const at::Tensor& q, const at::Tensor& m, const DNDarray& x) {
  return signs_of(first_rows(q, m, x.layout(), x.comm())).to(q.device());
}

/// Returns nullopt, on all ranks, if Cholesky's factor of the Gram matrix of x is too inaccurate. A rank that has no
/// factor makes the next sum NaN, which tells all ranks. The signs are part of the last product, so they need no
/// separate pass.
std::optional<Tall> by_cholesky(const DNDarray& x, const Rows& rows, const at::Tensor& product) {
  const auto [first, info] = at::linalg_cholesky_ex(product, /*upper=*/true);
  const auto inverse = info.item<int>() == 0 ? inverse_of_upper(first) : at::full_like(first, NAN);
  if (are_nearly_orthogonal(product)) {
    const auto signs = signs_beside(x.larray(), inverse, x);
    return Tall{rows.times(x.larray(), inverse * signs), first * signs.unsqueeze(1)};
  }
  at::Tensor almost;
  const auto q = rows.times(x.larray(), inverse, &almost);
  if (!is_near_identity(almost, 0.1 / static_cast<double>(almost.size(0)))) return std::nullopt;
  const auto second = at::linalg_cholesky(almost, /*upper=*/true), closing = inverse_of_upper(second);
  const auto signs = signs_beside(q, closing, x);
  rows.multiply_in_place(q, closing * signs);
  return Tall{q, at::mm(second, first) * signs.unsqueeze(1)};
}

/// Decomposes the triangles of each rank's rows, with the signs of LAPACK's decomposition of the whole.
Tall by_householder(const DNDarray& x) {
  if (x.comm().size() == 1) {
    const auto [q, r] = at::linalg_qr(x.larray());
    return {q, r};
  }
  const auto decompose = x.comm().size() > few_ranks ? by_pairs : by_triangles;
  auto [q, r] = decompose(x.larray(), x.layout(), x.comm());
  const auto diagonal = r.diagonal();
  const auto phase = at::where(diagonal == 0, at::ones_like(diagonal), diagonal.sgn());
  const auto signs = phase * signs_beside(q, at::diag(phase), x);
  return {q.mul_(signs), r.mul_(signs.conj().unsqueeze(1))};
}

}  // namespace

bool is_tall(const DNDarray& x) { return x.shape()[0] >= x.shape()[1] * x.comm().size(); }

Tall tall_qr(const DNDarray& x) {
  const Rows rows(x);
  const auto product = rows.gram(x.larray());
  // The sum of squares shows elements that are not finite, but large numbers overflow it as well.
  if (!at::isfinite(product).all().item<bool>() && !all_finite(x))
    return {at::full_like(x.larray(), NAN), at::full_like(product, NAN).triu()};
  if (x.shape()[1] == 0) return {x.larray(), product};
  auto result = by_cholesky(x, rows, product);
  return result ? *std::move(result) : by_householder(x);
}

}  // namespace heatpp::detail
