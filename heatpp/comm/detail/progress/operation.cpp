#include <heatpp/comm/detail/machine/scratch.hpp>
#include <heatpp/comm/detail/progress/patience.hpp>
#include <heatpp/comm/detail/progress/pending.hpp>
#include <heatpp/comm/detail/schedule/combine.hpp>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

namespace heatpp {

struct Request::Impl {
  std::unique_ptr<detail::Operation> operation;
  std::atomic<bool> done{false};
  std::exception_ptr error;
  std::optional<detail::Noted> call = {};  // that started it, where waiting is limited

  void advance() noexcept {
    try {
      done = operation->advance();
    } catch (...) {
      error = std::current_exception();
      done = true;
    }
  }
};

namespace {

/// What was started and has not ended, in the order of starting.
struct Started {
  std::mutex mutex;
  std::vector<Request::Impl*> requests;
  std::atomic<std::size_t> count{0};

  void add(Request::Impl* request) {
    const std::lock_guard lock(mutex);
    requests.push_back(request);
    count = requests.size();
  }
  void remove(Request::Impl* request) {
    const std::lock_guard lock(mutex);
    std::erase(requests, request);
    count = requests.size();
  }
  void advance() {
    const std::unique_lock lock(mutex, std::try_to_lock);
    if (!lock) return;  // another thread is at it
    for (auto* request : requests) request->advance();
    std::erase_if(requests, [](const auto* request) { return request->done.load(); });
    count = requests.size();
  }
};
Started& started() {
  static Started instance;
  return instance;
}

/// A rank that has long found nothing to do lets others run, and after much longer sleeps: whoever it waits for is
/// late, perhaps for want of a core. Where waiting is limited it gives up some day.
class Patience {
 public:
  void wait(detail::Operation& operation, const std::optional<detail::Noted>& call) {
    if (++fruitless_ < detail::tries_before_yield) return;
    if (fruitless_ % 16 != 0) return std::this_thread::yield();
    if (detail::waits_are_limited()) check(operation, call);
    // Messages that others wait for go on, too, while this rank looks at nothing but shared memory.
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
    if (!begin_) begin_ = Clock::now();
    if (Clock::now() - *begin_ > long_wait) std::this_thread::sleep_for(nap);
  }

 private:
  void check(detail::Operation& operation, const std::optional<detail::Noted>& call) {
    if (!deadline_) deadline_.emplace();
    if (deadline_->passed()) operation.give_up();
    detail::check_deadline(*deadline_, call);
  }

  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds long_wait{500}, nap{50};
  int fruitless_ = 0;
  std::optional<Clock::time_point> begin_;  // of a wait that is not short: the clock takes its time
  std::optional<detail::Deadline> deadline_;
};

/// Whether the operation has ended, or the stream waits for it.
bool hold(Request::Impl& request, const Memory& memory) {
  const std::lock_guard lock(started().mutex);
  return request.done || request.operation->hold(memory);
}

void finish(Request::Impl& request) {
  try {
    for (Patience patience; !request.done; patience.wait(*request.operation, request.call)) started().advance();
  } catch (...) {
    request.error = std::current_exception();
  }
  started().remove(&request);  // no other thread looks at it any more
}

class Then final : public detail::Operation {
 public:
  Then(std::unique_ptr<Operation> first, std::function<void()> last)
      : first_(std::move(first)), last_(std::move(last)) {}
  bool advance() override { return end(first_->advance()); }
  bool advance_or_sleep() override { return end(first_->advance_or_sleep()); }

 private:
  bool end(bool done) const {
    if (done) last_();
    return done;
  }

  std::unique_ptr<Operation> first_;
  std::function<void()> last_;
};

}  // namespace

void detail::run(Operation& operation) {
  Patience patience;
  for (;;) {
    const bool alone = started().count == 0 && !waits_are_limited();
    if (alone ? operation.advance_or_sleep() : operation.advance()) return;
    if (!alone) started().advance();
    patience.wait(operation, latest_call());
  }
}

Request detail::start(std::unique_ptr<Operation> operation) {
  auto request = std::make_unique<Request::Impl>();
  request->operation = std::move(operation);
  if (waits_are_limited()) request->call = latest_call();
  request->advance();
  if (!request->done) started().add(request.get());
  return Request(std::move(request));
}

std::unique_ptr<detail::Operation> detail::then(std::unique_ptr<Operation> first, std::function<void()> last) {
  return std::make_unique<Then>(std::move(first), std::move(last));
}

std::unique_ptr<detail::Operation> detail::native_allreduce(const Communicator& comm, Buffer data, ReduceOp op) {
  auto sum = std::make_unique<Pending>(comm, "iallreduce");
  const auto mpi = mpi_op(op, data.dtype);
  for_each_piece(data.count, max_count, [&](std::int64_t first, int n) {
    auto* at = static_cast<std::byte*>(data.data) + first * static_cast<std::int64_t>(itemsize(data.dtype));
    check_mpi(MPI_Iallreduce(MPI_IN_PLACE, at, n, mpi_type(data.dtype), mpi, comm.impl().mpi, &sum->next()),
              "iallreduce");
  });
  if (op != ReduceOp::mean) return sum;
  return then(std::move(sum), [data, ranks = comm.size()] { divide(data.dtype, data.data, data.count, ranks); });
}

std::unique_ptr<detail::Operation> detail::rounded_once(Buffer data, ReduceOp op, int ranks,
                                                        const StartAllreduce& make) {
  const bool rounds = op != ReduceOp::min && op != ReduceOp::max && ranks > 2;
  if (!is_float16(data.dtype) || !rounds) return make(data);
  auto wide = std::make_shared<Scratch>(data.count * static_cast<std::int64_t>(sizeof(float)));
  auto* const values = reinterpret_cast<float*>(wide->data());
  widen(data.dtype, data.data, values, data.count);
  return then(make({values, data.count, float32}),
              [data, values, wide] { narrow(data.dtype, values, data.data, data.count); });
}

std::optional<ProgressThread> detail::progress_beside() {
  if (started().count == 0) return std::nullopt;
  return ProgressThread(std::chrono::microseconds(20));
}

bool progress() {
  if (started().count > 0) started().advance();
  return started().count == 0;
}

Request::Request() = default;
Request::Request(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Request::Request(Request&&) noexcept = default;

Request& Request::operator=(Request&& other) noexcept {
  std::swap(impl_, other.impl_);  // what this one held is waited for when `other` dies
  return *this;
}

Request::~Request() {
  if (impl_) finish(*impl_);
}

bool Request::test() {
  if (!impl_) return true;
  if (!impl_->done) started().advance();
  if (!impl_->done) return false;
  wait();
  return true;
}

void Request::wait_on(const Memory& memory) {
  if (!impl_) return;
  try {
    for (Patience patience; !hold(*impl_, memory); patience.wait(*impl_->operation, impl_->call)) started().advance();
  } catch (...) {
    started().remove(impl_.get());
    impl_ = nullptr;
    throw;
  }
  if (impl_->done) wait();
}

void Request::wait() {
  if (!impl_) return;
  finish(*impl_);
  const auto ended = std::move(impl_);
  if (ended->error) std::rethrow_exception(ended->error);
}

}  // namespace heatpp
