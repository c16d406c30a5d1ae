#pragma once

#include <memory>
#include <source_location>

namespace heatpp {

/// An all-reduce that is set up once, by `Topology::plan`, and started as often as its memory is to be reduced: what
/// MPI calls a persistent collective. A start is a collective like others, in their order, and gives what `iallreduce`
/// of the same arguments gives, to the bit; the algorithm is that of when the plan was made. In the host's memory
/// starts after the first allocate nothing. Copies of the topology may end before the plan.
class AllreducePlan {
 public:
  struct Impl;
  explicit AllreducePlan(std::unique_ptr<Impl> impl);
  AllreducePlan(AllreducePlan&&) noexcept;
  AllreducePlan& operator=(AllreducePlan&&) noexcept;
  /// Waits for what is under way.
  ~AllreducePlan();

  /// From now until it has ended the memory belongs to the plan. Throws ValueError where it is under way already.
  void start(std::source_location site = std::source_location::current());
  /// Whether it has ended, or was not started; also makes it progress. Throws as wait().
  [[nodiscard]] bool test();
  /// Throws CommError where it failed.
  void wait();

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace heatpp
