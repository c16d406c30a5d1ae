#pragma once

#include <heatpp/comm/detail/watch.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/linalg/solvers/operator.hpp>

namespace heatpp::detail {

/// Vectors that are cut alike, as this rank's tensors on the CPU, and their products over all ranks.
class Vectors {
 public:
  using Number = c10::complex<double>;
  /// `like` names the ranks, and the device of arrays.
  Vectors(const char* op, Layout layout, const DNDarray& like, Dtype dtype)
      : op_(op),
        layout_(std::move(layout)),
        comm_(like.comm()),
        device_(like.larray().device()),
        type_(to_torch(dtype)) {}

  [[nodiscard]] at::Tensor zeros() const;
  /// Returns this rank's part of a vector of the same length, in memory of its own.
  [[nodiscard]] at::Tensor local(const DNDarray& x) const;
  [[nodiscard]] DNDarray array(const at::Tensor& x) const;
  /// Returns the operator's product, cut as these vectors.
  [[nodiscard]] at::Tensor apply(const linalg::LinearOperator::Apply& product, const at::Tensor& x) const;
  [[nodiscard]] at::Tensor apply(const linalg::LinearOperator::Apply& product, const Vectors& from,
                                 const at::Tensor& x) const;

  /// Returns conj(x) . y for pairs, on all ranks: one all-reduce of 16 bytes each, none for replicated vectors. Throws
  /// ValueError unless they are finite.
  [[nodiscard]] std::vector<Number> dots(std::initializer_list<std::pair<at::Tensor, at::Tensor>> pairs) const;
  [[nodiscard]] Number dot(const at::Tensor& x, const at::Tensor& y) const { return dots({{x, y}})[0]; }
  [[nodiscard]] double length(const at::Tensor& x) const;
  /// Sums the numbers over all ranks, with 16 bytes more that tell `watch` of the ranks.
  void sum(std::vector<Number>& numbers) const;
  /// Lets sums carry what `watch` notes, also what operators throw on one rank, so that all throw.
  void carry(Watch& watch) { watch_ = &watch; }
  void settle() const { watch_->settle(comm_, layout_.split().has_value()); }
  [[nodiscard]] const Layout& layout() const { return layout_; }

  /// Compute y += factor * x, and y = x + factor * y.
  void add(at::Tensor& y, Number factor, const at::Tensor& x) const { y.add_(x, scalar(factor)); }
  void update(at::Tensor& y, Number factor, const at::Tensor& x) const { at::add_out(y, x, y, scalar(factor)); }
  [[nodiscard]] at::Scalar scalar(Number factor) const;

 private:
  const char* op_;
  Layout layout_;
  Communicator comm_;
  at::Device device_;
  at::ScalarType type_;
  Watch* watch_ = nullptr;
};

}  // namespace heatpp::detail
