#include <heatpp/comm/device/nccl/detail/group_impl.hpp>

namespace heatpp::nccl {
namespace {

struct Left {
  int device;
  ncclComm_t comm;
};
std::mutex mutex;
std::vector<Left>& those_left() {
  static auto& all = *new std::vector<Left>;  // some may remain at the end of the program
  return all;
}

/// Whether it has ended, or never can.
bool has_ended(const Left& left) {
  const cuda::OnDevice guard(left.device);
  const auto state = state_of(left.comm);
  if (state == ncclInProgress) return false;
  if (state == ncclSuccess) NCCL(ncclCommDestroy)(left.comm);
  else NCCL(ncclCommAbort)(left.comm);
  return true;
}

}  // namespace

void leave(int device, ncclComm_t comm) {
  {
    const std::lock_guard lock(mutex);
    const cuda::OnDevice guard(device);
    if (is_fine(NCCL(ncclCommFinalize)(comm))) those_left().push_back({device, comm});
    else NCCL(ncclCommAbort)(comm);
  }
  look_after_those_left();
}

void look_after_those_left() {
  const std::lock_guard lock(mutex);
  std::erase_if(those_left(), &has_ended);
}

}  // namespace heatpp::nccl
