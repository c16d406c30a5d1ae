#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Sums numbers on the CPU over the ranks that hold parts of vectors of this layout: one all-reduce, or none if
/// replicated. Throws ValueError unless they are finite.
void sum_over(const char* op, const at::Tensor& numbers, const Layout& layout, const Communicator& comm);
/// Returns this rank's part of a vector without a pattern, equal on any number of ranks: digits of sines.
[[nodiscard]] at::Tensor any_vector(std::int64_t seed, const Layout& layout, int rank, const at::TensorOptions& type);

/// Memory for orthonormal vectors that are cut alike, in the rows of this rank's tensor.
class Orthonormal {
 public:
  Orthonormal(const char* op, Layout layout, Communicator comm, const at::TensorOptions& type, std::int64_t room);

  [[nodiscard]] const char* op() const { return op_; }
  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] const Communicator& comm() const { return comm_; }
  [[nodiscard]] std::int64_t extent() const { return layout_.shape()[0]; }  ///< length of a vector
  [[nodiscard]] std::int64_t room() const { return rows_.size(0); }
  [[nodiscard]] const at::Tensor& rows() const { return rows_; }
  [[nodiscard]] at::Tensor operator[](std::int64_t i) const { return rows_[i]; }
  void set(std::int64_t i, const at::Tensor& v) { rows_[i].copy_(v); }
  void replace(const at::Tensor& first) { rows_.narrow(0, 0, first.size(0)).copy_(first); }

  /// The components of a vector along the first ones, (count,) on the CPU, and the length of the rest.
  struct Taken {
    at::Tensor parts;
    double length;
  };
  /// Makes w orthogonal to the first `count` vectors, twice, and once more if hardly anything is left of it: an
  /// all-reduce of count + 1 numbers each time.
  [[nodiscard]] Taken straighten(at::Tensor& w, std::int64_t count) const;
  /// Returns a vector of length 1 orthogonal to the first `count`, which are fewer than its elements.
  [[nodiscard]] at::Tensor another(std::int64_t count);
  [[nodiscard]] double length(const at::Tensor& w) const;

 private:
  const char* op_;
  Layout layout_;
  Communicator comm_;
  at::Tensor rows_;
  std::int64_t seed_ = 0;
};

}  // namespace heatpp::detail
