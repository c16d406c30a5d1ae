#pragma once

#include <deque>
#include <mutex>

namespace heatpp::detail {

/// A queue of work that must be done in the order in which it was begun, beside other work.
class CallQueue {
 public:
  /// A place in the queue, from construction until end() or destruction.
  class Turn {
   public:
    explicit Turn(CallQueue& queue) : queue_(queue) {
      const std::lock_guard lock(queue_.mutex_);
      queue_.waiting_.push_back(this);
    }
    ~Turn() { end(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    [[nodiscard]] bool come() const {
      const std::lock_guard lock(queue_.mutex_);
      return !queue_.waiting_.empty() && queue_.waiting_.front() == this;
    }
    /// Calls f, and ends the turn if it throws.
    template <class F>
    auto keep_unless_thrown(F f) {
      try {
        return f();
      } catch (...) {
        end();
        throw;
      }
    }
    void end() {
      const std::lock_guard lock(queue_.mutex_);
      std::erase(queue_.waiting_, this);
    }

   private:
    CallQueue& queue_;
  };

 private:
  std::mutex mutex_;
  std::deque<const Turn*> waiting_;
};

}  // namespace heatpp::detail
