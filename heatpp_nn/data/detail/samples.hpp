#pragma once

#include <heatpp_nn/data/dataset.hpp>

namespace heatpp::nn::detail {

/// Rows in memory: the i-th requested row is row place[i] of the arrays.
struct Window {
  Tensors rows;  // one tensor for each field
  at::Tensor place;
};

/// The source of a dataset's rows.
class Samples {
 public:
  virtual ~Samples() = default;
  [[nodiscard]] virtual const Layout& layout() const = 0;
  [[nodiscard]] virtual const Communicator& comm() const = 0;
  [[nodiscard]] virtual const std::shared_ptr<const FieldNames>& fields() const = 0;
  /// Returns rows that this rank can read without others. Local. For stored rows, any thread may call it.
  [[nodiscard]] virtual Window reach(const at::Tensor& rows) const = 0;
  /// Returns any rows; ranks may ask for different ones. Collective.
  [[nodiscard]] virtual Window fetch(const at::Tensor& rows) const = 0;
  [[nodiscard]] virtual bool is_stored() const = 0;
  /// Returns the bytes of a row of all fields.
  [[nodiscard]] virtual std::int64_t row_bytes() const = 0;
  [[nodiscard]] virtual std::int64_t window_bytes() const = 0;
  /// Returns the rows on the ranks that are left of `comm()`. Collective over these.
  [[nodiscard]] virtual std::shared_ptr<const Samples> on_remaining(const Communicator& left) const = 0;
};

/// Throws ValueError if there is no input or no target.
[[nodiscard]] std::shared_ptr<const FieldNames> checked_names(FieldNames names);

/// Returns arrays whose rows belong together, split along axis 0 as the first one that is, or evenly; others are recut.
/// Collective if a recut is needed. Throws ValueError if the arrays have different numbers of rows.
[[nodiscard]] std::vector<DNDarray> rows_alike(const char* op, std::vector<DNDarray> arrays);

/// Arrays in memory, one for each name.
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
  [[nodiscard]] std::shared_ptr<const Samples> on_remaining(const Communicator& left) const override;
  [[nodiscard]] const std::vector<DNDarray>& arrays() const { return arrays_; }

 private:
  std::shared_ptr<const FieldNames> fields_;
  std::vector<DNDarray> arrays_;
  std::int64_t window_bytes_;
};

/// Returns the tensors of all fields as a batch.
[[nodiscard]] Batch batch_of(const Tensors& tensors, const std::shared_ptr<const FieldNames>& fields);

}  // namespace heatpp::nn::detail
