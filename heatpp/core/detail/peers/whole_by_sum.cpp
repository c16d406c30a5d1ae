#include <heatpp/core/detail/peers/whole_by_sum.hpp>

#include <heatpp/core/detail/peers/few_ranks.hpp>

namespace heatpp::detail {

bool is_less_than_lists(std::int64_t bytes, int ranks) {
  constexpr std::int64_t bytes_of_a_rank = 100;  // that an exchange among all ranks holds
  return ranks > few_ranks && bytes <= ranks * bytes_of_a_rank;
}

at::Tensor whole_by_sum(const at::Tensor& block, const Layout& layout, const Communicator& comm) {
  const auto whole = at::zeros(layout.shape(), block.options().device(at::kCPU));
  whole.narrow(*layout.split(), layout.offset(comm.rank()), layout.count(comm.rank())).copy_(block);
  // The sum of the bits of one rank and zeros is exact.
  comm.allreduce({whole.data_ptr(), static_cast<std::int64_t>(whole.nbytes()), uint8});
  return whole.to(block.device());
}

}  // namespace heatpp::detail
