#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/progress/fingerprint.hpp>
#include <heatpp/comm/detail/progress/patience.hpp>

namespace heatpp {
namespace {

// MPI hands a reduction no context: the merge under way on this thread is kept here.
thread_local Communicator::Merge current_merge = nullptr;

void call_merge(void* in, void* inout, int* count, MPI_Datatype*) { current_merge(in, inout, *count); }

struct RecordType {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  explicit RecordType(std::int64_t bytes) {
    detail::check_mpi(MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type), "allreduce_records");
    detail::check_mpi(MPI_Type_commit(&type), "allreduce_records");
    // Declared non-commutative: MPI then merges in rank order and every rank gets the same bits.
    detail::check_mpi(MPI_Op_create(&call_merge, 0, &op), "allreduce_records");
  }
  ~RecordType() {
    MPI_Op_free(&op);
    MPI_Type_free(&type);
  }
};

}  // namespace

void Communicator::allreduce_records(void* records, std::int64_t count, std::int64_t bytes, Merge merge,
                                     Site site) const {
  detail::check_collective(*this, {"allreduce_records", count * bytes}, site);
  impl_->count(count * bytes);
  if (size() == 1) return;
  detail::await_all(*this);
  const RecordType record(bytes);
  current_merge = merge;
  detail::for_each_piece(count, detail::max_count, [&](std::int64_t first, int n) {
    detail::check_mpi(MPI_Allreduce(MPI_IN_PLACE, static_cast<std::byte*>(records) + first * bytes, n, record.type,
                                    record.op, impl_->mpi),
                      "allreduce_records");
  });
}

}  // namespace heatpp
