#include <heatpp/comm/device/collectives.hpp>

#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/progress/collective.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/device/backend.hpp>
#include <heatpp/comm/device/in_stream.hpp>
#include <heatpp/comm/device/staging.hpp>

#include <numeric>

namespace heatpp::device {
namespace {

using detail::Operation;

/// Returns what MPI gets: the address alone, after its contents are ready.
Buffer address_of(const Buffer& data) {
  settle(data.memory);
  return {data.data, data.count, data.dtype};
}

/// Lets the MPI library work on addresses of devices.
void run_native(const Communicator& comm, const Buffer& data, std::unique_ptr<Operation> operation) {
  comm.impl().count(data.bytes());
  detail::run(std::move(operation));
}

using Put = std::function<void(nccl::Group& group, const cuda::Stream& stream)>;

std::unique_ptr<Operation> start_nccl(const Communicator& comm, std::span<const Memory> after, Put put) {
  auto& group = Resources::of(comm, after.front()).nccl(comm);
  return in_stream(after, {{&group, [&group, put = std::move(put)](const auto& stream) { put(group, stream); }}});
}

void run_nccl(const Communicator& comm, const Buffer& data, Put put, std::optional<Memory> also_after = {}) {
  comm.impl().count(data.bytes());
  const std::array after{data.memory, also_after.value_or(data.memory)};
  detail::run(start_nccl(comm, std::span(after).first(also_after ? 2 : 1), std::move(put)));
}

}  // namespace

std::unique_ptr<Operation> start_flat_allreduce(const Communicator& comm, const Buffer& data, ReduceOp op) {
  switch (able(backend_of("allreduce", comm, data.memory), data.dtype, op)) {
    case Backend::nccl:
      return start_nccl(comm, std::span(&data.memory, 1),
                        [data, op](auto& group, const auto& stream) { group.allreduce(data, op, stream); });
    case Backend::mpi:
      detail::run(detail::native_allreduce(comm, address_of(data), op));
      return std::make_unique<detail::Done>();
    case Backend::staged: break;
  }
  return through_host(data, [=, memory = detail::memory_of(comm)](Buffer host) {
    return detail::start_allreduce(comm, host, op, "allreduce", memory);
  });
}

void broadcast(const Topology& topology, const Buffer& data, int root) {
  const auto& comm = topology.comm();
  switch (backend_of("broadcast", comm, data.memory)) {
    case Backend::nccl:
      return run_nccl(comm, data, [&](auto& group, const auto& stream) { group.broadcast(data, root, stream); });
    case Backend::mpi:
      return run_native(comm, data, detail::native_broadcast(comm, address_of(data), root, "broadcast"));
    case Backend::staged: return on_host(data, [&](Buffer host) { topology.broadcast(host, root); });
  }
}

void reduce_scatter(const Topology& topology, const Buffer& data, Counts counts, ReduceOp op) {
  const auto& comm = topology.comm();
  if (able(backend_of("reduce_scatter", comm, data.memory), data.dtype, op) == Backend::nccl)
    return run_nccl(comm, data,
                    [&](auto& group, const auto& stream) { group.reduce_scatter(data, counts, op, stream); });
  on_host(data, [&](Buffer host) { topology.reduce_scatter(host, counts, op); });
}

void allgather(const Topology& topology, const ConstBuffer& mine, const Buffer& all, Counts counts) {
  if (mine.memory.device != all.memory.device)
    detail::raise<ValueError>("allgather", "got parts on device {} for a whole on device {}; expected the same",
                              mine.memory.device, all.memory.device);
  const auto& comm = topology.comm();
  const auto first = std::reduce(counts.begin(), counts.begin() + comm.rank());
  const auto item = static_cast<std::int64_t>(itemsize(all.dtype));
  const auto place = [&](const Buffer& whole) { return static_cast<std::byte*>(whole.data) + first * item; };
  const auto backend = backend_of("allgather", comm, all.memory);
  const bool in_place = mine.data == place(all);
  if (backend == Backend::nccl) {
    const auto put = [&](auto& group, const auto& stream) {
      if (!in_place) stream.copy(place(all), mine.data, mine.bytes());
      group.allgather(all, counts, stream);
    };
    return run_nccl(comm, all, put, mine.memory);
  }
  if (!in_place) copy(mine, place(all), all.memory);
  if (backend == Backend::mpi && all.count < detail::max_count)
    return run_native(comm, all, detail::native_allgather(comm, address_of(all), counts, "allgather"));
  on_host(all, [&](Buffer host) { topology.allgather({place(host), mine.count, mine.dtype}, host, counts); });
}

void reduce(const Topology& topology, const Buffer& data, int root, ReduceOp op) {
  const auto& comm = topology.comm();
  if (able(backend_of("reduce", comm, data.memory), data.dtype, op) == Backend::nccl)
    return run_nccl(comm, data, [&](auto& group, const auto& stream) { group.reduce(data, root, op, stream); });
  on_host(data, [&](Buffer host) { topology.reduce(host, root, op); });
}

void expect_host(const char* op, const Memory& memory) {
  if (memory.on_device()) detail::raise<ValueError>(op, "got memory of device {}; expected the host's", memory.device);
}

}  // namespace heatpp::device
