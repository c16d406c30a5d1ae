#pragma once

#include <heatpp/comm/detail/progress/operation.hpp>
#include <span>

/// Collectives of ranks that share memory (Communicator::Impl::segment).
namespace heatpp::detail {

/// Gives a new communicator its segment if its ranks are on one node, and else its topology. Collective.
void share_memory(const Communicator& comm);
[[nodiscard]] bool shares_memory(const Communicator& comm);

[[nodiscard]] std::unique_ptr<Operation> shared_barrier(const Communicator& comm);
/// Every rank reduces a slice from the memory of all ranks, in rank order; in allreduce/shared.cpp.
[[nodiscard]] std::unique_ptr<Operation> shared_allreduce(const Communicator& comm, Buffer data, ReduceOp op);
[[nodiscard]] std::unique_ptr<Operation> shared_broadcast(const Communicator& comm, Buffer data, int root);
/// Reduces over the ranks before this one, and this one if `inclusive`. A mean is left as a sum.
[[nodiscard]] std::unique_ptr<Operation> shared_scan(const Communicator& comm, Buffer data, ReduceOp op,
                                                     bool inclusive);
/// Places every rank's part in `all`. Throws what `wrong` says on all ranks if it says something on
/// any.
[[nodiscard]] std::unique_ptr<Operation> shared_allgather(const Communicator& comm, Buffer all,
                                                          std::span<const std::int64_t> counts, const char* op,
                                                          std::string wrong);
/// Gathers one value of each rank.
[[nodiscard]] std::unique_ptr<Operation> shared_allgather(const Communicator& comm, std::int64_t value,
                                                          std::span<std::int64_t> all);
/// Replaces 0 and a count by the sums of the counts over the ranks before this one, and over all.
[[nodiscard]] std::unique_ptr<Operation> shared_place(const Communicator& comm, std::span<std::int64_t, 2> numbers);
/// Sends values[r] to rank r, whose `received` gets a value of each rank. Returns nothing if the ranks share no memory,
/// or if they are too many for a slot.
[[nodiscard]] std::unique_ptr<Operation> shared_alltoall(const Communicator& comm, std::span<const std::int64_t> values,
                                                         std::span<std::int64_t> received);
/// Does Communicator::allreduce_records. Returns nothing if ranks share no memory or a record exceeds a slot.
[[nodiscard]] std::unique_ptr<Operation> shared_records(const Communicator& comm, void* records, std::int64_t count,
                                                        std::int64_t bytes, Communicator::Merge merge);

}  // namespace heatpp::detail
