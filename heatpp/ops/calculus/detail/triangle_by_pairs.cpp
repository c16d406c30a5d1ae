#include <heatpp/ops/calculus/detail/triangle_by_pairs.hpp>

#include <heatpp/core/detail/peers/transfer.hpp>

namespace heatpp::detail {

at::Tensor triangle_by_pairs(const at::Tensor& mine, const Communicator& comm) {
  const auto n = mine.size(1);
  const int rank = comm.rank();
  auto triangle = at::constant_pad_nd(mine, {0, 0, 0, n - mine.size(0)}, 0).contiguous();
  for (int step = 1; step < comm.size(); step *= 2) {
    if (rank % (2 * step) == step) {
      carry_out({.to = rank - step, .matrix = triangle}, comm);
    } else if (rank % (2 * step) == 0 && rank + step < comm.size()) {
      const auto below = at::empty_like(triangle);
      carry_out({.from = rank + step, .matrix = below}, comm);
      triangle = std::get<1>(at::linalg_qr(at::cat({triangle, below}), "r")).contiguous();
    } else {
      carry_out({}, comm);
    }
  }
  comm.broadcast(buffer_of(triangle), 0);
  return triangle;
}

}  // namespace heatpp::detail
