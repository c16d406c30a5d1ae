#pragma once

#include <heatpp_nn/data/dataset.hpp>

namespace heatpp::nn::detail {

/// Rows in memory: the i-th row that was asked for is row place[i] of the arrays.
struct Window {
  Tensors rows;  // of every field
  at::Tensor place;
};

/// Where the rows of a dataset are.
class Samples {
 public:
  virtual ~Samples() = default;
  [[nodiscard]] virtual const Layout& layout() const = 0;
  [[nodiscard]] virtual const Communicator& comm() const = 0;
  [[nodiscard]] virtual const std::shared_ptr<const FieldNames>& fields() const = 0;
  /// Rows that this rank can reach alone. Local; of stored rows on any thread.
  [[nodiscard]] virtual Window reach(const at::Tensor& rows) const = 0;
  /// Any rows, other ones on each rank. Collective.
  [[nodiscard]] virtual Window fetch(const at::Tensor& rows) const = 0;
  [[nodiscard]] virtual bool is_stored() const = 0;
  /// Bytes of a row of all fields, and how many of them should be fetched at once.
  [[nodiscard]] virtual std::int64_t row_bytes() const = 0;
  [[nodiscard]] virtual std::int64_t window_bytes() const = 0;
};

/// Throws ValueError where there is no input or no target.
[[nodiscard]] std::shared_ptr<const FieldNames> checked_names(FieldNames names);

/// Arrays whose rows belong together, cut along axis 0 as the first that is, or evenly; what is cut otherwise moves.
/// Throws ValueError where they have not equally many rows. Collective where something moves.
[[nodiscard]] std::vector<DNDarray> rows_alike(const char* op, std::vector<DNDarray> arrays);

/// Arrays in memory, as many as there are names.
class ArraySamples : public Samples {
 public:
  ArraySamples(std::vector<DNDarray> arrays, FieldNames names, std::int64_t window_bytes);
  [[nodiscard]] const Layout& layout() const override { return arrays_.front().layout(); }
  [[nodiscard]] const Communicator& comm() const override { return arrays_.front().comm(); }
  [[nodiscard]] const std::shared_ptr<const FieldNames>& fields() const override { return fields_; }
  [[nodiscard]] Window reach(const at::Tensor& rows) const override;
  [[nodiscard]] Window fetch(const at::Tensor& rows) const override;
  [[nodiscard]] bool is_stored() const override { return false; }
  [[nodiscard]] std::int64_t row_bytes() const override;
  [[nodiscard]] std::int64_t window_bytes() const override { return window_bytes_; }
  [[nodiscard]] const std::vector<DNDarray>& arrays() const { return arrays_; }

 private:
  std::shared_ptr<const FieldNames> fields_;
  std::vector<DNDarray> arrays_;
  std::int64_t window_bytes_;
};

/// The tensors of all fields as a batch.
[[nodiscard]] Batch batch_of(const Tensors& tensors, const std::shared_ptr<const FieldNames>& fields);

}  // namespace heatpp::nn::detail
