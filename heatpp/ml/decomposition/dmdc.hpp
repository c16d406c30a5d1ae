#pragma once

#include <heatpp/ml/decomposition/dmd.hpp>

namespace heatpp {

struct DmdcOptions {
  std::optional<std::int64_t> rank = std::nullopt;  ///< most directions of the fields; nullopt: all that rtol leaves
  std::optional<std::int64_t> system_rank = std::nullopt;  ///< most directions of fields and controls together
  double rtol = 1e-10;  ///< directions whose singular value is at most this part of the largest do not count
  double dt = 1;        ///< time between two snapshots
  DmdModes modes = DmdModes::exact;
};

/// Snapshots of a field that is also driven from outside, and the linear operators that take each snapshot and what
/// drove it to the next one: x' = A x + B u (Proctor, Brunton, Kutz: Dynamic mode decomposition with control, 2016).
/// Snapshots are kept as DMD keeps them.
class DMDc {
 public:
  explicit DMDc(const DmdcOptions& options = {}) : options_(options) {}
  [[nodiscard]] const DmdcOptions& options() const { return options_; }

  /// Learns from (points..., time) snapshots along the last axis and (controls, time) numbers, of which each column
  /// drives its snapshot to the next one and the last may be missing, anew. Collective: as DMD, and where the controls
  /// are cut they are gathered. Throws as DMD, ValueError for controls of another shape.
  DMDc& fit(const DNDarray& x, const DNDarray& controls);
  /// Learns from one snapshot more, and the (controls,) numbers that drive it to the next one. Collective: as
  /// DMD::partial_fit. Throws as fit, ValueError for another number of controls.
  DMDc& partial_fit(const DNDarray& field, const DNDarray& controls);

  /// What becomes of a field (points...), or of many (points..., many), that (controls, steps) numbers drive, after
  /// each step: (points..., steps), or (points..., many, steps). Collective: one all-reduce of 8 bytes for each
  /// direction and field. Throws ValueError for other shapes.
  [[nodiscard]] DNDarray predict(const DNDarray& fields, const DNDarray& controls) const;

  /// What save_model writes of it, with all that is needed to go on by partial_fit: the fields are cut as they are.
  /// Local. Throws NotFittedError before two snapshots.
  [[nodiscard]] ModelState state() const;
  /// The fitted estimator again. Fields are cut as those of the state ("directions"), which a file gives to all ranks:
  /// resplit them where that is too much. Throws ValueError for a state of another class or one that contradicts
  /// itself.
  [[nodiscard]] static DMDc from_state(const ModelState& state);

  // What was learnt, as DMD has it: the basis is that of the snapshots after the first.
  [[nodiscard]] DNDarray eigenvalues() const;   ///< (modes,), complex, of A, falling in size
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
  [[nodiscard]] const Driven& learnt(const char* what) const;

  DmdcOptions options_;
  std::shared_ptr<const ml::detail::Snapshots> snapshots_;
  std::optional<DNDarray> controls_;              ///< (controls, time or one less), float64, on every rank
  mutable std::shared_ptr<const Driven> driven_;  ///< made when it is asked for
};

}  // namespace heatpp
