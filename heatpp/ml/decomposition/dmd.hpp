#pragma once

#include <heatpp/core/model_state.hpp>
#include <memory>

namespace heatpp::ml::detail {
class Snapshots;
struct Dynamics;
}  // namespace heatpp::ml::detail

namespace heatpp {

/// The fields that represent eigenvectors of the operator: exact modes (Tu et al.: On dynamic mode decomposition,
/// 2014), or their projections to the span of the snapshots before the last (Schmid 2010).
enum class DmdModes { exact, projected };

struct DmdOptions {
  std::optional<std::int64_t> rank = std::nullopt;  ///< largest number of directions; nullopt: all that rtol leaves
  double rtol = 1e-10;  ///< drops directions whose singular value is at most this part of the largest
  double dt = 1;        ///< time between two snapshots
  DmdModes modes = DmdModes::exact;
};

/// Dynamic mode decomposition: the linear operator that best maps each snapshot of a field, taken at equal times, to
/// the next one. Gives its eigenvalues, its modes, and predictions for other fields. Snapshots may come one at a
/// time while a simulation runs. Fields stay cut as they are. The model keeps one orthonormal field for each
/// independent direction, so at most one for each snapshot; results are as accurate as from the snapshots
/// themselves.
class DMD {
 public:
  explicit DMD(const DmdOptions& options = {}) : options_(options) {}
  [[nodiscard]] const DmdOptions& options() const { return options_; }

  /// Fits to (points..., time) snapshots along the last axis, from scratch. Collective: recuts a split time axis; an
  /// agreement of 8 bytes, and linalg::qr of a matrix with a column for each. Throws ValueError for fewer than two axes
  /// and numbers that are not finite, TypeError for complex numbers.
  DMD& fit(const DNDarray& x);
  /// Adds one snapshot, a field of any number of axes. Collective: an agreement, two all-reduces of 8 bytes for each
  /// direction so far, and linalg::qr of one column. Throws as fit, and for another shape than before.
  DMD& partial_fit(const DNDarray& field);

  /// Predicts a field (points...), or many (points..., many), after each of these numbers of steps: (points..., steps),
  /// or (points..., many, steps). Zero steps give the projection to the span of the snapshots. Collective: one
  /// all-reduce of 8 bytes for each direction and field. Throws ValueError for another shape and negative steps.
  [[nodiscard]] DNDarray predict(const DNDarray& fields, const std::vector<std::int64_t>& steps) const;
  /// Returns the sum of the modes, (points..., times), at past or future times after the first snapshot. Local.
  [[nodiscard]] DNDarray reconstruct(const std::vector<double>& times) const;
  /// Returns the sum of the modes at the times of the snapshots.
  [[nodiscard]] DNDarray reconstruct() const;

  /// Returns the state that save_model writes, with all that partial_fit needs to continue; its fields are cut as they
  /// are. Local. Throws NotFittedError before two snapshots.
  [[nodiscard]] ModelState state() const;
  /// Restores the fitted estimator. Fields are cut as those of the state ("directions"). A file gives these to all
  /// ranks: resplit them if that is too much. Throws ValueError for a state of another class or one that contradicts
  /// itself.
  [[nodiscard]] static DMD from_state(const ModelState& state);

  // The fitted state, in the floating dtype of the snapshots. All throw NotFittedError before two snapshots, ValueError
  // if all but the last are 0. Local. Fields are cut as the snapshots; the rest is on every rank.
  [[nodiscard]] DNDarray eigenvalues() const;  ///< (modes,), complex, decreasing in absolute value
  [[nodiscard]] DNDarray rates() const;        ///< (modes,), complex: log(eigenvalues) / dt
  [[nodiscard]] DNDarray modes() const;        ///< (points..., modes), complex, of length 1
  /// (modes,): coefficients of the first snapshot by least squares; the phases of modes make them not negative.
  [[nodiscard]] DNDarray amplitudes() const;
  [[nodiscard]] DNDarray singular_values() const;  ///< (directions,), of the snapshots before the last, decreasing
  [[nodiscard]] DNDarray basis() const;            ///< (points..., modes): their left vectors (POD modes)
  [[nodiscard]] DNDarray transfer() const;         ///< (modes, modes): the operator between fields of the basis
  [[nodiscard]] DNDarray eigenvectors() const;     ///< (modes, modes), complex, of transfer
  [[nodiscard]] std::int64_t n_modes() const;
  [[nodiscard]] std::int64_t n_snapshots() const;  ///< 0 before fit

 private:
  [[nodiscard]] const ml::detail::Dynamics& fitted_state(const char* what) const;

  DmdOptions options_;
  std::shared_ptr<const ml::detail::Snapshots> snapshots_;
  mutable std::shared_ptr<const ml::detail::Dynamics> dynamics_;  ///< computed on demand
};

}  // namespace heatpp
