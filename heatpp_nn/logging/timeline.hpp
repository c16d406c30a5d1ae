#pragma once

#include <chrono>
#include <heatpp/comm/communicator.hpp>
#include <map>

namespace heatpp::nn {

/// What training does when, and what is sent meanwhile, on all ranks:
///     Timeline timeline(comm);
///     { const auto scope = timeline.scope("forward"); loss = ...; }
///     timeline.save("trace.json");
/// From its construction on, the steps of the library's all-reduces are noted as well, by all of them in the process.
class Timeline {
  using Clock = std::chrono::steady_clock;

 public:
  /// Time 0 is the same moment on all ranks, up to the time that a barrier takes. Collective.
  explicit Timeline(const Communicator& comm);

  /// Lasts until its end.
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
  /// Something that begins now. Local.
  [[nodiscard]] Scope scope(std::string name) { return {*this, std::move(name)}; }

  /// Seconds that scopes of each name took on this rank. Local.
  [[nodiscard]] const std::map<std::string, double>& seconds() const { return seconds_; }
  /// Writes one file with the scopes and messages of all ranks, for Perfetto or Chrome's about:tracing. Collective:
  /// ranks send what they noted to rank 0. Throws IoError on all ranks.
  void save(const std::string& path) const;

 private:
  void note(const std::string& name, Clock::time_point begin);

  Communicator comm_;
  Clock::time_point origin_;
  std::map<std::string, double> seconds_;
};

}  // namespace heatpp::nn
