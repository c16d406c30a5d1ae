#include <heatpp/ml/datasets/matrixgallery.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/linalg/decompositions/qr.hpp>
#include <heatpp/linalg/products/product.hpp>
#include <heatpp/ops/creation/diagonal.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/shape/reshape.hpp>
#include <heatpp/ops/sorting/sort.hpp>
#include <heatpp/random/random.hpp>

namespace heatpp::datasets {
namespace {

void check_extents(const char* op, std::int64_t m, std::int64_t n) {
  if (m < 1 || n < 1) heatpp::detail::raise<ValueError>(op, "got {} x {} elements; expected at least 1 x 1", m, n);
}

/// Returns normal numbers; for complex dtypes both parts are normal.
DNDarray normal_matrix(const Shape& shape, ArrayOptions options) {
  const auto dtype = options.dtype.value_or(get_default_dtype());
  if (!is_complex(dtype)) return random::standard_normal(shape, options);
  options.dtype = dtype == complex64 ? float32 : float64;
  const auto real = random::standard_normal(shape, options), imaginary = random::standard_normal(shape, options);
  return (real + std::complex<double>(0, 1) * imaginary).astype(dtype);
}

/// Returns a matrix, cut as the options say, with the numbers 0 .. n-1 along one axis.
DNDarray counted(std::int64_t n, int axis, ArrayOptions options) {
  options.split = options.split == axis ? std::optional(0) : std::nullopt;
  options.dtype = float64;
  return expand_dims(arange(n, options), 1 - axis);
}

std::optional<int> sanitized(std::optional<int> split) {
  return split ? std::optional(sanitize_axis(*split, 2, "split")) : std::nullopt;
}

ArrayOptions replicated(ArrayOptions options) {
  options.split = std::nullopt;
  return options;
}

}  // namespace

DNDarray parter(std::int64_t n, const ArrayOptions& options) {
  check_extents("parter", n, n);
  auto cut = options;
  cut.split = sanitized(options.split);
  const auto rows = counted(n, 0, cut), columns = counted(n, 1, cut);
  return (1 / (columns - rows + 0.5)).astype(options.dtype.value_or(get_default_dtype()));
}

DNDarray hermitian(std::int64_t n, const HermitianOptions& options) {
  check_extents("hermitian", n, n);
  auto array = options.array;
  array.dtype = array.dtype.value_or(complex64);
  array.split = sanitized(array.split);
  const auto r = normal_matrix({n, n}, array);
  const auto adjoint = conj(transpose(r));
  const auto result = options.positive_definite ? matmul(r, adjoint) / n : r + resplit(adjoint, r.split());
  return resplit(result, array.split).astype(*array.dtype);
}

DNDarray random_orthogonal(std::int64_t m, std::int64_t n, const ArrayOptions& options) {
  check_extents("random_orthogonal", m, n);
  if (n > m)
    heatpp::detail::raise<ValueError>("random_orthogonal", "got {} x {} elements; expected no more columns than rows",
                                      m, n);
  const auto [q, r] = linalg::qr(normal_matrix({m, n}, options));
  const auto line = resplit(diagonal(r), std::nullopt);
  return resplit(q * (line / abs(line)), sanitized(options.split)).astype(options.dtype.value_or(get_default_dtype()));
}

KnownSvd random_known_singularvalues(std::int64_t m, std::int64_t n, const DNDarray& s, const ArrayOptions& options) {
  constexpr auto op = "random_known_singularvalues";
  check_extents(op, m, n);
  if (s.ndim() != 1 || s.size() < 1 || s.size() > std::min(m, n) || any(s < 0).item<bool>())
    heatpp::detail::raise<ValueError>(
        op, "got singular values of shape {} for {} x {} elements; expected a vector of 1 to {}, none below 0",
        to_string(s.shape()), m, n, std::min(m, n));
  const auto split = sanitized(options.split);
  auto rows = options;
  rows.split = split == 0 ? split : std::nullopt;
  const auto values = resplit(s, std::nullopt).astype(options.dtype.value_or(get_default_dtype()));
  const auto u = random_orthogonal(m, s.size(), rows), v = random_orthogonal(n, s.size(), replicated(options));
  const auto a = matmul(u * values, conj(transpose(v)));
  return {resplit(a, split), u, values, v};
}

KnownSvd random_known_rank(std::int64_t m, std::int64_t n, std::int64_t r, const KnownRankOptions& options) {
  check_extents("random_known_rank", m, n);
  if (r < 1 || r > std::min(m, n))
    heatpp::detail::raise<ValueError>("random_known_rank", "got rank {} for {} x {} elements; expected 1 to {}", r, m,
                                      n, std::min(m, n));
  auto real = replicated(options.array);
  real.dtype = float64;
  const auto drawn = 1 - random::random({r}, real);  // in (0, 1]
  const auto values = options.quantile_function ? options.quantile_function(drawn) : -log(drawn);
  return random_known_singularvalues(m, n, sort(values, {.descending = true}), options.array);
}

}  // namespace heatpp::datasets
