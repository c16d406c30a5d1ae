#pragma once

#include <heatpp/ml/decomposition/detail/snapshots.hpp>
#include <heatpp/ml/decomposition/dmd.hpp>

namespace heatpp::ml::detail {

/// The significant singular values of a small matrix, with their vectors as columns.
struct Directions {
  at::Tensor u, s, v;
  at::Tensor all;  ///< singular values
};
/// Throws ValueError naming `op` if all are 0.
[[nodiscard]] Directions directions(const char* op, const at::Tensor& matrix, std::optional<std::int64_t> most,
                                    double rtol);

/// A linear map of fields, in coordinates of snapshots: small matrices that every rank holds.
struct Dynamics {
  at::Tensor singular_values;
  at::Tensor basis;         ///< (directions, r): coordinates of the fields on which the map acts
  at::Tensor transfer;      ///< (r, r)
  at::Tensor lift;          ///< (directions, r): the map of each field of the basis, not projected to it
  at::Tensor eigenvalues;   ///< (r,), complex, decreasing in absolute value
  at::Tensor eigenvectors;  ///< (r, r), complex, of transfer
  at::Tensor modes;         ///< (directions, r), complex
  at::Tensor amplitudes;    ///< (r,)
};
/// Computes eigenvalues, modes and amplitudes from the map's matrices; the modes sum to the coordinates `first`.
void solve(Dynamics& dynamics, DmdModes modes, const at::Tensor& first);

/// Throws on all ranks if there are fewer than two snapshots.
void check_snapshots(const char* op, const std::shared_ptr<const Snapshots>& snapshots);
/// Throws ValueError for invalid options.
void check_options(const char* op, const DmdOptions& options);
/// Returns small real or complex numbers as an array, in the floating dtype of the snapshots.
[[nodiscard]] DNDarray small(const Snapshots& snapshots, const at::Tensor& value);
/// Returns log(eigenvalues) / dt.
[[nodiscard]] at::Tensor rates_of(const Dynamics& dynamics, double dt);

}  // namespace heatpp::ml::detail
