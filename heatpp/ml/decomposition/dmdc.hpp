#pragma once

#include <heatpp/ml/decomposition/dmd.hpp>

namespace heatpp {

struct DmdcOptions {
  std::optional<std::int64_t> rank = std::nullopt;  ///< most directions of the fields; nullopt: all that rtol leaves
  std::optional<std::int64_t> system_rank = std::nullopt;  ///< most directions of fields and controls together
  double rtol = 1e-10;  ///< drops directions whose singular value is at most this part of the largest
  double dt = 1;        ///< time between two snapshots
  DmdModes modes = DmdModes::exact;
};

/// Dynamic mode decomposition of a field with external controls: the linear operators in x' = A x + B u that best map
/// each snapshot x and its controls u to the next snapshot (Proctor, Brunton, Kutz: Dynamic mode decomposition with
/// control, 2016). Snapshots are kept as in DMD.
class DMDc {
 public:
  explicit DMDc(const DmdcOptions& options = {}) : options_(options) {}
  [[nodiscard]] const DmdcOptions& options() const { return options_; }

  /// Fits to (points..., time) snapshots along the last axis and (controls, time) numbers, from scratch. Each column of
  /// controls drives its snapshot to the next one; the last column may be missing. Collective: as DMD, and controls are
  /// gathered if cut. Throws as DMD, and ValueError for controls of another shape.
  DMDc& fit(const DNDarray& x, const DNDarray& controls);
  /// Adds one snapshot, and the (controls,) numbers that drive it to the next one. Collective: as DMD::partial_fit.
  /// Throws as fit, ValueError for another number of controls.
  DMDc& partial_fit(const DNDarray& field, const DNDarray& controls);

  /// Predicts a field (points...), or many (points..., many), driven by (controls, steps) numbers, after each step:
  /// (points..., steps), or (points..., many, steps). Collective: one all-reduce of 8 bytes for each direction and
  /// field. Throws ValueError for other shapes.
  [[nodiscard]] DNDarray predict(const DNDarray& fields, const DNDarray& controls) const;

  /// Returns the state that save_model writes, with all that partial_fit needs to continue; its fields are cut as they
  /// are. Local. Throws NotFittedError before two snapshots.
  [[nodiscard]] ModelState state() const;
  /// Restores the fitted estimator. Fields are cut as those of the state ("directions"). A file gives these to all
  /// ranks: resplit them if that is too much. Throws ValueError for a state of another class or one that contradicts
  /// itself.
  [[nodiscard]] static DMDc from_state(const ModelState& state);

  // The fitted state, as in DMD; the basis is that of the snapshots after the first.
  [[nodiscard]] DNDarray eigenvalues() const;   ///< (modes,), complex, of A, decreasing in absolute value
  [[nodiscard]] DNDarray rates() const;         ///< (modes,), complex: log(eigenvalues) / dt
  [[nodiscard]] DNDarray modes() const;         ///< (points..., modes), complex, of length 1
  [[nodiscard]] DNDarray amplitudes() const;    ///< (modes,)
  [[nodiscard]] DNDarray basis() const;         ///< (points..., modes)
  [[nodiscard]] DNDarray transfer() const;      ///< (modes, modes): A between fields of the basis
  [[nodiscard]] DNDarray control() const;       ///< (modes, controls): B into fields of the basis
  [[nodiscard]] DNDarray eigenvectors() const;  ///< (modes, modes), complex, of transfer
  [[nodiscard]] std::int64_t n_modes() const;
  [[nodiscard]] std::int64_t n_system_modes() const;  ///< directions of fields and controls together
  [[nodiscard]] std::int64_t n_snapshots() const;     ///< 0 before fit

 private:
  struct Driven;
  [[nodiscard]] const Driven& fitted_state(const char* what) const;

  DmdcOptions options_;
  std::shared_ptr<const ml::detail::Snapshots> snapshots_;
  std::optional<DNDarray> controls_;              ///< (controls, time or one less), float64, on every rank
  mutable std::shared_ptr<const Driven> driven_;  ///< computed on demand
};

}  // namespace heatpp
