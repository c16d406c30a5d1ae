#pragma once

#include <chrono>
#include <heatpp/comm/communicator.hpp>
#include <map>

namespace heatpp::nn {

/// Records the times of training steps and of messages, on all ranks:
///     Timeline timeline(comm);
///     { const auto scope = timeline.scope("forward"); loss = ...; }
///     timeline.save("trace.json");
/// From its construction on, it also records the steps of heatpp's all-reduces, including those of other threads.
class Timeline {
  using Clock = std::chrono::steady_clock;

 public:
  /// Sets time 0 to the same moment on all ranks, up to the time of a barrier. Collective.
  explicit Timeline(const Communicator& comm);

  /// A scope that ends with this object.
  class Scope {
   public:
    Scope(Timeline& timeline, std::string name) : timeline_(&timeline), name_(std::move(name)) {}
    ~Scope() { timeline_->note(name_, begin_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Timeline* timeline_;
    std::string name_;
    Clock::time_point begin_ = Clock::now();
  };
  /// Begins a scope. Local.
  [[nodiscard]] Scope scope(std::string name) { return {*this, std::move(name)}; }

  /// Returns the seconds that scopes of each name took on this rank. Local.
  [[nodiscard]] const std::map<std::string, double>& seconds() const { return seconds_; }
  /// Writes one file with the scopes and messages of all ranks, for Perfetto or Chrome's about:tracing. Collective:
  /// ranks send their records to rank 0. Throws IoError on all ranks.
  void save(const std::string& path) const;

 private:
  void note(const std::string& name, Clock::time_point begin);

  Communicator comm_;
  Clock::time_point origin_;
  std::map<std::string, double> seconds_;
};

}  // namespace heatpp::nn
