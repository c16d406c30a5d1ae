#include <heatpp/ml/datasets/matrixgallery.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/cuts/layout_of.hpp>
#include <heatpp/core/detail/cuts/stretched.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/detail/with_dtype.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/linalg/decompositions/qr.hpp>
#include <heatpp/linalg/products/product.hpp>
#include <heatpp/ops/creation/creation.hpp>
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

/// Returns the layout of an m x n matrix with these options.
Layout layout_for(const char* op, std::int64_t m, std::int64_t n, const ArrayOptions& options) {
  return heatpp::detail::layout_of(op, {m, n}, options, comm_of(options.comm));
}

ArrayOptions with_split(ArrayOptions options, std::optional<int> split) {
  options.split = split;
  options.grid = {};
  return options;
}

}  // namespace

DNDarray parter(std::int64_t n, const ArrayOptions& options) {
  check_extents("parter", n, n);
  const auto value = [](const std::vector<DNDarray>& positions) { return 1 / (positions[1] - positions[0] + 0.5); };
  return fromfunction(value, {n, n}, heatpp::detail::with_dtype(options, float64))
      .astype(options.dtype.value_or(get_default_dtype()));
}

DNDarray hermitian(std::int64_t n, const HermitianOptions& options) {
  check_extents("hermitian", n, n);
  const auto dtype = options.array.dtype.value_or(complex64);
  const auto r = normal_matrix({n, n}, heatpp::detail::with_dtype(options.array, dtype));
  const auto adjoint = conj(transpose(r));
  const auto result =
      options.positive_definite ? matmul(r, adjoint) / n : r + heatpp::detail::brought_to(adjoint, r.layout());
  return heatpp::detail::brought_to(result, r.layout()).astype(dtype);
}

DNDarray random_orthogonal(std::int64_t m, std::int64_t n, const ArrayOptions& options) {
  check_extents("random_orthogonal", m, n);
  if (n > m)
    heatpp::detail::raise<ValueError>("random_orthogonal", "got {} x {} elements; expected no more columns than rows",
                                      m, n);
  const auto [q, r] = linalg::qr(normal_matrix({m, n}, options));
  const auto line = resplit(diagonal(r), std::nullopt);
  return heatpp::detail::brought_to(q * (line / abs(line)), layout_for("random_orthogonal", m, n, options))
      .astype(options.dtype.value_or(get_default_dtype()));
}

KnownSvd random_known_singularvalues(std::int64_t m, std::int64_t n, const DNDarray& s, const ArrayOptions& options) {
  constexpr auto op = "random_known_singularvalues";
  check_extents(op, m, n);
  if (s.ndim() != 1 || s.size() < 1 || s.size() > std::min(m, n) || any(s < 0).item<bool>())
    heatpp::detail::raise<ValueError>(
        op, "got singular values of shape {} for {} x {} elements; expected a vector of 1 to {}, none below 0",
        to_string(s.shape()), m, n, std::min(m, n));
  const auto layout = layout_for(op, m, n, options);
  const auto rows = heatpp::detail::cuts_along(layout, 0) ? std::optional(0) : std::nullopt;
  const auto values = resplit(s, std::nullopt).astype(options.dtype.value_or(get_default_dtype()));
  const auto u = random_orthogonal(m, s.size(), with_split(options, rows)),
             v = random_orthogonal(n, s.size(), with_split(options, std::nullopt));
  const auto a = matmul(u * values, conj(transpose(v)));
  return {heatpp::detail::brought_to(a, layout), u, values, v};
}

KnownSvd random_known_rank(std::int64_t m, std::int64_t n, std::int64_t r, const KnownRankOptions& options) {
  check_extents("random_known_rank", m, n);
  if (r < 1 || r > std::min(m, n))
    heatpp::detail::raise<ValueError>("random_known_rank", "got rank {} for {} x {} elements; expected 1 to {}", r, m,
                                      n, std::min(m, n));
  const auto real = heatpp::detail::with_dtype(with_split(options.array, std::nullopt), float64);
  const auto drawn = 1 - random::random({r}, real);  // in (0, 1]
  const auto values = options.quantile_function ? options.quantile_function(drawn) : -log(drawn);
  return random_known_singularvalues(m, n, sort(values, {.descending = true}), options.array);
}

}  // namespace heatpp::datasets
