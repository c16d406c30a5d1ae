#include <heatpp/ml/decomposition/detail/sketch.hpp>
#include <heatpp/ml/detail/sparse/row_block.hpp>
#include <heatpp/random/generator.hpp>

#include <algorithm>
#include <limits>

namespace heatpp::ml::detail {
namespace {

at::Tensor orthonormal(const at::Tensor& columns) { return std::get<0>(at::linalg_qr(columns)).contiguous(); }

/// Returns (x - center)' (x - center) w for all rows x.
at::Tensor products(const Rows& rows, const at::Tensor& center, const at::Tensor& w) {
  const auto f = w.size(0), width = w.size(1);
  Totals totals(static_cast<std::size_t>(f * width));
  const auto failure = heatpp::detail::failure_of([&] {
    const auto add = [&](const RowBlock& block, int thread) {
      const auto x = block.about(center);
      x.add_adjoint(x.times(w), at::from_blob(totals.of(thread).data(), {f, width}, at::kDouble));
    };
    for_row_blocks(rows, add, center.any().item<bool>() ? SparseRows::dense : SparseRows::stored);
  });
  auto sums = totals.over_ranks(rows, failure);
  return at::from_blob(sums.data(), {f, width}, at::kDouble).clone();
}

}  // namespace

RightVectors sketched(const Rows& rows, const at::Tensor& center, const SketchOptions& options) {
  const auto f = rows.features(), width = std::min(f, options.count + options.oversamples);
  random::Generator generator(options.seed);
  auto w = orthonormal(generator.standard_normal({f, width}, {.dtype = float64, .comm = rows.comm()}).larray());
  for (int i = 0; i < options.power_iterations; ++i) w = orthonormal(products(rows, center, w));
  const auto product = products(rows, center, w);
  // The shift makes the projected products definite; it is subtracted from the values at the end.
  const auto size = at::linalg_vector_norm(product).item<double>();
  const auto shift = std::max(size * std::numeric_limits<double>::epsilon(), std::numeric_limits<double>::min());
  const auto shifted = product + shift * w, projected = at::mm(w.t(), shifted);
  const auto [values, vectors] = at::linalg_eigh((projected + projected.t()) / 2);
  const auto root = at::mm(shifted, vectors / values.clamp_min(shift / 2).sqrt());
  const auto [u, s, vh] = at::linalg_svd(root, /*full_matrices=*/false);
  return {(s.square() - shift).clamp_min(0).sqrt().slice(0, 0, options.count), u.t().slice(0, 0, options.count)};
}

}  // namespace heatpp::ml::detail
