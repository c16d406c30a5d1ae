#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp {
struct ModelState;
}

namespace heatpp::ml::detail {

class StateReader;

/// Successive fields of one shape, as combinations of orthonormal fields: a factorization of the matrix of all
/// fields, as accurate as they are, that keeps only as many fields as its rank. Fields stay where they are.
/// Immutable.
class Snapshots {
 public:
  /// Takes (shape..., time) fields along the last axis. Collective: recuts a split time axis; one agreement of 8 bytes
  /// and those of linalg::qr. Throws ValueError for fewer than two axes and numbers that are not finite, TypeError for
  /// complex numbers.
  Snapshots(const char* op, const DNDarray& fields);
  /// Adds one field of the same shape, or starts with it. Collective: an agreement, two all-reduces of 8 numbers of
  /// directions, and linalg::qr of one column. Errors as before.
  static Snapshots with(const char* op, const std::optional<Snapshots>& before, const DNDarray& field);

  /// Restores snapshots from a state, cut as the state's fields.
  explicit Snapshots(const StateReader& read);
  /// Writes the arrays of a model's state: the fields in float64, and the coordinates of snapshots in them.
  void write(ModelState& state) const;

  [[nodiscard]] const Shape& shape() const { return layout_.shape(); }
  [[nodiscard]] const Communicator& comm() const { return comm_; }
  [[nodiscard]] Dtype dtype() const { return dtype_; }
  [[nodiscard]] std::int64_t count() const { return coordinates_.size(1); }
  /// (directions, count), float64, on every rank.
  [[nodiscard]] const at::Tensor& coordinates() const { return coordinates_; }
  /// Returns the coordinates (directions, many) of other fields, (shape) or (shape..., many). Collective: one
  /// all-reduce of 8 directions many bytes. Throws ValueError for another shape.
  [[nodiscard]] at::Tensor coordinates_of(const char* op, const DNDarray& fields) const;
  /// Returns the fields (shape..., extents...) that have these real or complex coordinates (directions, product of
  /// extents), in the dtype of the snapshots. Local.
  [[nodiscard]] DNDarray fields(const at::Tensor& coordinates, const Shape& extents) const;

 private:
  Snapshots(Layout layout, Communicator comm, Dtype dtype);
  [[nodiscard]] bool distributed() const { return layout_.split() && comm_.size() > 1; }
  [[nodiscard]] at::Tensor block(const char* op, const DNDarray& fields, bool many) const;
  [[nodiscard]] at::Tensor projections(const at::Tensor& rows) const;
  void add(const char* op, at::Tensor rows);
  [[nodiscard]] std::pair<at::Tensor, at::Tensor> directions_of(const at::Tensor& rows) const;

  Layout layout_;
  Communicator comm_;
  Dtype dtype_;
  at::Tensor basis_;        ///< (directions, this rank's points), float64
  at::Tensor coordinates_;  ///< (directions, count)
};

}  // namespace heatpp::ml::detail
