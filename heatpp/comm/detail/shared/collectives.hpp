#pragma once

#include <heatpp/comm/detail/progress/operation.hpp>
#include <span>

/// Collectives of ranks that share memory (Communicator::Impl::segment).
namespace heatpp::detail {

/// Gives a new communicator its segment, if its ranks are on one node. Collective.
void share_memory(const Communicator& comm);
[[nodiscard]] bool shares_memory(const Communicator& comm);

[[nodiscard]] std::unique_ptr<Operation> shared_barrier(const Communicator& comm);
/// Every rank reduces a slice from the memory of all, in the order of the ranks; in allreduce/shared.cpp.
[[nodiscard]] std::unique_ptr<Operation> shared_allreduce(const Communicator& comm, Buffer data, ReduceOp op);
[[nodiscard]] std::unique_ptr<Operation> shared_broadcast(const Communicator& comm, Buffer data, int root);
/// Of the ranks before this one, and this one too where `inclusive`; a mean is summed only.
[[nodiscard]] std::unique_ptr<Operation> shared_scan(const Communicator& comm, Buffer data, ReduceOp op,
                                                     bool inclusive);
/// Every rank's part of `all` lies in its place. Throws what `wrong` says, on all ranks, where it says something on
/// any.
[[nodiscard]] std::unique_ptr<Operation> shared_allgather(const Communicator& comm, Buffer all,
                                                          std::span<const std::int64_t> counts, const char* op,
                                                          std::string wrong);
/// One value of each rank.
[[nodiscard]] std::unique_ptr<Operation> shared_allgather(const Communicator& comm, std::int64_t value,
                                                          std::span<std::int64_t> all);
/// values[r] goes to rank r, whose `received` has a value of each rank. Nothing where the ranks do not share memory, or
/// are too many for a slot.
[[nodiscard]] std::unique_ptr<Operation> shared_alltoall(const Communicator& comm, std::span<const std::int64_t> values,
                                                         std::span<std::int64_t> received);
/// As Communicator::allreduce_records. Nothing where the ranks do not share memory, or a record does not fit a slot.
[[nodiscard]] std::unique_ptr<Operation> shared_records(const Communicator& comm, void* records, std::int64_t count,
                                                        std::int64_t bytes, Communicator::Merge merge);

}  // namespace heatpp::detail
