#pragma once

#include <heatpp_nn/data/dataset.hpp>

namespace heatpp::nn::detail {

/// Rows in memory: the i-th row that was asked for is row place[i] of the arrays.
struct Window {
  Batch rows;
  at::Tensor place;
};

/// Where the rows of a dataset are.
class Samples {
 public:
  virtual ~Samples() = default;
  [[nodiscard]] virtual const Layout& layout() const = 0;
  [[nodiscard]] virtual const Communicator& comm() const = 0;
  /// Rows that this rank can reach alone. Local; of stored rows on any thread.
  [[nodiscard]] virtual Window reach(const at::Tensor& rows) const = 0;
  /// Any rows, other ones on each rank. Collective.
  [[nodiscard]] virtual Window fetch(const at::Tensor& rows) const = 0;
  [[nodiscard]] virtual bool is_stored() const = 0;
  /// Bytes of a row of both arrays, and how many of them should be fetched at once.
  [[nodiscard]] virtual std::int64_t row_bytes() const = 0;
  [[nodiscard]] virtual std::int64_t window_bytes() const = 0;
};

/// Two arrays that are cut alike along axis 0.
class ArraySamples : public Samples {
 public:
  ArraySamples(const DNDarray& inputs, const DNDarray& targets, std::int64_t window_bytes);
  [[nodiscard]] const Layout& layout() const override { return inputs_.layout(); }
  [[nodiscard]] const Communicator& comm() const override { return inputs_.comm(); }
  [[nodiscard]] Window reach(const at::Tensor& rows) const override;
  [[nodiscard]] Window fetch(const at::Tensor& rows) const override;
  [[nodiscard]] bool is_stored() const override { return false; }
  [[nodiscard]] std::int64_t row_bytes() const override;
  [[nodiscard]] std::int64_t window_bytes() const override { return window_bytes_; }
  [[nodiscard]] const DNDarray& inputs() const { return inputs_; }
  [[nodiscard]] const DNDarray& targets() const { return targets_; }

 private:
  DNDarray inputs_, targets_;
  std::int64_t window_bytes_;
};

/// The rows of a window in the order in which they were asked for.
[[nodiscard]] Batch in_order(const Window& window);

}  // namespace heatpp::nn::detail
