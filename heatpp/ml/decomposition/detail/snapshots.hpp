#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp {
struct ModelState;
}

namespace heatpp::ml::detail {

class StateReader;

/// Fields of one shape that came one after another, as combinations of orthonormal fields: what a matrix of all of them
/// has for a factor, as accurate as they are, while no more than their rank is kept. Fields stay where they are.
/// Immutable.
class Snapshots {
 public:
  /// (shape..., time): fields along the last axis. Collective: where the time is cut it is recut, one agreement of 8
  /// bytes and those of linalg::qr. Throws ValueError for fewer than two axes and numbers that are not finite,
  /// TypeError for complex ones.
  Snapshots(const char* op, const DNDarray& fields);
  /// With one more field of the same shape, or the first. Collective: an agreement, two all-reduces of 8 numbers of
  /// directions, and linalg::qr of one column. Errors as before.
  static Snapshots with(const char* op, const std::optional<Snapshots>& before, const DNDarray& field);

  /// What was written of some, cut as the state's fields are.
  explicit Snapshots(const StateReader& read);
  /// As arrays of a model's state: the fields in float64, and how snapshots consist of them.
  void write(ModelState& state) const;

  [[nodiscard]] const Shape& shape() const { return layout_.shape(); }
  [[nodiscard]] const Communicator& comm() const { return comm_; }
  [[nodiscard]] Dtype dtype() const { return dtype_; }
  [[nodiscard]] std::int64_t count() const { return coordinates_.size(1); }
  /// (directions, count), float64, on every rank.
  [[nodiscard]] const at::Tensor& coordinates() const { return coordinates_; }
  /// Of other fields, (shape) or (shape..., many): (directions, many). Collective: one all-reduce of 8 directions many
  /// bytes. Throws ValueError for another shape.
  [[nodiscard]] at::Tensor coordinates_of(const char* op, const DNDarray& fields) const;
  /// The fields (shape..., extents...) that have these coordinates (directions, product of extents), real or complex,
  /// in the dtype of the snapshots. Local.
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
