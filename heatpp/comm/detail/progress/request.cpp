#include <heatpp/comm/detail/progress/patience.hpp>
#include <heatpp/comm/detail/progress/persistent.hpp>
#include <heatpp/comm/recovery/detail/family.hpp>
#include <heatpp/comm/request.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

namespace heatpp {

using detail::Patience;

struct Request::Impl {
  std::unique_ptr<detail::Operation> operation;
  std::atomic<bool> done{false};
  std::exception_ptr error;
  std::optional<detail::NotedCall> call = {};  // the call that started it, if calls are noted

  void advance() noexcept {
    try {
      done = operation->advance();
    } catch (...) {
      error = std::current_exception();
      done = true;
    }
  }
  ~Impl() {
    if (error) detail::abandon(std::move(operation), error);
  }
};

namespace {

/// The operations that have been started and have not ended, in the order of starting.
class Started {
 public:
  [[nodiscard]] bool none() const { return count_ == 0; }
  [[nodiscard]] Request::Impl* first() {
    const std::lock_guard lock(mutex_);
    return requests_.empty() ? nullptr : requests_.front();
  }
  void add(Request::Impl* request) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    count_ = requests_.size();
  }
  void remove(Request::Impl* request) {
    const std::lock_guard lock(mutex_);
    std::erase(requests_, request);
    count_ = requests_.size();
  }
  /// Advances all, unless a thread already does: an operation that advances may wait in a call of its own.
  void advance() {
    if (inside) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    inside = true;
    for (auto* request : requests_) request->advance();
    std::erase_if(requests_, [](const auto* request) { return request->done.load(); });
    count_ = requests_.size();
    inside = false;
  }
  /// Whether the request has ended, or the device stream waits for it.
  [[nodiscard]] bool hold(Request::Impl& request, const Memory& memory) {
    const std::lock_guard lock(mutex_);
    return request.done || request.operation->hold(memory);
  }

 private:
  std::mutex mutex_;
  std::vector<Request::Impl*> requests_;
  std::atomic<std::size_t> count_{0};
  static inline thread_local bool inside = false;
};
/// Returns the list. It is never destroyed, because a request may live as long as the program.
Started& started() {
  static auto& instance = *new Started;
  return instance;
}

void finish(Request::Impl& request) {
  try {
    for (Patience patience; !request.done; patience.wait(*request.operation, request.call)) started().advance();
  } catch (...) {
    request.error = std::current_exception();
  }
  started().remove(&request);  // no other thread looks at the request any more
}

/// Whether the request has ended, perhaps because a rank of its call has.
bool has_ended(Request::Impl& request) {
  if (!request.done) started().advance();
  if (request.done || !request.call) return request.done;
  try {
    detail::expect_ranks(*request.call);
  } catch (...) {
    started().remove(&request);
    if (!request.done) request.error = std::current_exception();
    request.done = true;
  }
  return request.done;
}

}  // namespace

void detail::run(Operation& operation) {
  Patience patience;
  for (;;) {
    // MPICH's own waits occupy a core that another rank may need.
    const bool alone = started().none() && !waits_are_limited() && tries_before_yield > 1;
    if (alone ? operation.advance_or_sleep() : operation.advance()) return;
    if (!alone) started().advance();
    patience.wait(operation, latest_call());
  }
}

void detail::finish_all() {
  while (auto* const request = started().first()) finish(*request);
}

Request detail::start(std::unique_ptr<Operation> operation) {
  auto request = std::make_unique<Request::Impl>();
  request->operation = std::move(operation);
  if (calls_are_noted()) request->call = latest_call();
  request->advance();
  if (!request->done) started().add(request.get());
  return Request(std::move(request));
}

detail::Persistent::Persistent() : request_(std::make_unique<Request::Impl>()) {}
detail::Persistent::Persistent(Persistent&& other) noexcept
    : request_(std::move(other.request_)), under_way_(std::exchange(other.under_way_, false)) {}
detail::Persistent::~Persistent() {
  if (under_way_) finish(*request_);
}

void detail::Persistent::begin(const MakeOperation& make) {
  request_->operation = make();
  add();
}

void detail::Persistent::restart(const MakeOperation& make) {
  if (request_->operation && request_->operation->restart()) add();
  else begin(make);
}

void detail::Persistent::add() {
  under_way_ = true;
  request_->done = false;
  request_->call = calls_are_noted() ? latest_call() : std::nullopt;
  request_->advance();
  if (!request_->done) started().add(request_.get());
}

bool detail::Persistent::test() {
  if (!under_way_) return true;
  if (!has_ended(*request_)) return false;
  wait();
  return true;
}

/// An operation that failed is not started again.
void detail::Persistent::wait() {
  if (!std::exchange(under_way_, false)) return;
  finish(*request_);
  if (!request_->error) return;
  abandon(std::move(request_->operation), request_->error);
  std::rethrow_exception(std::exchange(request_->error, nullptr));
}

bool progress() {
  if (!started().none()) started().advance();
  return started().none();
}

Request::Request() = default;
Request::Request(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Request::Request(Request&&) noexcept = default;

Request& Request::operator=(Request&& other) noexcept {
  std::swap(impl_, other.impl_);  // the destructor of `other` waits for what this one held
  return *this;
}

Request::~Request() {
  if (impl_) finish(*impl_);
}

bool Request::test() {
  if (!impl_) return true;
  if (!has_ended(*impl_)) return false;
  wait();
  return true;
}

void Request::wait_on(const Memory& memory) {
  if (!impl_) return;
  try {
    for (Patience patience; !started().hold(*impl_, memory); patience.wait(*impl_->operation, impl_->call))
      started().advance();
  } catch (...) {
    impl_->error = std::current_exception();
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

void wait_all(std::span<Request> requests) {
  std::exception_ptr first;
  for (auto& request : requests) try {
      request.wait();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  if (first) std::rethrow_exception(first);
}

std::optional<std::size_t> wait_any(std::span<Request> requests) {
  const auto holds = [](const Request& request) { return request.impl_ != nullptr; };
  if (std::ranges::none_of(requests, holds)) return std::nullopt;
  for (Patience patience;;) {
    started().advance();
    for (std::size_t i = 0; i < requests.size(); ++i)
      if (requests[i].impl_ && requests[i].impl_->done) {
        requests[i].wait();
        return i;
      }
    const auto& any = *std::ranges::find_if(requests, holds);
    patience.wait(*any.impl_->operation, any.impl_->call);
  }
}

}  // namespace heatpp
