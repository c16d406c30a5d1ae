#pragma once

#include <cstdint>
#include <heatpp/comm/communicator.hpp>
#include <memory>

namespace heatpp::nn {

/// Writes scalars to an event file that TensorBoard reads, on rank 0 only.
class TensorBoardWriter {
 public:
  /// Makes the folder and a new event file in it. Collective. Throws IoError on all ranks where that fails.
  TensorBoardWriter(const Communicator& comm, const std::string& folder);
  ~TensorBoardWriter();
  TensorBoardWriter(TensorBoardWriter&&) noexcept;
  TensorBoardWriter& operator=(TensorBoardWriter&&) noexcept;

  /// Local; throws nothing: what could not be written is reported by `flush`.
  void scalar(const std::string& tag, double value, std::int64_t step);
  /// Hands everything to the system. Collective. Throws IoError on all ranks where writing failed.
  void flush();
  /// The event file's path; empty on other ranks.
  [[nodiscard]] std::string path() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heatpp::nn
