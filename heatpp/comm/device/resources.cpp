#include <heatpp/comm/device/resources.hpp>

#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/progress/patience.hpp>
#include <heatpp/comm/detail/raise.hpp>

namespace heatpp::device {

Resources& Resources::of(const Communicator& comm, const Memory& memory) {
  auto& own = comm.impl().device;
  if (!own) {
    const auto call =
        detail::latest_call();  // if ranks are late, this names the call that needs them, not what they need
    own = std::make_shared<Resources>(comm, memory.device);
    if (call) detail::note(*call);
  }
  if (own->device_ != memory.device)
    detail::raise<ValueError>("device", "got memory of device {}; expected that of device {}, as before on these ranks",
                              memory.device, own->device_);
  return *own;
}

Resources::Resources(const Communicator& comm, int device) : device_(device), operations_(comm, 12) {
  std::int64_t id = -1;
  all_or_none(comm, [&] {
    if (!cuda::available())
      detail::raise<CommError>("device", "got memory of device {}; expected CUDA's runtime and a device", device);
    if (nccl::available()) id = device_id(device);
  });
  devices_ = comm.allgather(id);
}

nccl::Group& Resources::nccl(const Communicator& comm) {
  if (nccl_) return *nccl_;
  nccl_ = std::make_unique<nccl::Group>(comm, device_);
  return *nccl_;
}

const Communicator& Resources::messages(const Communicator& comm) {
  if (messages_) return *messages_;
  messages_ = comm.split(0, comm.rank());
  messages_->impl().traffic = comm.impl().traffic;
  return *messages_;
}

detail::CallQueue& call_queue() {
  static detail::CallQueue instance;
  return instance;
}

}  // namespace heatpp::device
