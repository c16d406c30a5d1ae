#pragma once

#include <cstdint>
#include <heatpp/comm/communicator.hpp>
#include <memory>

namespace at {
class Tensor;
}

namespace heatpp::nn {

/// Writes scalars, histograms and pictures to an event file that TensorBoard reads, on rank 0 only.
class TensorBoardWriter {
 public:
  /// Creates the folder and a new event file in it. Collective. Throws IoError on all ranks if this fails.
  TensorBoardWriter(const Communicator& comm, const std::string& folder);
  ~TensorBoardWriter();
  TensorBoardWriter(TensorBoardWriter&&) noexcept;
  TensorBoardWriter& operator=(TensorBoardWriter&&) noexcept;

  /// Writes one number. Local. It throws nothing: `flush` reports failed writes.
  void scalar(const std::string& tag, double value, std::int64_t step);
  /// Writes the distribution of the finite elements of `values`, in 64 classes of equal width from the smallest to the
  /// largest; if there are none, nothing. Local, throws as `scalar`.
  void histogram(const std::string& tag, const at::Tensor& values, std::int64_t step);
  /// Writes a picture: (height, width), or (channels, height, width) with 1 or 3 channels; bytes, or floats that are
  /// clamped to [0, 1]. Local, as `scalar`. Throws ValueError for other shapes.
  void image(const std::string& tag, const at::Tensor& picture, std::int64_t step);
  /// Flushes all events to the system. Collective. Throws IoError on all ranks if writing failed.
  void flush();
  /// Returns the event file's path on rank 0; empty on other ranks.
  [[nodiscard]] std::string path() const;

 private:
  void write(const std::string& event);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heatpp::nn
