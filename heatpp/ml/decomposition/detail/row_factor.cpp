#include <heatpp/ml/decomposition/detail/row_factor.hpp>

#include <heatpp/core/detail/peers/few_ranks.hpp>
#include <heatpp/ops/calculus/detail/triangle_by_pairs.hpp>

#include <algorithm>

namespace heatpp::ml::detail {
namespace {

/// Returns the factor of this rank's rows.
at::Tensor own_factor(const Rows& rows, const at::Tensor& center) {
  const auto f = rows.features(), height = std::max<std::int64_t>(4 * f, 1024);
  auto factor = at::empty({0, f}, at::kDouble);
  rows.pass([&](std::int64_t, const at::Tensor& block) {
    for (std::int64_t first = 0; first < block.size(0); first += height) {
      const auto part = block.slice(0, first, std::min(block.size(0), first + height)).to(at::kCPU, at::kDouble);
      factor = at::cat({factor, part - center});
      if (factor.size(0) >= 2 * f) factor = triangle_of(factor);
    }
  });
  return triangle_of(factor);
}

/// Returns the rows of all ranks; on more than 1024 ranks their triangle. If ranks pass failures, the one of the lowest
/// rank is thrown on all.
at::Tensor gathered(const Rows& rows, const at::Tensor& mine, const std::optional<Communicator::Failure>& failure) {
  const auto& comm = rows.comm();
  if (!rows.distributed()) {
    comm.agree(failure);
    return mine;
  }
  if (comm.size() > heatpp::detail::few_ranks) {
    comm.agree(failure);
    const auto triangle = heatpp::detail::triangle_by_pairs(triangle_of(mine), comm);
    return triangle.slice(0, 0, std::min(rows.size(), rows.features()));
  }
  auto counts = comm.allgather(failure ? -1 : mine.size(0));
  if (std::ranges::min(counts) < 0) comm.agree(failure);
  std::int64_t total = 0;
  for (auto& count : counts) {
    total += count;
    count *= rows.features();
  }
  const auto all = at::empty({total, rows.features()}, at::kDouble);
  comm.allgather(heatpp::detail::buffer_of(mine.contiguous()), heatpp::detail::buffer_of(all), counts);
  return all;
}

}  // namespace

at::Tensor triangle_of(const at::Tensor& rows) {
  return rows.size(0) > rows.size(1) ? std::get<1>(at::linalg_qr(rows, "r")) : rows;
}

at::Tensor row_factor(const Rows& rows, const at::Tensor& center, const Shorten& shorten) {
  at::Tensor mine;
  const auto failure = heatpp::detail::failure_of([&] {
    mine = own_factor(rows, center);
    if (shorten) mine = shorten(mine);
  });
  return triangle_of(gathered(rows, mine, failure));
}

RightVectors right_vectors(const at::Tensor& factor) {
  const auto [u, s, vh] = at::linalg_svd(factor, /*full_matrices=*/false);
  return {s, vh};
}

at::Tensor with_signs(const at::Tensor& rows) {
  const auto largest = rows.gather(1, rows.abs().argmax(1, /*keepdim=*/true));
  return at::where(largest < 0, -rows, rows);
}

}  // namespace heatpp::ml::detail
