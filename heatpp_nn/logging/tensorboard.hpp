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
  /// Makes the folder and a new event file in it. Collective. Throws IoError on all ranks where that fails.
  TensorBoardWriter(const Communicator& comm, const std::string& folder);
  ~TensorBoardWriter();
  TensorBoardWriter(TensorBoardWriter&&) noexcept;
  TensorBoardWriter& operator=(TensorBoardWriter&&) noexcept;

  /// Local; throws nothing: what could not be written is reported by `flush`.
  void scalar(const std::string& tag, double value, std::int64_t step);
  /// How the finite elements of `values` are distributed, in 64 equally wide classes from the least to the largest;
  /// without any, nothing. Local, as `scalar`.
  void histogram(const std::string& tag, const at::Tensor& values, std::int64_t step);
  /// A picture: (height, width), or (channels, height, width) with 1 or 3 channels; bytes, or floats from 0 to 1,
  /// beyond which they are cut off. Local, as `scalar`; throws ValueError for other shapes.
  void image(const std::string& tag, const at::Tensor& picture, std::int64_t step);
  /// Hands everything to the system. Collective. Throws IoError on all ranks where writing failed.
  void flush();
  /// The event file's path; empty on other ranks.
  [[nodiscard]] std::string path() const;

 private:
  void write(const std::string& event);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heatpp::nn
