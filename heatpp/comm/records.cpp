#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/progress/collective.hpp>
#include <heatpp/comm/detail/shared/collectives.hpp>

namespace heatpp {
namespace {

using detail::check_mpi;

// MPI gives a reduction no context except the type of its elements, so the merge is attached to the type.
int merge_of_type() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    check_mpi(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &made, nullptr),
              "allreduce_records");
    return made;
  }();
  return key;
}

void call_merge(void* in, void* inout, int* count, MPI_Datatype* type) {
  Communicator::Merge* merge = nullptr;
  int found = 0;
  MPI_Type_get_attr(*type, merge_of_type(), static_cast<void*>(&merge), &found);
  (*merge)(in, inout, *count);
}

struct RecordType {
  Communicator::Merge merge;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  RecordType(std::int64_t bytes, Communicator::Merge merge_) : merge(merge_) {
    check_mpi(MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type), "allreduce_records");
    check_mpi(MPI_Type_commit(&type), "allreduce_records");
    check_mpi(MPI_Type_set_attr(type, merge_of_type(), static_cast<void*>(&merge)), "allreduce_records");
    // The operation is non-commutative: MPI then merges in rank order and every rank gets the same bits.
    check_mpi(MPI_Op_create(&call_merge, 0, &op), "allreduce_records");
  }
  ~RecordType() {
    MPI_Op_free(&op);
    MPI_Type_free(&type);
  }
  RecordType(const RecordType&) = delete;
  RecordType& operator=(const RecordType&) = delete;
};

}  // namespace

void Communicator::allreduce_records(void* records, std::int64_t count, std::int64_t bytes, Merge merge,
                                     Site site) const {
  impl_->count(count * bytes);
  if (size() == 1) return;
  detail::run_collective(*this, {"allreduce_records", count * bytes, Dtype::uint8}, site,
                         [&]() -> std::unique_ptr<detail::Operation> {
                           if (auto shared = detail::shared_records(*this, records, count, bytes, merge)) return shared;
                           const auto record = std::make_shared<RecordType>(bytes, merge);
                           auto merged = std::make_unique<detail::Pending>(*this, "allreduce_records");
                           detail::for_each_piece(count, detail::max_count, [&](std::int64_t first, int n) {
                             check_mpi(MPI_Iallreduce(MPI_IN_PLACE, static_cast<std::byte*>(records) + first * bytes, n,
                                                      record->type, record->op, impl_->mpi, &merged->next()),
                                       "allreduce_records");
                           });
                           return detail::then(std::move(merged), [record] {});
                         });
}

}  // namespace heatpp
