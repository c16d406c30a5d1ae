#include <heatpp/ml/detail/around.hpp>

namespace heatpp::ml::detail {

using heatpp::detail::buffer_of;

at::Tensor block_of(const Rows& rows, Dtype dtype) {
  return rows.read(0, rows.count()).to(at::kCPU, heatpp::detail::to_torch(dtype)).contiguous();
}

void around(const at::Tensor& mine, const Layout& layout, const Communicator& comm, const VisitRows& f) {
  const auto ranks = comm.size(), me = comm.rank();
  if (!layout.split() || ranks == 1) return f(mine, 0);
  const auto right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
  std::optional<Communicator::Failure> failure;
  auto current = mine;
  for (int step = 0; step < ranks; ++step) {
    const auto owner = (me + step) % ranks, following = (owner + 1) % ranks;
    at::Tensor next;
    Request sending, receiving;
    if (step + 1 < ranks) {
      auto shape = mine.sizes().vec();
      shape[0] = layout.count(following);
      next = at::empty(shape, mine.options());
      receiving = comm.ireceive(buffer_of(next), right);
      sending = comm.isend(buffer_of(current), left);
    }
    if (!failure && layout.count(owner) > 0)
      failure = heatpp::detail::failure_of([&] { f(current, layout.offset(owner)); });
    receiving.wait();
    sending.wait();
    current = std::move(next);
  }
  comm.agree(failure);
}

}  // namespace heatpp::ml::detail
