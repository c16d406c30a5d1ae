#pragma once

#include <memory>
#include <source_location>

namespace heatpp {

/// An all-reduce that `Topology::plan` sets up once and that is started as often as its memory is to be reduced. MPI
/// calls this a persistent collective. A start is a collective like any other, in the order of calls, and gives the
/// same bits as `iallreduce` with the same arguments. The algorithm stays as it was chosen when the plan was made. In
/// the host's memory, later starts allocate nothing. The plan may outlive the topology.
class AllreducePlan {
 public:
  struct Impl;
  explicit AllreducePlan(std::unique_ptr<Impl> impl);
  AllreducePlan(AllreducePlan&&) noexcept;
  AllreducePlan& operator=(AllreducePlan&&) noexcept;
  /// Waits for a start that is under way.
  ~AllreducePlan();

  /// Starts. The memory belongs to the plan until the end. Throws ValueError if it is under way already.
  void start(std::source_location site = std::source_location::current());
  /// Whether it has ended or was not started. Makes it progress. Throws as wait().
  [[nodiscard]] bool test();
  /// Throws CommError if the all-reduce failed.
  void wait();

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace heatpp
