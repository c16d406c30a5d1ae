#pragma once

#include <heatpp/ml/decomposition/detail/snapshots.hpp>
#include <heatpp/ml/decomposition/dmd.hpp>

namespace heatpp::ml::detail {

/// The singular values that count of a small matrix, with their vectors as columns.
struct Directions {
  at::Tensor u, s, v;
  at::Tensor all;  ///< singular values
};
/// Throws ValueError naming `op` where all are 0.
[[nodiscard]] Directions directions(const char* op, const at::Tensor& matrix, std::optional<std::int64_t> most,
                                    double rtol);

/// A linear map of fields, in coordinates of snapshots: small matrices that every rank has.
struct Dynamics {
  at::Tensor singular_values;
  at::Tensor basis;         ///< (directions, r): the coordinates of the fields that it is a matrix between
  at::Tensor transfer;      ///< (r, r)
  at::Tensor lift;          ///< (directions, r): what a field of the basis becomes in a step, wherever that lies
  at::Tensor eigenvalues;   ///< (r,), complex, falling in size
  at::Tensor eigenvectors;  ///< (r, r), complex, of transfer
  at::Tensor modes;         ///< (directions, r), complex
  at::Tensor amplitudes;    ///< (r,)
};
/// Eigenvalues, modes and amplitudes of a map whose matrices are there, so that modes sum to the coordinates `first`.
void solve(Dynamics& dynamics, DmdModes modes, const at::Tensor& first);

/// Fails on all ranks alike before there are two snapshots.
void check_snapshots(const char* op, const std::shared_ptr<const Snapshots>& snapshots);
/// Throws ValueError for options that cannot be.
void check_options(const char* op, const DmdOptions& options);
/// Small real or complex numbers as an array, in the floating dtype of the snapshots.
[[nodiscard]] DNDarray small(const Snapshots& snapshots, const at::Tensor& value);
/// log(eigenvalues) / dt.
[[nodiscard]] at::Tensor rates_of(const Dynamics& dynamics, double dt);

}  // namespace heatpp::ml::detail
