#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/progress/pending.hpp>
#include <heatpp/comm/detail/schedule/combine.hpp>

namespace heatpp {
namespace {

/// Runs the MPI library's all-reduce in pieces that MPI can count.
class Native final : public detail::Operation {
 public:
  Native(const Communicator& comm, const Buffer& data, ReduceOp op, const char* call)
      : comm_(comm), data_(data), op_(op), call_(call), all_(comm, call) {
    begin();
  }

  bool advance() override { return end(all_.advance()); }
  bool advance_or_sleep() override { return end(all_.advance_or_sleep()); }
  bool restart() override {
    begin();
    return true;
  }
  [[nodiscard]] bool in_flight() const override { return all_.in_flight(); }
  void end_messages() noexcept override { all_.end_messages(); }

 private:
  void begin() {
    all_.clear();
    detail::for_each_piece(data_.count, detail::max_count, [&](std::int64_t first, int n) {
      detail::check_mpi(MPI_Iallreduce(MPI_IN_PLACE, detail::address(data_, first), n, detail::mpi_type(data_.dtype),
                                       detail::mpi_op(op_, data_.dtype), comm_.impl().mpi, &all_.next()),
                        call_);
    });
  }
  [[nodiscard]] bool end(bool done) const {
    if (done && op_ == ReduceOp::mean) detail::divide(data_.dtype, data_.data, data_.count, comm_.size());
    return done;
  }

  Communicator comm_;
  Buffer data_;
  ReduceOp op_;
  const char* call_;
  detail::Pending all_;
};

}  // namespace

std::unique_ptr<detail::Operation> detail::native_allreduce(const Communicator& comm, Buffer data, ReduceOp op,
                                                            const char* call) {
  return std::make_unique<Native>(comm, data, op, call);
}

std::unique_ptr<detail::Operation> comm::native(const Topology& topology, Buffer data, ReduceOp op, const char* call) {
  return detail::native_allreduce(topology.comm(), data, op, call);
}

}  // namespace heatpp
