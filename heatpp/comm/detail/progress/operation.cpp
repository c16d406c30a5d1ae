#include <heatpp/comm/detail/progress/operation.hpp>

#include <heatpp/comm/recovery/detail/lost_messages.hpp>

#include <algorithm>
#include <exception>

namespace heatpp::detail {
namespace {

class Then final : public Operation {
 public:
  Then(std::unique_ptr<Operation> first, std::function<void()> last, std::function<void()> again)
      : first_(std::move(first)), last_(std::move(last)), again_(std::move(again)) {}
  bool advance() override { return end(first_->advance()); }
  bool advance_or_sleep() override { return end(first_->advance_or_sleep()); }
  bool restart() override {
    if (!again_) return false;
    again_();
    return first_->restart();
  }
  void give_up() override { first_->give_up(); }
  [[nodiscard]] bool in_flight() const override { return first_->in_flight(); }
  void end_messages() noexcept override { first_->end_messages(); }

 private:
  bool end(bool done) const {
    if (done) last_();
    return done;
  }

  std::unique_ptr<Operation> first_;
  std::function<void()> last_, again_;
};

class Together final : public Operation {
 public:
  explicit Together(std::vector<std::unique_ptr<Operation>> operations) : operations_(std::move(operations)) {}
  bool advance() override {
    std::erase_if(operations_, [this](const auto& operation) { return ended(*operation); });
    if (operations_.empty() && error_) std::rethrow_exception(error_);
    return operations_.empty();
  }
  void give_up() override {
    for (const auto& operation : operations_) operation->give_up();
  }
  [[nodiscard]] bool in_flight() const override {
    return std::ranges::any_of(operations_, [](const auto& operation) { return operation->in_flight(); });
  }
  void end_messages() noexcept override {
    for (const auto& operation : operations_) operation->end_messages();
  }

 private:
  /// An error in arguments waits for the other ranks, which may still write to memory of the caller.
  [[nodiscard]] bool ended(Operation& operation) {
    try {
      return operation.advance();
    } catch (const CommError&) {
      throw;
    } catch (...) {
      if (!error_) error_ = std::current_exception();
      return true;
    }
  }

  std::vector<std::unique_ptr<Operation>> operations_;
  std::exception_ptr error_;
};

}  // namespace

void run(std::unique_ptr<Operation> operation) {
  try {
    run(*operation);
  } catch (...) {
    abandon(std::move(operation), std::current_exception());
    throw;
  }
}

void abandon(std::unique_ptr<Operation> operation, const std::exception_ptr& error) noexcept {
  if (operation && tells_of_loss(error)) operation->end_messages();
  if (operation && operation->in_flight()) static_cast<void>(operation.release());
}

std::unique_ptr<Operation> then(std::unique_ptr<Operation> first, std::function<void()> last,
                                std::function<void()> again) {
  return std::make_unique<Then>(std::move(first), std::move(last), std::move(again));
}

std::unique_ptr<Operation> together(std::vector<std::unique_ptr<Operation>> operations) {
  return std::make_unique<Together>(std::move(operations));
}

}  // namespace heatpp::detail
