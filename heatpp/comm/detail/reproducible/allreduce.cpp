#include <heatpp/comm/detail/reproducible/allreduce.hpp>

#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/reproducible/marked_sum.hpp>
#include <heatpp/comm/detail/schedule/combine.hpp>
#include <heatpp/comm/detail/schedule/execution.hpp>

#include <cstring>

namespace heatpp::detail {
namespace {

/// Returns a view of complex numbers as pairs of real numbers.
Buffer real_parts(const Buffer& data) {
  if (data.dtype == Dtype::complex64) return {data.data, 2 * data.count, Dtype::float32};
  if (data.dtype == Dtype::complex128) return {data.data, 2 * data.count, Dtype::float64};
  return data;
}

/// Sums in parts, and then sums marked elements again.
class InParts final : public Operation {
 public:
  InParts(const Communicator& comm, const Buffer& data, const ExactMakers& makers)
      : comm_(comm),
        data_(data),
        wide_(data.count * static_cast<std::int64_t>(itemsize(wide_type(data.dtype)))),
        tag_(next_tag(comm.impl())) {
    widen_exactly(data_, wide_.data());
    under_way_ = makers.in_parts({wide_.data(), data_.count, wide_type(data_.dtype)}, marked_sum);
  }

  bool advance() override { return under_way_->advance() && go_on(); }
  bool advance_or_sleep() override { return under_way_->advance_or_sleep() && go_on(); }
  void give_up() override { under_way_->give_up(); }
  [[nodiscard]] bool in_flight() const override { return under_way_->in_flight(); }
  void end_messages() noexcept override { under_way_->end_messages(); }

 private:
  bool go_on() {
    if (again_) return end();
    round_unmarked(wide_.data(), data_, marked_);
    if (marked_.empty()) return true;
    send_again();
    return advance();
  }

  void send_again() {
    const auto count = std::ssize(marked_);
    contributions_ = Scratch(count * item());
    for (std::int64_t i = 0; i < count; ++i)
      std::memcpy(contributions_.data() + i * item(), address(data_, marked_[static_cast<std::size_t>(i)]),
                  static_cast<std::size_t>(item()));
    auto schedule =
        std::make_shared<const Schedule>(comm::ordered(side_by_side(comm_.size()), {comm_.rank(), count, item()}));
    under_way_ =
        std::make_unique<Execution>(comm_, std::move(schedule), Buffer{contributions_.data(), count, data_.dtype},
                                    whole_sum, Coding{}, "allreduce", nullptr, tag_);
    again_ = true;
  }

  bool end() {
    for (std::size_t i = 0; i < marked_.size(); ++i)
      std::memcpy(address(data_, marked_[i]), contributions_.data() + static_cast<std::int64_t>(i) * item(),
                  static_cast<std::size_t>(item()));
    return true;
  }

  [[nodiscard]] std::int64_t item() const { return static_cast<std::int64_t>(itemsize(data_.dtype)); }

  Communicator comm_;
  Buffer data_;
  Scratch wide_, contributions_;
  int tag_;  // all ranks take it at the start, because they reach the second sum at different times
  std::unique_ptr<Operation> under_way_;
  std::vector<std::int64_t> marked_;
  bool again_ = false;
};

}  // namespace

bool wants_exact_sums(const Communicator& comm) { return comm.impl().settings->reproducible; }

bool has_exact_sum(ReduceOp op, Dtype dtype) {
  return dtype >= Dtype::float16 && (op == ReduceOp::sum || op == ReduceOp::mean);
}

std::unique_ptr<Operation> exact_allreduce(const Communicator& comm, Buffer data, ReduceOp op,
                                           const ExactMakers& makers) {
  const auto real = real_parts(data);
  auto sum = makers.at_once ? makers.at_once(real, whole_sum) : std::make_unique<InParts>(comm, real, makers);
  if (op != ReduceOp::mean) return sum;
  return then(std::move(sum), [real, ranks = comm.size()] { divide(real.dtype, real.data, real.count, ranks); });
}

}  // namespace heatpp::detail
