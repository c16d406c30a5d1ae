#pragma once

#include <heatpp/core/model_state.hpp>
#include <memory>

namespace heatpp::ml::detail {
class Snapshots;
struct Dynamics;
}  // namespace heatpp::ml::detail

namespace heatpp {

/// Which fields stand for the eigenvectors of the operator: its own (Tu et al.: On dynamic mode decomposition, 2014),
/// or the nearest ones that the snapshots before the last span (Schmid 2010).
enum class DmdModes { exact, projected };

struct DmdOptions {
  std::optional<std::int64_t> rank = std::nullopt;  ///< most directions that count; nullopt: all that rtol leaves
  double rtol = 1e-10;  ///< directions whose singular value is at most this part of the largest do not count
  double dt = 1;        ///< time between two snapshots
  DmdModes modes = DmdModes::exact;
};

/// Snapshots of a field at equal times, and the linear operator that takes each to the next one as well as any does:
/// its eigenvalues, the modes that grow and turn with them, and what it makes of other fields.
/// Snapshots may come one at a time while a simulation runs. They stay cut as the field is; what is kept is an
/// orthonormal field for each direction that they have, so one field for each snapshot at most, from which all follows
/// as accurately as from the snapshots themselves.
class DMD {
 public:
  explicit DMD(const DmdOptions& options = {}) : options_(options) {}
  [[nodiscard]] const DmdOptions& options() const { return options_; }

  /// Learns from (points..., time) snapshots along the last axis, anew. Collective: where the time is cut it is recut;
  /// an agreement of 8 bytes, and linalg::qr of a matrix with a column for each. Throws ValueError for fewer than two
  /// axes and numbers that are not finite, TypeError for complex numbers.
  DMD& fit(const DNDarray& x);
  /// Learns from one snapshot more, a field of any number of axes. Collective: an agreement, two all-reduces of 8 bytes
  /// for each direction so far, and linalg::qr of one column. Throws as fit, and for another shape than before.
  DMD& partial_fit(const DNDarray& field);

  /// What becomes of a field (points...), or of many (points..., many), after each of these numbers of steps:
  /// (points..., steps), or (points..., many, steps). No step gives what the snapshots span of it. Collective: one
  /// all-reduce of 8 bytes for each direction and field. Throws ValueError for another shape and negative steps.
  [[nodiscard]] DNDarray predict(const DNDarray& fields, const std::vector<std::int64_t>& steps) const;
  /// The sum of the modes (points..., times) as they were, or will be, at these times after the first snapshot. Local.
  [[nodiscard]] DNDarray reconstruct(const std::vector<double>& times) const;
  /// The same at the times of the snapshots.
  [[nodiscard]] DNDarray reconstruct() const;

  /// What save_model writes of it, with all that is needed to go on by partial_fit: the fields are cut as they are.
  /// Local. Throws NotFittedError before two snapshots.
  [[nodiscard]] ModelState state() const;
  /// The fitted estimator again. Fields are cut as those of the state ("directions"), which a file gives to all ranks:
  /// resplit them where that is too much. Throws ValueError for a state of another class or one that contradicts
  /// itself.
  [[nodiscard]] static DMD from_state(const ModelState& state);

  // What was learnt, in the floating dtype of the snapshots. All throw NotFittedError before two snapshots, ValueError
  // where all but the last are 0. Local, on every rank but for fields, which are cut as the snapshots are.
  [[nodiscard]] DNDarray eigenvalues() const;  ///< (modes,), complex, falling in size
  [[nodiscard]] DNDarray rates() const;        ///< (modes,), complex: log(eigenvalues) / dt
  [[nodiscard]] DNDarray modes() const;        ///< (points..., modes), complex, of length 1
  /// (modes,): how much of each the first snapshot has, by least squares; not negative, for which modes are turned.
  [[nodiscard]] DNDarray amplitudes() const;
  [[nodiscard]] DNDarray singular_values() const;  ///< (directions,), of the snapshots before the last, falling
  [[nodiscard]] DNDarray basis() const;            ///< (points..., modes): their left vectors (POD modes)
  [[nodiscard]] DNDarray transfer() const;         ///< (modes, modes): the operator between fields of the basis
  [[nodiscard]] DNDarray eigenvectors() const;     ///< (modes, modes), complex, of transfer
  [[nodiscard]] std::int64_t n_modes() const;
  [[nodiscard]] std::int64_t n_snapshots() const;  ///< 0 before fit

 private:
  [[nodiscard]] const ml::detail::Dynamics& learnt(const char* what) const;

  DmdOptions options_;
  std::shared_ptr<const ml::detail::Snapshots> snapshots_;
  mutable std::shared_ptr<const ml::detail::Dynamics> dynamics_;  ///< made when it is asked for
};

}  // namespace heatpp
